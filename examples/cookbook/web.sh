#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# nginx under wrk's load; one client that sends its request slowly, one page that is sent slowly.
port=${PORT:-8097}
sed "s/8097/$port/" nginx.conf >here.conf
head -c 60000 /dev/zero >large
head -c 1000000 /dev/zero >page
nginx -p . -c here.conf
wrk -t1 -c4 -d1s "http://127.0.0.1:$port/page" >/dev/null
curl -s -o /dev/null "http://127.0.0.1:$port/large"
{
	printf 'GET /nginx.conf HTTP/1.0\r\n'
	sleep 1
	printf '\r\n'
} | curl -s "telnet://127.0.0.1:$port" >/dev/null
nginx -p . -c here.conf -s quit
while [ -e nginx.pid ]; do sleep 0.05; done
