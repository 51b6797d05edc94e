#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Who reads the matches and what is recorded to: one standing still does not keep the other waiting.

bats_require_minimum_version 1.5.0
load ../rig/recording

setup() {
	recording_setup
	disk= frozen= session=
}

teardown() {
	thaw
	# One that still waits waits for a file in this folder.
	touch one.go two.go three.go
	[ -z "$session" ] || wait $session || true
	[ -z "$disk" ] || umount "$disk"
}

told_events() {
	sed -n 's/^asterism: note: \([0-9]*\) events in .*/\1/p' said
}

told_unmarked() {
	sed -n 's/^asterism: warning: \([0-9]*\) matches are not annotated in the trace.*/\1/p' said
}

told_lost() {
	sed -n "s/^asterism: warning: \([0-9]*\) events were lost: they $1.*/\1/p" said
}

# A file system at ./disk, until the test ends, on which nothing can be written while it is frozen.
freezable_disk() {
	truncate -s 256M image
	mkdir disk
	mkfs.ext4 -q -F image && mount -o loop image disk || skip "no file system can be mounted"
	disk=$PWD/disk
}

freeze() {
	fsfreeze --freeze "$disk" || skip "the file system cannot be frozen"
	frozen=1
}

thaw() {
	[ -z "$frozen" ] || fsfreeze --unfreeze "$disk"
	frozen=
}

# Whether a thread of the process waits for a disk.
is_held_up() {
	grep -q '^State:.*D' /proc/$1/task/*/status
}

# `found RULE NUMBER`: whether a match of it was told.
found() {
	grep -q "\"match\":\"$1\".*\"p\":$2[,}]" matches
}

@test "who reads the matches stands still: no event is lost to the recording" {
	echo 'RULE every PATTERN { sys_enter_getpgid:a } RETURN { a.target_pid AS p, a.comm AS who }' >every.rule
	"$ASTERISM" record -o trace --ring 16M --rules every.rule -f json -- \
		bash -c 'for i in $(seq 10); do taskset -c 0 "$0" flood 300000; sleep 0.1; done; : >ran' "$plant" 2>said 3>&- |
		{ wait_for [ -e ran ]; cat >matches; }
	cat said
	# The matches took the loss: 16 MiB of ring do not bridge 48 MB of events.
	[ "$(told_events)" = 3000000 ]
	[ -z "$(told_lost)" ]
	[ "$(count trace sys_enter_getpgid)" = 3000000 ]
	[ "$(count trace lost)" = 0 ]
	[ "$(grep -c '"match":' matches)" -lt 3000000 ]
	[ $(($(count trace match) + 10#0$(told_unmarked))) = "$(grep -c '"match":"every"' matches)" ]
}

@test "the disk stands still: matches come all the same, and what is lost is counted" {
	freezable_disk
	cat >some.rule <<-'END'
		RULE last PATTERN { sys_enter_getpgid:a } WHERE { a.target_pid == 1199999 } RETURN { a.target_pid AS p }
		RULE after PATTERN { [sys_enter_getpgid:a, sys_exit_getpgid:b] } WHERE { [tid], a.target_pid == 1001234 } RETURN { a.target_pid AS p }
	END
	"$ASTERISM" record -v -o disk/trace --ring 1M --rules some.rule -f json -- \
		bash -c 'sh -c "$1" sh one; "$0" flood 200000; sh -c "$1" sh two; "$0" flood 1235; sh -c "$1" sh three' "$plant" \
		': >$1.ready; until [ -e $1.go ]; do sleep 0.05; done' >matches 2>said 3>&- &
	session=$!
	wait_for [ -e one.ready ]
	freeze
	: >one.go
	wait_for [ -e two.ready ]
	wait_for is_held_up $session
	wait_for found last 1199999
	: >two.go
	wait_for found after 1001234
	is_held_up $session
	thaw
	: >three.go
	wait $session || [ $? = 3 ]
	lost=$(told_lost 'came faster than they could be written')
	[ "$lost" -gt 0 ]
	# The calls that the rules look at, and how numbers of threads end, of which some may be among the lost.
	ends=$(($(count disk/trace sched_process_exit) + $(count disk/trace sched_process_exec)))
	[ $(($(told_events) - ends + lost)) -ge 402470 ]
	[ "$(count disk/trace lost)" = "$lost" ]
	[ $(($(count disk/trace sys_enter_getpgid) + $(count disk/trace sys_exit_getpgid) + ends)) = "$(told_events)" ]
	[ "$(count disk/trace match)" = "$(grep -c '"match":' matches)" ]
}

@test "the disk stands still for longer than marks can wait: matches without a mark are counted" {
	freezable_disk
	echo 'RULE every PATTERN { sys_enter_getpgid:a } RETURN { a.target_pid AS p }' >every.rule
	"$ASTERISM" record -o disk/trace --ring 16M --rules every.rule -f json -- \
		bash -c 'sh -c "$1" sh one; for i in $(seq 20); do "$0" flood 1000; sleep 0.1; done; "$0" flood 1; sh -c "$1" sh two' "$plant" \
		': >$1.ready; until [ -e $1.go ]; do sleep 0.05; done' >matches 2>said 3>&- &
	session=$!
	wait_for [ -e one.ready ]
	freeze
	: >one.go
	wait_for [ -e two.ready ]
	wait_for is_held_up $session
	wait_for eval '[ "$(grep -c "\"match\":" matches)" = 20001 ]'
	thaw
	: >two.go
	wait $session || status=$?
	[ "$status" = 3 ]
	unmarked=$(sed -n 's/^asterism: warning: \([0-9]*\) matches are not annotated in the trace: .*/\1/p' said)
	[ "$unmarked" -gt 0 ]
	[ $(($(count disk/trace match) + unmarked)) = 20001 ]
	[ "$(count disk/trace sys_enter_getpgid)" = 20001 ]
	[ "$(count disk/trace lost)" = 0 ]
}

@test "the disk stands still while a snapshot is written: matches come all the same, the next snapshot waits" {
	freezable_disk
	echo 'RULE every PATTERN { sys_enter_getpgid:a } RETURN { a.target_pid AS p }' >every.rule
	"$ASTERISM" run -v --snapshot disk/box -f json -e sys_enter_getpgid every.rule -- \
		bash -c 'sh -c "$1" sh one; "$0" flood 3; sh -c "$1" sh two; "$0" flood 4; sh -c "$1" sh three' "$plant" \
		': >$1.ready; until [ -e $1.go ]; do sleep 0.05; done' >matches 2>said 3>&- &
	session=$!
	wait_for [ -e one.ready ]
	freeze
	kill -USR1 $session
	wait_for is_held_up $session
	: >one.go
	wait_for [ -e two.ready ]
	kill -USR1 $session
	: >two.go
	wait_for eval '[ "$(grep -c "\"match\":" matches)" = 7 ]'
	[ -z "$(ls disk/box)" ]
	thaw
	: >three.go
	wait $session
	# The first two in the order in which they were asked for; that of the second signal has waited for them.
	[ "$(ls disk/box | tr '\n' ' ')" = "every-2 signal-1 signal-3 " ]
	[ "$(count disk/box/signal-1)" = 0 ]
	[ $(($(count disk/box/every-2 match) + $(count disk/box/signal-3 match))) = 7 ]
	[ "$(count disk/box/signal-3 sys_enter_getpgid)" = 7 ]
}
