#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A service that crashes and is started again.
cp "$(command -v sleep)" crasher
for i in 1 2 3 4 5; do
	./crasher 10 &
	sleep 0.05
	kill -SEGV $!
	wait
done 2>/dev/null
