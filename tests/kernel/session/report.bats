#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Reports of what was really recorded: every interval as an independent computation has it, sums as the kernel counts.

bats_require_minimum_version 1.5.0

setup()
{
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	root=$BATS_TEST_DIRNAME/../../..
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR" || return
}

@test "states of a random workload are those of another computation, and sums the kernel's" {
	timeout 120 $ASTERISM record -o trace -- python3 "$root/tests/report/workload.py" 1 7 stat
	python3 "$root/tests/report/states.py" $ASTERISM trace --schedstat stat --tick 10000000
}

@test "calls and faults of a random workload are counted as by another computation" {
	timeout 120 $ASTERISM record -q --for-report -o trace -- python3 "$root/tests/report/workload.py" 0.5 11
	run -0 python3 "$root/tests/report/naive.py" $ASTERISM trace syscalls faults
	[[ $output == *" 0 tables wrong" ]]
}

@test "a recording begins with the threads that are there" {
	sleep 1000 3>&- &
	pid=$!
	timeout 60 $ASTERISM record -p $pid --for 100ms -o trace
	kill $pid
	run -0 --separate-stderr $ASTERISM dump -e thread_state -f json trace
	[ "${#lines[@]}" = 1 ]
	python3 - "$pid" "$$" "$output" <<-'END'
		import json, sys
		event = json.loads(sys.argv[3])
		assert event["target_tid"] == event["target_pid"] == int(sys.argv[1]), event
		assert event["state"] == "S" and event["target_comm"] == "sleep" and not event["is_kernel"], event
		assert 100 <= event["prio"] < 140, event
	END
}

@test "the report of a command is about the command: who else ran or was woken is no row of it" {
	python3 -c 'import time; end = time.time() + 60
while time.time() < end: pass' 3>&- &
	stranger=$!
	timeout 60 $ASTERISM record -q --for-report -o trace -- sh -c 'sleep 0.1; echo a | cat; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'
	kill $stranger
	$ASTERISM report --only overview,timeline,slices -f json trace >report.json
	python3 - <<-'END'
		import json
		report = json.load(open("report.json"))
		comms = set()
		def walk(value, key=None):
		    if isinstance(value, dict):
		        if "comm" in value and key != "waker":
		            comms.add(value["comm"])
		        for name, more in value.items():
		            walk(more, name)
		    elif isinstance(value, list):
		        for more in value:
		            walk(more, key)
		walk(report)
		assert comms and comms <= {"sh", "sleep", "cat", "asterism"}, comms
	END
}
