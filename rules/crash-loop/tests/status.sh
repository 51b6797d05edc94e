#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A script that gives up with a status, six times.
printf '#!/bin/sh\nexit 3\n' >service
chmod +x service
for i in 1 2 3 4 5 6; do
	./service
done
exit 0
