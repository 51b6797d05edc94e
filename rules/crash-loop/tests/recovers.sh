#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# It fails eight times, but not five times in a row; a status of 1 is taken for an answer; and is asked to end (SIGTERM), which is no failure.
printf '#!/bin/sh\nexit $1\n' >service
chmod +x service
for i in 4 4 4 4 0 4 4 4 4 1 1 1 1 1; do
	./service $i
done
cp "$(command -v sleep)" sleeper
for i in 1 2 3 4 5 6; do
	./sleeper 10 &
	sleep 0.02
	kill $!
	wait
done 2>/dev/null
exit 0
