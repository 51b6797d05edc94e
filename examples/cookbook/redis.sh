#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Redis, small requests, and one script that keeps it busy for a while.
port=${PORT:-8098}
redis-server --port "$port" --bind 127.0.0.1 --save '' --daemonize yes --logfile redis.log >/dev/null
until redis-cli -p "$port" ping >/dev/null 2>&1; do sleep 0.05; done
redis-benchmark -p "$port" -q -c 4 -n 2000 -t set,get >/dev/null
redis-cli -p "$port" eval 'local n = 0; for i = 1, 4e7 do n = n + i % 7 end; return n' 0 >/dev/null
redis-cli -p "$port" shutdown nosave
