#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What is lost when a recording cannot keep up, cannot write or is killed; and traces that were damaged afterwards.

bats_require_minimum_version 1.5.0
load ../rig/recording

setup() {
	recording_setup
	disk=
}

teardown() {
	[ -z "$disk" ] || umount "$disk"
}

numbers() {
	"$ASTERISM" dump -f json -e sys_enter_getpgid "$1" 2>/dev/null | grep -o '"target_pid":[0-9]*' | cut -d: -f2
}

# The numbers that standard error tells: events recorded, and lost for the reason given.
told_events() {
	sed -n 's/^asterism: note: \([0-9]*\) events in .*/\1/p' <<<"$stderr"
}

told_lost() {
	sed -n "s/^asterism: warning: \([0-9]*\) events were lost: $1.*/\1/p" <<<"$stderr"
}

# A file system of so many bytes at ./disk, until the test ends.
small_disk() {
	mkdir disk
	mount -t tmpfs -o size="$1" none disk || skip "no file system can be mounted"
	disk=$PWD/disk
}

# What a process holds of the kernel's, and whether nothing of it is there any more.
held_by() {
	grep -hE '^(prog|map|link)_id:' /proc/$1/fdinfo/* 2>/dev/null | sort -u
}

all_gone() {
	while read -r kind id; do
		if bpftool "${kind%%_id:}" show id "$id" >/dev/null 2>&1; then
			echo "$kind $id is still there"
			return 1
		fi
	done <"$1"
}

@test "a stopped recorder and a ring too small: written and lost make up what happened; status 3" {
	for rules in "" "--rules each.rule -f json"; do
		echo 'RULE each PATTERN { sys_enter_getpgid:a } WHERE { a.target_pid == 1000007 }' >each.rule
		rm -rf trace
		run --separate-stderr -3 "$ASTERISM" record -o trace $rules --ring 512K -e sys_enter_getpgid -- \
			bash -c 'kill -STOP $PPID; taskset -c 0 "$0" flood 200000; taskset -c 1 "$0" flood 100000; kill -CONT $PPID' "$plant"
		lost=$(told_lost 'they came faster than they could be written')
		[ "$lost" -gt 100000 ]
		[[ $stderr == *"help: use a larger --ring, or record fewer events (-e)"*"The ring had 512K per CPU"* ]]
		[ $(($(told_events) + lost)) = 300000 ]
		[ $(($(count trace sys_enter_getpgid) + lost)) = 300000 ]
		[ "$(count trace lost)" = "$lost" ]
		# The newest are there, and the gap is told where it is.
		[ "$(numbers trace | sort -n | tail -n 1)" = 1199999 ]
		run --separate-stderr -3 "$ASTERISM" dump trace
		[ "$(grep -c '^--- [0-9]* events were lost from here on ---' <<<"$output")" -ge 1 ]
		[ "$(sed -n 's/^--- \([0-9]*\) events* w.*/\1/p' <<<"$output" | awk '{ sum += $1 } END { print sum }')" = "$lost" ]
		[ "$stderr" = "asterism: warning: $lost events were lost when this was recorded" ]
	done
	if command -v babeltrace2 >/dev/null; then
		# To other readers as well, however they say it.
		babeltrace2 trace 2>warned | grep -c ' sys_enter_getpgid: ' >seen
		[ "$(cat seen)" = $((300000 - lost)) ]
		[ "$(grep -o 'Tracer discarded [0-9]* events' warned | grep -o '[0-9]*' | awk '{ sum += $1 } END { print sum }')" = "$lost" ]
	fi
}

# Whether the machine has memory for the largest ring that is usual.
is_roomy() {
	local processors=$(($(sed 's/.*[-,]//' /sys/devices/system/cpu/possible) + 1))
	[ "$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)" -ge $((processors * 16 * 16 + 1024)) ]
}

@test "the usual ring: a recorder that stands still while 8 MB of events come loses none" {
	is_roomy || skip "this machine has too little memory for the largest usual ring"
	run --separate-stderr -0 "$ASTERISM" record -o trace -e sys_enter_getpgid -- \
		bash -c 'kill -STOP $PPID; taskset -c 0 "$0" flood 500000; kill -CONT $PPID' "$plant"
	[ "$(told_events)" = 500000 ]
	[ "$(count trace sys_enter_getpgid)" = 500000 ]
	[ "$(count trace lost)" = 0 ]
}

@test "the usual ring: system calls as fast as dd makes them, none lost" {
	is_roomy || skip "this machine has too little memory for the largest usual ring"
	# A machine that runs the recorder for no tenth of a second loses events: once is enough.
	for try in 1 2 3 4 5; do
		rm -rf trace
		run --separate-stderr "$ASTERISM" record -o trace -e sys_enter,sys_exit,sched_switch -- \
			dd if=/dev/zero of=/dev/null bs=1 count=200000 status=none
		[ "$status" = 0 ] || { echo "$stderr"; continue; }
		[ "$(told_events)" -ge 800000 ]
		[ "$(count trace lost)" = 0 ]
		return 0
	done
	false
}

@test "a match before anything else: the rings are emptied all the same" {
	echo 'RULE first PATTERN { sys_enter_getpgid:a } WHERE { a.target_pid == 1000000 }' >first.rule
	# Each burst fits into the ring, all of them do not.
	run --separate-stderr -0 "$ASTERISM" record -o trace --rules first.rule --ring 1M -e sys_enter_getpgid -- \
		bash -c 'for i in $(seq 10); do taskset -c 0 "$0" flood 40000; sleep 0.15; done' "$plant"
	[ "$(told_events)" = 400000 ]
	[ "$(count trace sys_enter_getpgid)" = 400000 ]
	[ "$(count trace match)" = 10 ]
	[ "$(count trace lost)" = 0 ]
}

@test "loss outranks the status of the command, and a command that ended counts otherwise" {
	run -3 "$ASTERISM" record -q -o trace --ring 512K -e sys_enter_getpgid -- \
		bash -c 'kill -STOP $PPID; "$0" flood 100000; kill -CONT $PPID; exit 7' "$plant"
	run -7 "$ASTERISM" record -q -o whole -e sys_enter_getpgid -- bash -c '"$0" flood 100; exit 7' "$plant"
}

@test "a full disk: the file is named, the command goes on, what was written can be read, the rest is counted" {
	small_disk 1m
	run --separate-stderr -3 "$ASTERISM" record -o disk/trace -e sys_enter_getpgid -- bash -c '
		grep -hE "^(prog|map|link)_id:" /proc/$PPID/fdinfo/* 2>/dev/null | sort -u >held
		taskset -c 0 "$0" flood 150000; sleep 0.5; taskset -c 0 "$0" flood 50000; : >ran' "$plant"
	[ -e ran ]
	[ "${stderr_lines[0]}" = "disk/trace/stream_0: error: the disk is full: No space left on device" ]
	[ "$(grep -c 'error:' <<<"$stderr")" = 1 ]
	events=$(told_events)
	lost=$(told_lost 'they could not be written')
	over=$(told_lost 'they came faster than they could be written')
	[ "$events" -gt 16000 ] && [ "$lost" -gt 0 ]
	[ $((events + lost + ${over:-0})) = 200000 ]
	[ "$(count disk/trace)" = "$events" ]
	[ "$(count disk/trace lost)" = $((200000 - events)) ]
	numbers disk/trace >got
	seq 1000000 $((1000000 + events - 1)) | diff -q - got
	command -v bpftool >/dev/null || return 0
	sleep 0.5
	[ -s held ]
	all_gone held
}

@test "a disk that is full before a processor has written anything: its losses are in the trace all the same" {
	[ "$(nproc)" -ge 2 ] || skip "this needs two processors"
	small_disk 1m
	run --separate-stderr -3 "$ASTERISM" record -o disk/trace -e sys_enter_getpgid -- bash -c '
		taskset -c 0 "$0" flood 1000; kill -USR1 $PPID
		while [ "$(stat -c %s disk/trace/stream_0)" -lt 16000 ]; do sleep 0.05; done; sleep 0.5
		cat /dev/zero >disk/filler 2>/dev/null
		taskset -c 1 "$0" flood 50000; sleep 1; taskset -c 0 "$0" flood 50000' "$plant"
	[ "$(told_events)" = 1000 ]
	[ "$(told_lost 'they could not be written')" = 100000 ]
	[ "$(count disk/trace)" = 1000 ]
	[ "$(count disk/trace lost)" = 100000 ]
}

@test "a disk that gets space again: the recording resumes, and the gap is in the trace at its place" {
	small_disk 4m
	head -c 3500k /dev/zero >disk/filler
	run --separate-stderr -3 "$ASTERISM" record -o disk/trace --ring 512K -e sys_enter_getpgid -- bash -c '
		for i in $(seq 20); do taskset -c 0 "$0" flood 5000; sleep 0.05; done
		rm disk/filler; sleep 0.3; taskset -c 0 "$0" flood 20000' "$plant"
	events=$(told_events)
	lost=$(told_lost 'they could not be written')
	over=$(told_lost 'they came faster than they could be written')
	[ "$(grep -c 'error: the disk is full: No space left on device' <<<"$stderr")" = 1 ]
	[ "$lost" -gt 0 ]
	[ $((events + lost + ${over:-0})) = 120000 ]
	[ "$(count disk/trace)" = "$events" ]
	[ "$(count disk/trace lost)" = $((120000 - events)) ]
	# Before the gap the beginning, behind it the end.
	numbers disk/trace >got
	[ "$(head -n 1 got)" = 1000000 ]
	tail -n 20000 got | diff -q - <(seq 1000000 1019999)
	run --separate-stderr -3 "$ASTERISM" dump disk/trace
	[ "$(sed -n 's/^--- \([0-9]*\) events* w.*/\1/p' <<<"$output" | awk '{ sum += $1 } END { print sum }')" = $((120000 - events)) ]
	[[ $(grep -A 1 '^---' <<<"$output" | head -n 2 | tail -n 1) == *"target_pid"* ]]
}

@test "a disk that is full from the start: nothing runs, nothing is left" {
	small_disk 64k
	head -c 64k /dev/zero >disk/filler || true
	run --separate-stderr -2 "$ASTERISM" record -o disk/trace -e sys_enter -- touch ran
	[[ ${stderr_lines[0]} == "disk/trace"*"error: "*"No space left on device" ]]
	[ ! -e ran ] && [ ! -e disk/trace ]
}

@test "a full disk: a snapshot that is not whole is told, and the command left alone" {
	small_disk 256k
	echo 'RULE one PATTERN { sys_enter_getpgid:a } WHERE { a.target_pid == 1025000 }' >one.rule
	run --separate-stderr -3 "$ASTERISM" run -q -o out --snapshot disk/box one.rule -- \
		sh -c 'taskset -c 0 "$0" flood 26000; : >ran' "$plant"
	[[ ${stderr_lines[0]} == "disk/box/one-1/stream_"*": error: the disk is full: No space left on device" ]]
	[ "${stderr_lines[1]}" = "asterism: warning: 1 snapshot could not be written completely" ]
	[ -e ran ]
}

@test "kill -9: the trace is readable to the last whole packet, nothing of ours stays in the kernel" {
	command -v bpftool >/dev/null || skip "bpftool is not installed"
	"$ASTERISM" record -o trace -e sys_enter_getpgid -- bash -c \
		'taskset -c 0 "$0" flood 100000; : >first; until [ -e second ]; do sleep 0.05; done; "$0" flood 10; : >ran' "$plant" 3>&- &
	session=$!
	wait_for [ -e first ]
	# Four sub-buffers of 256 KiB, less headers, are complete.
	wait_for [ "$(cat trace/stream_0 | wc -c)" -gt 1000000 ]
	held_by $session >held
	[ -s held ]
	kill -KILL $session
	wait $session || true
	sleep 1
	all_gone held
	: >second
	wait_for [ -e ran ]
	run --separate-stderr -0 "$ASTERISM" dump -f json trace
	[ -z "$stderr" ]
	numbers trace >got
	[ "$(wc -l <got)" -gt 60000 ]
	seq 1000000 $((1000000 + $(wc -l <got) - 1)) | diff -q - got
}

# A trace of several packets in one file, and where the second one with events begins.
damageable() {
	"$ASTERISM" record -q -o whole -e sys_enter_getpgid -- taskset -c 0 "$plant" flood 60000
	second=$(python3 -c 'import struct
stream, at, packet = open("whole/stream_0", "rb").read(), 0, 96
while packet == 96:
    packet = struct.unpack_from("<Q", stream, at + 56)[0] // 8
    at += packet
print(at)')
	[ "$(stat -c %s whole/stream_0)" -gt $((second * 2)) ]
	packet=$("$ASTERISM" dump -f json whole | python3 -c 'import sys; print(sum(1 for _ in sys.stdin))')
	[ "$packet" = 60000 ]
}

# `delivers COUNT ERROR`: the trace in ./cut delivers so many numbers from 1000000 on, and then the error.
delivers() {
	run --separate-stderr -2 "$ASTERISM" dump -f json cut
	[[ $stderr == "$2"* ]] || { echo "$stderr"; false; }
	grep -o '"target_pid":[0-9]*' <<<"$output" | cut -d: -f2 >got
	seq 1000000 $((1000000 + $1 - 1)) | diff -q - got
}

# `damage TRACE OFFSET BITS`: flips bits of a byte of the trace's stream.
damage() {
	python3 -c 'import sys
with open(sys.argv[1] + "/stream_0", "r+b") as file:
    file.seek(int(sys.argv[2]))
    byte = file.read(1)[0]
    file.seek(int(sys.argv[2]))
    file.write(bytes([byte ^ int(sys.argv[3])]))' "$@"
}

# How many events the first packet has.
first_packet() {
	mkdir first
	cp whole/metadata first
	head -c $second whole/stream_0 >first/stream_0
	run --separate-stderr -0 "$ASTERISM" dump -f json first
	grep -c sys_enter_getpgid <<<"$output"
}

@test "a trace that was cut: what is whole, then an error with file and byte; at a packet's end no error" {
	damageable
	events=$(first_packet)
	# Behind the header, the context and ten events of 16 bytes; in the middle of the next one.
	cp -r whole cut
	truncate -s $((second + 96 + 32 + 10 * 16 + 8)) cut/stream_0
	delivers $((events + 10)) "cut/stream_0: byte $((second + 96 + 32 + 10 * 16)): error: "
	# Inside the header.
	truncate -s $((second + 50)) cut/stream_0
	delivers "$events" "cut/stream_0: byte $((second + 50)): error: "
	run --separate-stderr -2 "$ASTERISM" stat cut
	[[ $output == "$events events in "* ]]
	echo 'RULE every PATTERN { sys_enter_getpgid:a } WHERE { a.target_pid == 1000000 } RETURN { a.target_pid }' >every.rule
	run --separate-stderr -2 "$ASTERISM" replay -f json every.rule cut
	[ "$(grep -c '"match":"every"' <<<"$output")" = 1 ]
	[[ $stderr == *"cut/stream_0: byte $((second + 50)): error: "* ]]
}

@test "a trace with flipped bits: what is before them, then an error with file and byte" {
	damageable
	events=$(first_packet)
	cp -r whole cut
	damage cut $((second + 1)) 4
	delivers "$events" "cut/stream_0: byte $second: error: no packet begins here"
	rm -r cut && cp -r whole cut
	# The id of the eleventh event of the second packet.
	damage cut $((second + 96 + 32 + 10 * 16 + 1)) 64
	delivers $((events + 10)) "cut/stream_0: byte $((second + 96 + 32 + 10 * 16)): error: "
	rm -r cut && cp -r whole cut
	# The sizes of the first packet.
	damage cut 48 1
	delivers 0 "cut/stream_0: byte 48: error: invalid size of a packet"
}

@test "any flipped bit is survived" {
	"$ASTERISM" record -q -o whole -e sys_enter_getpgid,sys_enter_openat -- taskset -c 0 "$plant" flood 50
	cp -r whole cut
	cat >flip.py <<-'END'
		# usage: flip.py FIRST RARER: flips a bit of every byte before FIRST, and of every RARERth one behind it, each alone
		import os, re, subprocess, sys
		first, rarer = map(int, sys.argv[1:])
		size = os.path.getsize("whole/stream_0")
		places = [*range(first + 1), *range(first + 1, size, rarer)]
		damaged = 0
		with open("cut/stream_0", "r+b", buffering=0) as stream:
		    for at in places:
		        byte = os.pread(stream.fileno(), 1, at)[0]
		        os.pwrite(stream.fileno(), bytes([byte ^ 1 << at % 8]), at)
		        done = subprocess.run([os.environ["ASTERISM"], "stat", "-f", "json", "cut"], capture_output=True, text=True)
		        os.pwrite(stream.fileno(), bytes([byte]), at)
		        if not 0 <= done.returncode <= 3:
		            sys.exit(f"byte {at}: status {done.returncode}")
		        # At the very beginning no byte is named.
		        if done.returncode == 2:
		            damaged += 1
		            if not re.search(r"^cut/stream_0: (byte [0-9]+: )?error: .", done.stderr, re.M):
		                sys.exit(f"byte {at}: {done.stderr}")
		print(len(places), damaged)
	END
	local rarer=37
	[ -z "$ASTERISM_TEST_LONG" ] || rarer=1
	export ASTERISM
	read -r places damaged < <(python3 flip.py 130 $rarer)
	echo "$places flips, $damaged of them found"
	[ "$places" -gt 150 ] && [ "$damaged" -gt 20 ]
	cmp whole/stream_0 cut/stream_0
}
