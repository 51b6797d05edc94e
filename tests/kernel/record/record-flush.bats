#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What is recorded slowly is on the disk soon, and signals that mean something else do not end a recording.

bats_require_minimum_version 1.5.0
load ../rig/recording

setup() {
	recording_setup
}

teardown() {
	for pid in $recorder $work; do
		kill -9 "$pid" 2>/dev/null || true
	done
}

now() {
	python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))'
}

# Something small every 50 ms, for itself; $work.
work() {
	python3 -SEc 'import os, time
while True:
    os.getpid(); time.sleep(0.05)' 3>&- &
	work=$!
}

# `record_work DIR OPTION...`: a recording of it, that observes already; $recorder.
record_work() {
	: >said # of an earlier one
	"$ASTERISM" record -v -p "$work" -o "$@" 2>said 3>&- &
	recorder=$!
	wait_for grep -q observing said
}

# How long before TIME the trace's last event was, in milliseconds.
age() {
	local last
	last=$("$ASTERISM" dump --time clock "$1" | tail -1 | awk '{ print $1 }')
	echo $((($2 - last) / 1000000))
}

@test "kill -9 costs less than the last second, at a low rate" {
	work
	for round in 1 2 3; do
		record_work "t$round" -e sys_enter,sys_exit,sched_switch
		sleep 1.$((round * 3))
		killed=$(now)
		kill -9 "$recorder"
		wait "$recorder" || true
		run -0 --separate-stderr "$ASTERISM" stat "t$round"
		[ -z "$stderr" ]
		[ "$(age "t$round" "$killed")" -lt 1000 ]
	done
}

@test "the pieces of a recording are the whole: by count, and as babeltrace2 reads them" {
	run -0 --separate-stderr "$ASTERISM" record -e sys_enter,sys_exit -o t -- \
		python3 -SEc 'import os, time
for i in range(40):
    for j in range(i): os.getppid()
    time.sleep(0.05)'
	[[ $stderr =~ ([0-9]+)" events" ]]
	[ "$(count t)" = "${BASH_REMATCH[1]}" ]
	[ "$(count t lost)" = 0 ]
	echo 'RULE r PATTERN { sys_enter_getppid:p } WHERE { p.comm LIKE "python3*" } RETURN { p.tid }' >r.rule
	[ "$("$ASTERISM" replay -q --limit 1000 r.rule t | wc -l)" = 780 ]
	command -v babeltrace2 >/dev/null || skip "babeltrace2 is not installed"
	run -0 --separate-stderr babeltrace2 t
	[ -z "$stderr" ]
	[ "$(grep -c 'sys_enter: ' <<<"$output")" = "$(count t sys_enter)" ]
}

@test "SIGUSR1 has it written at once" {
	work
	for round in 1 2 3 4; do
		record_work "t$round" -e sys_enter,sys_exit
		sleep 0.$((round + 2))
		killed=$(now)
		kill -USR1 "$recorder"
		sleep 0.08
		kill -9 "$recorder"
		wait "$recorder" || true
		[ "$(age "t$round" "$killed")" -lt 60 ]
	done
}

@test "SIGUSR1, SIGUSR2 and SIGALRM do not end a recording, whenever they come" {
	"$ASTERISM" record -q -o t -- sh -c 'until [ -e enough ]; do sleep 0.05; done' 3>&- &
	recorder=$!
	wait_for has_decided "$recorder"
	for _ in $(seq 15); do
		kill -USR1 "$recorder"
		kill -USR2 "$recorder"
		kill -ALRM "$recorder"
		sleep 0.1
	done
	touch enough
	wait "$recorder"
	[ "$(count t sched_process_exit)" -ge 1 ]
	"$ASTERISM" record -q -o box --flight -- sleep 1 3>&- &
	recorder=$!
	wait_for has_decided "$recorder"
	sleep 0.7
	kill -USR2 "$recorder"
	kill -USR1 "$recorder"
	wait "$recorder"
	[ -d box/signal-1 ] || ls box
	[ -n "$(ls -d box/end-*)" ]
}

@test "signals without end while a session loads only make it slower" {
	"$ASTERISM" record -q -o t -- sleep 0.2 3>&- &
	recorder=$!
	wait_for has_decided "$recorder"
	python3 -SEc 'import os, signal, sys
for _ in range(1000000):
    os.kill(int(sys.argv[1]), signal.SIGUSR2)' "$recorder" 2>/dev/null 3>&- &
	work=$!
	wait "$recorder"
	[ "$(count t sched_process_exit)" = 1 ]
}

@test "a launched command has the signals as they were" {
	run -0 "$ASTERISM" record -q -o t -- sh -c 'trap "echo got" USR2; kill -USR2 $$; exit 0'
	[ "$output" = got ]
	run -140 "$ASTERISM" record -q -o u -- sh -c 'kill -USR2 $$; exit 0'
}
