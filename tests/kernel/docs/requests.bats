#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# examples/requests: what took requests of real servers so long, with three planted causes and none. Needs root.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	chrt -f 1 true 2>/dev/null || skip "no real-time priority is to be had"
	build=$(cd "$(dirname "$ASTERISM")/../.." && pwd)
	examples=$BATS_TEST_DIRNAME/../../../examples
	cd "$BATS_TEST_TMPDIR"
	export ASTERISM_SENSORS=$PWD/socket
	cp "$examples"/requests/* .
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
}

teardown() {
	cat told out err 2>/dev/null || true
	for pid in ${started:-}; do kill "$pid" 2>/dev/null || true; done
}

# `ask LINE...`: sends lines to the server one by one and shows its answers.
ask() {
	python3 - "$port" "$@" <<-'END'
		import socket, sys
		stream = socket.create_connection(("127.0.0.1", int(sys.argv[1]))).makefile("rw")
		for line in sys.argv[2:]:
		    stream.write(line + "\n")
		    stream.flush()
		    print(stream.readline(), end="")
	END
}

listens() {
	ask hello >/dev/null 2>&1
}

# `observe RULES COMMAND...`: with no one before it, so that it waits for a processor only where that is planted.
observe() {
	local rules=$1
	shift
	"$ASTERISM" run -q -f json --set longest=100ms $rules request.rule -- chrt -f 1 "$@" >out 2>err 3>&- &
	session=$!
	started=$session
}

# The server, which the session has launched.
server() {
	pgrep -P "$session"
}

# Who has the one processor that the server may use, before it.
crowd() {
	local cpu thread
	cpu=$(python3 -c 'import os; print(max(os.sched_getaffinity(0)))')
	for thread in /proc/"$(server)"/task/*; do
		thread=${thread##*/}
		chrt -o -p 0 "$thread"
		renice -n 19 -p "$thread" >/dev/null
		taskset -cp "$cpu" "$thread" >/dev/null
	done
	taskset -c "$cpu" sh -c 'while :; do :; done' 3>&- &
	started="$started $!"
}

finish() {
	kill "$(server)"
	wait "$session" || true
	grep '"match"' out | sed 's/.*"warning":"request \([0-9]*\) took [^:]*: \([a-z]*\).*/\1 \2/' >told
}

# The one that slept 300 ms was blocked as long, but for what the call itself takes, or longer, in that call.
slept() {
	grep -Eq 'request [0-9]* took [0-9]*: blocked (299[0-9]{6}|[3-9][0-9]{8}|[1-9][0-9]{9,}), .* in phase work in .*"names":\{.*"pause_call":"clock_nanosleep"' out
}

build_server() {
	gcc -O2 "-I$build/include" -pthread -o sensor-server "$examples/sensor-server.c" "$build/src/sensor/client/libasterism-sensor.a" ||
		skip "the server cannot be built"
}

@test "a server with sensors: each slow request is told with its reason, and no other" {
	build_server
	observe sensor-server.rule ./sensor-server "$port"
	wait_for listens
	ask hello 'sleep 300' hello 'compute 300' hello >answers
	[ "$(wc -l <answers)" = 5 ]
	ask hello >first
	crowd
	# A request has ended when the next one of its thread is answered.
	ask 'compute 60' hello >last
	finish
	[ "$(cut -d' ' -f2 told | head -3 | tr '\n' ' ')" = "blocked running waiting " ]
	slept
	grep -q 'waiting for a CPU .*, the longest .* in phase work behind [a-z]' out
	[[ $(tail -1 out) == *'"lost":0,'* ]]
}

@test "a server with sensors: fast requests are not told" {
	build_server
	observe sensor-server.rule ./sensor-server "$port"
	wait_for listens
	ask $(seq 200) >answers
	[ "$(wc -l <answers)" = 200 ]
	finish
	[ ! -s told ]
	[[ $(tail -1 out) == *'"matches":0,'* ]]
}

@test "a server as it is, by its functions: in the kernel" {
	[ -x /usr/bin/redis-server ] || skip "needs Debian's redis-server"
	"$ASTERISM" check redis.rule request.rule >checked 2>&1 || skip "its functions are called otherwise"
	observe redis.rule redis-server --port "$port" --bind 127.0.0.1 --save '' --enable-debug-command yes --logfile redis.log
	wait_for redis-cli -p "$port" ping
	count='local n = 0; local t = redis.call("time")[1]; for i = 1, tonumber(ARGV[1]) do n = n + i % 7 end; return n'
	for i in 1 2 3 4 5; do redis-cli -p "$port" set "$i" x; done >/dev/null
	redis-cli -p "$port" debug sleep 0.3
	redis-cli -p "$port" eval "$count" 0 60000000
	crowd
	redis-cli -p "$port" eval "$count" 0 8000000
	redis-cli -p "$port" ping
	finish
	[ "$(cut -d' ' -f2 told | head -3 | tr '\n' ' ')" = "blocked running waiting " ]
	slept
}
