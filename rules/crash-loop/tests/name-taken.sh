#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A script fails six times. Another user, who may not touch it, takes its name in between, and ends well.
printf '#!/bin/sh\nexit 3\n' >service
chmod +x service
for i in 1 2 3 4 5 6; do
	./service
	python3 -c '
import ctypes, os
os.setresuid(65534, 65534, 65534)
ctypes.CDLL(None).prctl(15, b"service", 0, 0, 0)  # PR_SET_NAME
'
done
exit 0
