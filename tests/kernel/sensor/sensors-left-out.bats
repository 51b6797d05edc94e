#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Programs with sensors that cannot be read, or not believed: whoever wants to read them hears it, and it counts. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	: "${ASTERISM_TEST_PROGRAMS:=$BATS_TEST_DIRNAME/../../../build/tests/kernel}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
	export ASTERISM_SENSORS="$BATS_TEST_TMPDIR/socket"
	plant="$ASTERISM_TEST_PROGRAMS/plant-sensors"
	started=
	cat >shop.events <<-'END'
		EVENT request_begin "a request arrives" { id: u64 "number", bytes: u32 bytes, path: string[16] }
		EVENT request_end "it is answered" { id: u64 "number", bytes: u32 bytes, path: string[16] }
	END
	cat >never.rule <<-'END'
		EVENTS "sensor:shop.events"
		RULE never PATTERN { [request_begin:b, request_end:e] } WHERE { [id], e.ts - b.ts > 10min }
	END
}

teardown() {
	for pid in $started; do
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	[ -z "${folder:-}" ] || rm -r "$folder"
}

wait_until() {
	local i
	for ((i = 0; i < 400; i++)); do
		"$@" && return
		sleep 0.05
	done
	false
}

# A directory that has room for so much of a user.
serve() {
	"$ASTERISM" sensors --serve --quota "$1" 2>served &
	started="$started $!"
	wait_until grep -q "the sensor registry is at" served
}

refused="plant-sensors): the sensor registry refused it: the user's quota of sensor memory is exhausted"

@test "run: who is refused is told by name, counts as lost, and is the status" {
	serve 1M
	run --separate-stderr -3 "$ASTERISM" run -f json never.rule -- "$plant" requests 1 20 0
	[[ $stderr == *"$refused"* ]]
	[[ $stderr == *"asterism sensors --serve --quota SIZE"* ]]
	[[ $stderr == *"the sensors of 1 process were not read: an unknown number of events is missing"* ]]
	[[ ${lines[-1]} == '{"stats":{"events":0,'*'"lost":1,'* ]]
}

@test "monitor: it counts as lost, and ends a strict one" {
	serve 1M
	run --separate-stderr -3 "$ASTERISM" monitor -f json --policy best-effort never.rule -- "$plant" requests 1 20 0
	[[ $stderr == *"$refused"* ]]
	[[ $output == *'"lost":1,'*'"unread_processes":1,'* ]]
	run --separate-stderr -3 "$ASTERISM" monitor --strict --sensor request_begin,rate=100/s never.rule -- "$plant" paced 200000 1000
	[[ $stderr == *"$refused"*"ended by --strict"* ]]
}

@test "record: the trace says that something is missing" {
	serve 1M
	run --separate-stderr "$ASTERISM" record -o trace -e sensor:request_begin -- "$plant" requests 1 20 0
	[ "$status" = 3 ]
	[[ $stderr == *"$refused"* ]]
}

@test "a reader that comes later hears of it, too; who is not observed is nobody's loss" {
	serve 3M
	"$plant" paced 200000 1000 &
	started="$started $!"
	local first=$!
	wait_until "$ASTERISM" sensors -f json plant-sensors:request_begin >listed
	"$plant" paced 200000 1000 &
	started="$started $!"
	local second=$!
	wait_until sh -c "'$ASTERISM' sensors -f json | grep '\"pid\":$second,' | grep -q '\"refused\":\"the user.s quota of sensor memory'"
	run --separate-stderr -3 "$ASTERISM" run --for 500ms never.rule -p $second
	[[ $stderr == *"process $second ($refused"* ]]
	run --separate-stderr -0 "$ASTERISM" run --for 500ms never.rule -p $first
	[[ $stderr != *"$refused"* ]]
	# Its place is taken: from then on it is read.
	kill -KILL $first
	wait_until sh -c "'$ASTERISM' sensors -f json | grep '\"pid\":$second,' | grep -qv refused"
	run --separate-stderr -0 "$ASTERISM" run --for 500ms never.rule -p $second
	[[ $stderr != *"$refused"* ]]
}

@test "the quota is what it says: 31 processes of a user, or as many as fit" {
	[[ "$("$ASTERISM" sensors --help)" == *"--quota SIZE"*"64M, which is 31 processes"* ]]
	folder=$(mktemp -d /tmp/asterism-quota-XXXXXX) # as others can get there
	chmod 755 "$folder"
	cp "$plant" "$folder"
	export ASTERISM_SENSORS="$folder/socket"
	"$ASTERISM" sensors --serve 2>served &
	started="$started $!"
	wait_until grep -q "the sensor registry is at" served
	for ((i = 0; i < 33; i++)); do
		setpriv --reuid 65534 --regid 65534 --clear-groups "$folder/plant-sensors" paced 200000 10000 &
		started="$started $!"
	done
	wait_until sh -c "[ \$('$ASTERISM' sensors -f json 2>&1 | grep -c '\"pid\"') = 33 ]"
	[ "$("$ASTERISM" sensors -f json | grep -c '"refused"')" = 2 ]
}

@test "a counter that was overwritten is damage of its process, and no number of lost events" {
	for value in 0x4141414141414141 0xffffffffffffffff; do
		run --separate-stderr -3 "$ASTERISM" run -f json never.rule -- "$plant" scribble $value
		[[ $stderr == *"process "*" (plant-sensors): a counter is damaged"* ]]
		[[ ${lines[-1]} == '{"stats":{"events":20,'*'"lost":1,'* ]]
		run --separate-stderr -3 "$ASTERISM" monitor -f json --policy best-effort never.rule -- "$plant" scribble $value
		[[ $stderr == *"process "*" (plant-sensors): a counter is damaged"* ]]
		[[ $output == *'"elements":20,"lost":1,'* ]]
	done
	serve 64M
	"$plant" scribble 0x4141414141414141
	run --separate-stderr -0 "$ASTERISM" sensors
	[[ $output == *"it has overwritten its counters, so the number of its events is unknown"* ]]
	run --separate-stderr -0 "$ASTERISM" sensors -f json
	[[ $output == *'"dropped":0,'*'"damaged":true'* ]]
}

# What an older header might have made of a 32-bit program, without a C library: it registers, and says what it hears.
narrow_program() {
	cat >narrow.c <<-END
		static long call(long number, long a, long b, long c)
		{
			long result;
			__asm__ volatile("int \$0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
			return result;
		}
		void _start(void)
		{
			struct { unsigned short family; char path[108]; } address = { 1, "$ASTERISM_SENSORS" };
			unsigned message[] = { 1, 1, 0, 0, 0, 0 };
			char answer[256];
			long fd = call(359, 1, 5, 0), length;
			call(362, fd, (long)&address, sizeof address);
			call(4, fd, (long)message, sizeof message);
			length = call(3, fd, (long)answer, sizeof answer);
			call(4, 1, (long)answer, length);
			for (volatile long i = 0; i < 300000000; i++)
				;
			call(1, 0, 0, 0);
		}
	END
	gcc -m32 -nostdlib -static -ffreestanding -fno-stack-protector -fno-pie -no-pie -o narrow narrow.c
}

@test "32-bit programs are refused: by the header, and by the directory" {
	local header="$(realpath "$(dirname "$ASTERISM")/../../include")"
	[ "$(uname -m)" = x86_64 ] || skip "needs -m32"
	printf '#include "asterism/sensor.h"\n' >sensors.c
	run -1 gcc -m32 -fsyntax-only -I"$header" sensors.c
	[[ $output == *"asterism/sensor.h is for 64-bit little-endian programs: build without -m32, or without sensors"* ]]
	gcc -fsyntax-only -I"$header" sensors.c
	narrow_program || skip "there is no linker for 32-bit programs"
	[ "$("$ASTERISM_TEST_PROGRAMS/veto-plant" compat)" = ok ] || skip "this kernel runs no 32-bit code"
	serve 64M
	run --separate-stderr -3 "$ASTERISM" run -f json never.rule -- ./narrow
	[[ $output == *"32-bit programs cannot have sensors"* ]]
	[[ $stderr == *"(narrow): the sensor registry refused it: 32-bit programs cannot have sensors: build it for 64 bits"* ]]
}
