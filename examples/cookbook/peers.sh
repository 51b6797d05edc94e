#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Five connections to a server, and one to a port where none listens.
port=${PORT:-8099}
/usr/bin/python3 shop.py 5 &
curl -s --retry 20 --retry-connrefused --retry-delay 1 "http://127.0.0.1:$port/safe?1" >/dev/null
for i in 2 3 4 5; do
	curl -s "http://127.0.0.1:$port/safe?$i" >/dev/null
done
wait
curl -s "http://127.0.0.1:$port/safe?6" >/dev/null
exit 0
