#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Processes with sensors that are ordinary for systems, and not for libraries: no event is lost, and no program is worse off for having sensors.

bats_require_minimum_version 1.5.0

# Optimising the header takes most of the time: ccache, where it is installed, knows it from the last time.
compile() {
	$(command -v ccache) gcc -c "$@"
}

setup_file() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	export build=$(cd "$(dirname "$ASTERISM")/../.." && pwd) ASTERISM
	export library=$build/src/sensor/client sources=$BATS_TEST_DIRNAME/sensors
	if nm -D "$library/libasterism-sensor.so.0" | grep -q __asan; then
		export sanitised=yes
		return
	fi
	cd "$BATS_FILE_TMPDIR"
	chmod 755 .
	# A busy machine may answer late, and what an application raises until then is seen by nobody.
	local patient=(-DASTERISM_CLIENT_START_MS=60000 -DASTERISM_CLIENT_HELPER_MS=60000)
	local plain=(-Wall -Wextra -Werror -O2 "-I$build/include" -pthread "${patient[@]}")
	compile "${plain[@]}" -D_GNU_SOURCE -fPIC "-I$BATS_TEST_DIRNAME/../../src" -o library.o "$BATS_TEST_DIRNAME/../../src/sensor/client/library.c"
	gcc -pthread -shared -Wl,-z,nodelete -Wl,-soname,libasterism-sensor.so.0 -o libasterism-sensor.so.0 library.o
	ln -s libasterism-sensor.so.0 libasterism-sensor.so
	library=$PWD
	local whole=("${plain[@]}" -DASTERISM_SENSOR_IMPLEMENTATION)
	compile "${plain[@]}" -o odd.o "$sources/odd.c"
	gcc -pthread -o odd odd.o -L"$library" -lasterism-sensor
	compile "${whole[@]}" -DIS_WHOLE -o odd-whole.o "$sources/odd.c"
	gcc -pthread -o odd-whole odd-whole.o
	gcc -pthread -static -o odd-static odd-whole.o 2>warnings || { cat warnings; false; }
	compile "${whole[@]}" -fno-pie -o odd-now.o "$sources/odd.c"
	gcc -pthread -no-pie -Wl,-z,relro,-z,now -o odd-now odd-now.o
	compile "${plain[@]}" -fPIC -o plugin.o "$sources/plugin.c"
	gcc -pthread -shared -o plugin.so plugin.o -L"$library" -lasterism-sensor
	compile "${whole[@]}" -fPIC -o plugin-whole.o "$sources/plugin.c"
	gcc -pthread -shared -o plugin-whole.so plugin-whole.o
	compile "${whole[@]}" -DPRELOADED -fPIC -o preloaded.o "$sources/plugin.c"
	gcc -pthread -shared -o preloaded.so preloaded.o
	cat >steps.events <<-'EOF'
		EVENT step "a step" { number: u64, word: string[16] }
		EVENT plugin_step "" { number: u64, word: string[16] }
	EOF
	echo 'EVENTS "sensor:steps.events" RULE each PATTERN { step:s } RULE other PATTERN { plugin_step:p }' >steps.rule
}

setup() {
	[ -z "${sanitised:-}" ] || skip "the library is sanitised"
	cd "$BATS_FILE_TMPDIR"
	export LD_LIBRARY_PATH=$library ASTERISM_SENSORS=$BATS_TEST_TMPDIR/sensors
	started=()
}

teardown() {
	for pid in "${started[@]}"; do
		kill "$pid" 2>/dev/null && wait "$pid" || true
	done
	[ -z "${folder:-}" ] || rm -rf "$folder"
}

# `observe EVENTS COMMAND...`: so many come, none is lost, and the program ends well.
observe() {
	local events=$1
	shift
	run --separate-stderr -0 "$ASTERISM" run -f json steps.rule -- "$@"
	[[ ${lines[-1]} == '{"stats":{"events":'$events,*'"lost":0,'* ]] || { echo "$* : ${lines[-1]} $stderr"; false; }
}

# The same of all processes, also those whose parents have ended before one could ask who they are.
observe_all() {
	local events=$1 socket=$ASTERISM_SENSORS
	shift
	export ASTERISM_SENSORS=$BATS_TEST_TMPDIR/all-$BATS_TEST_NUMBER-$((++observed))
	"$ASTERISM" run -a -f json steps.rule >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" &
	local pid=$!
	started+=($pid)
	for ((i = 0; i < 200; i++)); do
		[ ! -S "$ASTERISM_SENSORS" ] || break
		sleep 0.05
	done
	"$@"
	kill -INT $pid
	wait $pid
	grep -q "\"stats\":{\"events\":$events,.*\"lost\":0," "$BATS_TEST_TMPDIR/out" || { cat "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/err"; false; }
	ASTERISM_SENSORS=$socket
}

serve() {
	"$ASTERISM" sensors --serve 2>"$BATS_TEST_TMPDIR/serve.log" &
	started+=($!)
	for ((i = 0; i < 200; i++)); do
		[ -S "$ASTERISM_SENSORS" ] && return
		sleep 0.05
	done
	false
}

@test "linked dynamically, statically, whole, and with all symbols bound at the start" {
	for program in odd odd-whole odd-static odd-now; do
		observe 10 ./$program count 10
	done
}

@test "vfork, posix_spawn, a daemon's double fork" {
	for program in odd odd-static; do
		observe 15 ./$program vfork
		observe 15 ./$program spawn
		observe_all 10 ./$program daemon
	done
}

@test "a storm of children, more than have room at a time" {
	observe 100 ./odd storm 200
	observe 100 ./odd-static storm 200
}

@test "the first event of a child that is being registered at the moment" {
	observe 20 ./odd-whole midway 20
}

@test "64 threads that come and go, with fewer rings" {
	for program in odd odd-static; do
		run --separate-stderr "$ASTERISM" run -q -f json steps.rule -- ./$program threads
		[[ $status = [03] ]]
		local seen=$(sed 's/.*"stats":{"events":\([0-9]*\).*/\1/' <<<"${lines[-1]}") lost=$(sed 's/.*"lost":\([0-9]*\),"rules".*/\1/' <<<"${lines[-1]}")
		[ $((seen + lost)) = 2560 ]
	done
}

@test "a jump out of an event leaves it unwritten, and the thread writes on" {
	observe 10 ./odd longjmp
}

@test "exec in the midst of an event: what was committed is there" {
	observe 10 ./odd exec
	[[ $stderr == *"1 event of sensors was begun and never finished"* ]]
}

@test "plug-ins that are loaded and unloaded" {
	observe 80 ./odd plugin ./plugin.so
}

@test "plug-ins that have the whole header, as the program has, or has not" {
	observe 80 ./odd plugin ./plugin-whole.so
	observe 80 ./odd-whole plugin ./plugin-whole.so
}

@test "a library that is preloaded into what knows nothing of sensors" {
	observe 1 env LD_PRELOAD=./preloaded.so sleep 0.3
}

@test "in another root, where the socket is at another place, or nowhere" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	mkdir -p root
	cp odd-static root/
	run -0 chroot root /odd-static count 10
	ASTERISM_SENSORS=$PWD/root/sensors observe 10 env ASTERISM_SENSORS=/sensors chroot root /odd-static count 10
}

@test "calls that a filter refuses from the start" {
	for call in 0 1 2 3 4 5 6 7; do
		run -0 timeout 20 "$ASTERISM" run -q -f json steps.rule -- ./odd refused $call
		run -0 ./odd refused $call
	done
}

@test "a program that forbids itself what looking for a directory needs" {
	run -0 ./odd confined
}

@test "a thread that has raised an event calls nothing for the next, whatever a filter ends it for" {
	serve
	observe 1001 ./odd sealed
	observe 1001 ./odd-whole sealed
}

@test "where there are no descriptors, no memory, no locked memory, no threads" {
	serve
	run -0 bash -c 'ulimit -n 3; exec ./odd-static count 10'
	run -0 bash -c 'ulimit -v 3000; exec ./odd-static count 10'
	run -0 bash -c 'ulimit -l 0; exec ./odd count 10'
	run -0 bash -c 'ulimit -v 9000; exec ./odd-whole count 10'
	observe 10 bash -c 'ulimit -l 0; exec ./odd count 10'
	observe 10 bash -c 'ulimit -n 9; exec ./odd count 10'
	[ "$(id -u)" = 0 ] || return 0
	folder=$(mktemp -d)
	chmod 755 "$folder"
	cp odd-static "$folder"
	run -0 setpriv --reuid=65534 --regid=65534 --clear-groups bash -c 'ulimit -u 1; exec "$0" count 10' "$folder/odd-static"
}

@test "a program that gets more rights by being run does not go where its user says" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	folder=$(mktemp -d)
	chmod 755 "$folder"
	export ASTERISM_SENSORS=$folder/sensors
	serve
	cp odd-static "$folder/odd-setuid"
	cp odd-static "$folder/odd-plain"
	chmod 4755 "$folder/odd-setuid"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$folder/odd-plain" count 10
	setpriv --reuid=65534 --regid=65534 --clear-groups "$folder/odd-setuid" count 10
	run -0 "$ASTERISM" sensors
	[[ $output == *odd-plain* && $output != *odd-setuid* ]]
}

@test "a folder without room for a socket" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	mkdir -p full
	run -0 --separate-stderr unshare -m bash -c 'mount -t tmpfs -o nr_inodes=1 none full && ASTERISM_SENSORS=full/sensors "$ASTERISM" sensors --serve; echo $?'
	[[ $output == 2 && $stderr == *"cannot open the socket full/sensors: No space left on device"* ]]
}

@test "built with sanitizers of addresses, undefined behaviour and threads" {
	for sanitizer in address,undefined thread; do
		compile -Wall -Werror -g "-fdebug-prefix-map=$PWD=." -O1 -I"$build/include" -pthread -DASTERISM_SENSOR_IMPLEMENTATION -fsanitize=$sanitizer -o odd-sanitised.o "$sources/odd.c"
		gcc -pthread -fsanitize=$sanitizer -o odd-sanitised odd-sanitised.o 2>sanitized ||
			{ grep -q "cannot find" sanitized && skip "gcc has no -fsanitize=$sanitizer"; cat sanitized; false; }
		for mode in threads storm daemon plugin; do
			[ $mode != plugin ] || set -- ./plugin.so
			run --separate-stderr timeout 60 "$ASTERISM" run -q -f json steps.rule -- ./odd-sanitised $mode "$@"
			[[ $stderr != *Sanitizer* && $stderr != *"runtime error"* ]] || { echo "$mode: $stderr"; false; }
			[[ $status = [03] ]]
			set --
		done
	done
}
