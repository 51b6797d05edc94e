#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What io_uring does is no system call: rules that look for such a call say how many operations they did not see. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	: "${ASTERISM_TEST_PROGRAMS:=$BATS_TEST_DIRNAME/../../../build/tests/kernel}"
	plant=$ASTERISM_TEST_PROGRAMS/plant-io-uring
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ "$("$plant" probe)" = ok ] || skip "io_uring is refused here: $("$plant" probe)"
	cd "$BATS_TEST_TMPDIR"
	# One of what is opened, one of what is written, where it ends; one of all calls; one of another call; one of none.
	echo 'RULE opens PATTERN { sys_enter_openat:o } WHERE { o.filename LIKE "/nowhere/*" }
		RULE writes PATTERN { sys_exit_write:w } WHERE { w.ret == -9 }
		RULE here PATTERN { sys_enter_openat:o } WHERE { o.filename LIKE "*/nowhere/*" }
		RULE raw PATTERN { sys_enter:s } WHERE { s.id == 999 }
		RULE kills PATTERN { sys_enter_kill:k } WHERE { k.sig == 64 }
		RULE switches PATTERN { sched_switch:x } WHERE { x.prev_pid == 1, x.next_pid == 1 }' >rules.rule
}

# count RULE: its operations of io_uring, as the last line says.
count() {
	python3 -c 'import json, sys; print(json.loads(sys.argv[1])["stats"]["rules"][sys.argv[2]].get("io_uring", 0))' "${lines[-1]}" "$1"
}

@test "rules are told of the operations that stand for calls they look for, and others are not" {
	run --separate-stderr -3 "$ASTERISM" run -f json rules.rule -- "$plant" ring "$PWD/file" 3
	[ "$(count opens) $(count writes) $(count here)" = "3 3 3" ]
	[ "$(count raw)" = 6 ]
	[ "$(count kills) $(count switches)" = "0 0" ]
	[[ $stderr == *"rule opens did not see 3 operations of io_uring: they are not system calls"* ]]
	[[ $stderr != *"rule kills"* && $stderr != *"rule switches"* ]]
	[[ $output == *'{"notice":"bypass","rule":"opens","calls_32bit":0,"io_uring":'* ]]
	[ "$(cat file)" = x ]
}

@test "the same by system calls, and operations that do nothing: no word" {
	for how in "calls $PWD/file 3" "nothing 5"; do
		run --separate-stderr -0 "$ASTERISM" run -f json rules.rule -- "$plant" $how
		[[ $output != *io_uring* && $stderr != *io_uring* ]]
	done
}

@test "events that io_uring cannot go round: no word" {
	echo 'RULE switches PATTERN { sched_switch:x } WHERE { x.prev_pid == 1, x.next_pid == 1 }
		RULE kills PATTERN { sys_enter_kill:k } WHERE { k.sig == 64 }' >other.rule
	run --separate-stderr -0 "$ASTERISM" run -f json other.rule -- "$plant" ring "$PWD/file" 3
	[[ $output != *io_uring* && $stderr != *io_uring* ]]
}

@test "a kernel thread that looks after the ring counts as its process" {
	run --separate-stderr -3 "$ASTERISM" run -f json rules.rule -- "$plant" thread "$PWD/file" 3
	[ "$(count opens) $(count writes)" = "3 3" ]
}

@test "what others do is not counted" {
	"$plant" ring "$PWD/other" 20000 3>&- &
	run --separate-stderr -0 "$ASTERISM" run -f json rules.rule -- "$plant" calls "$PWD/file" 3
	[[ $output != *io_uring* ]]
	wait $!
}

@test "it is told while the session lasts" {
	"$ASTERISM" run -f json rules.rule -- sh -c '"$0" ring "$1/file" 1; read -r line <"$1/go"' "$plant" "$PWD" >out 2>told 3>&- &
	mkfifo go
	for _ in $(seq 200); do
		! grep -q '"notice":"bypass","rule":"opens"' out || break
		sleep 0.1
	done
	grep -q 'rule opens did not see 1 operation of io_uring' told
	grep -q '"notice":"bypass","rule":"opens","calls_32bit":0,"io_uring":1}' out
	! grep -q '"stats"' out
	echo >go
	local status=0
	wait $! || status=$?
	[ $status = 3 ]
}

@test "a recording of system calls says what is not in it" {
	run --separate-stderr -3 "$ASTERISM" record -o opens -e sys_enter_openat -- "$plant" ring "$PWD/file" 2
	[[ $stderr == *"2 operations of io_uring"*"not in the trace"* ]]
	run --separate-stderr -3 "$ASTERISM" record -o both --rules rules.rule -e sys_enter_openat -- "$plant" ring "$PWD/file" 1
	[[ $stderr == *"1 operation of io_uring"*"not in the trace"* && $stderr == *"rule opens did not see 1 operation of io_uring"* ]]
	run --separate-stderr -0 "$ASTERISM" record -o none -e sys_enter_kill -- "$plant" ring "$PWD/file" 2
	[[ $stderr != *io_uring* ]]
}
