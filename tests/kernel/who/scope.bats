#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Whom -p observes; and that whoever is stopped for good is known to be.

bats_require_minimum_version 1.5.0
load ../rig/recording

setup() {
	recording_setup
	echo 'RULE every PATTERN { sys_enter_getpgid:a } RETURN { a.target_pid AS p, a.pid AS who }' >every.rule
	echo 'SYNCHRONOUS RULE halt PATTERN { sys_enter_getpgid:a } WHERE { a.target_pid == 1000002 } DO { CALL Stop(#PID) }' >stop.rule
	# Has a child already, and makes another; both call, and it itself as well.
	cat >family.sh <<-'END'
		(: >ready.child; until [ -e go ]; do sleep 0.02; done; "$1" flood 3) &
		: >ready.parent
		until [ -e go ]; do sleep 0.02; done
		"$1" flood 5
		wait
		exec "$1" flood 7
	END
	family= session=
}

teardown() {
	: >go
	[ -z "$family" ] || { kill -CONT "$family"; wait "$family"; } 2>/dev/null || true
	[ -z "$session" ] || kill "$session" 2>/dev/null || true
}

start_family() {
	rm -f go ready.* said
	bash family.sh "$plant" 3>&- &
	family=$!
	wait_for [ -e ready.child ]
	wait_for [ -e ready.parent ]
}

# `observe ARG...`: asterism, with what it says in ./said, while the family does what it does.
observe() {
	start_family
	"$ASTERISM" "$@" -v -p $family 2>said 3>&- &
	session=$!
	wait_for grep -q observing said
	: >go
	wait $family
	wait $session
	family= session=
}

@test "run -p follows the children, those that are there and those to come; --no-children does not" {
	observe run -f json -o out every.rule
	[ "$(grep -c '"match":"every"' out)" = 15 ]
	observe run -f json -o only --no-children every.rule
	[ "$(grep -c '"match":"every"' only)" = 7 ]
}

@test "record -p follows the children; --no-children does not" {
	observe record -o trace -e sys_enter_getpgid
	[ "$(count trace)" = 15 ]
	observe record -o only -e sys_enter_getpgid --no-children
	[ "$(count only)" = 7 ]
}

@test "--no-children without -p is refused" {
	run --separate-stderr -2 "$ASTERISM" run --no-children every.rule -- true
	[ "$stderr" = "asterism: error: --no-children needs -p" ]
}

@test "who stops the command is told so at once, and that the session waits for it" {
	timeout $((20 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" run --allow-actions -o out stop.rule -- bash -c 'echo $$ >pid; exec "$0" flood 3' "$plant" 2>said 3>&- &
	session=$!
	wait_for grep -q 'halt stopped' said
	pid=$(cat pid)
	[ "$(head -n 1 said)" = "asterism: warning: halt stopped process $pid with Stop, and no rule continues it: it stays stopped until 'kill -CONT $pid' or the end of this session" ]
	wait_for grep -qF "asterism: warning: the command (process $pid) is stopped, and the session waits for it: 'kill -CONT $pid' continues it" said
	kill -CONT $pid
	wait $session
	session=
	[ "$(grep -c warning: said)" = 2 ]
}

@test "a rule that lets go on, or a question, is nothing to wait for" {
	echo 'RULE on PATTERN { [sys_enter_getpgid:a, sys_enter_getpgid:b] } WHERE { a.target_pid == 1000002, b.target_pid == 1000009 } DO { CALL Continue(a#PID) }' >>stop.rule
	timeout $((20 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" run --allow-actions --for 1s -o out stop.rule -- "$plant" flood 3 2>said 3>&- || true
	! grep -q 'halt stopped' said
}

@test "a command that somebody else stops: the session says what it waits for, once" {
	timeout $((20 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" run -o out stop.rule -- bash -c 'echo $$ >pid; kill -STOP $$; exit 5' 2>said 3>&- &
	session=$!
	wait_for grep -q 'is stopped, and the session waits' said
	sleep 1.5
	[ "$(grep -c 'is stopped' said)" = 1 ]
	kill -CONT $(cat pid)
	status=0
	wait $session || status=$?
	session=
	[ "$status" = 5 ]
}

# Its child calls once it is gone, when it is told to; meanwhile it may have a child itself, that sleeps.
leave_child() {
	setsid bash -c 'echo $$ >pid; until [ -e go ]; do sleep 0.02; done; "$0" flood 3' "$1" >/dev/null 2>&1 3>&- &
	until [ -e pid ]; do sleep 0.02; done
}
export -f leave_child

@test "processes that outlive the command: told, by their numbers" {
	run --separate-stderr "$ASTERISM" run -o out every.rule -- bash -c 'leave_child "$0"; exit 4' "$plant" 3>&-
	: >go
	[ "$status" = 4 ]
	[[ "${stderr_lines[0]}" =~ ^"asterism: note: "[12]" observed process"(es)?" outlive"s?" the command and "(is|are)" no longer observed: "$(cat pid)(,|$) ]]
	[ "${stderr_lines[1]}" = "help: with --wait the session lasts until they end" ]
}

@test "where rules act that is a warning, and a recording says it as well" {
	run --separate-stderr "$ASTERISM" run --allow-actions -o out every.rule -- bash -c 'leave_child "$0"' "$plant" 3>&-
	: >go
	[[ "${stderr_lines[0]}" =~ ^"asterism: warning: "[12]" observed process" ]]
	rm go pid
	run --separate-stderr "$ASTERISM" record -o trace -e sched_process_exit -- bash -c 'leave_child "$0"' "$plant" 3>&-
	: >go
	[[ "${stderr_lines[0]}" =~ ^"asterism: note: "[12]" observed process" ]]
}

@test "--wait: the rules stay on for those that outlive the command, whose status it is" {
	"$ASTERISM" run --wait -f json -o out every.rule -- bash -c 'leave_child "$0"; exit 4' "$plant" 2>said 3>&- &
	session=$!
	wait_for [ -e pid ]
	sleep 0.3
	: >go
	status=0
	wait $session || status=$?
	session=
	[ "$status" = 4 ]
	[ "$(grep -c '"match":"every"' out)" = 3 ]
	! grep -q outlive said
}

@test "--wait ends at once at a signal, and is nothing for the whole machine" {
	"$ASTERISM" run --wait -f json -o out every.rule -- bash -c 'leave_child "$0"' "$plant" 2>said 3>&- &
	session=$!
	wait_for [ -e pid ]
	sleep 0.3
	kill -INT $session
	wait $session || true
	session=
	kill -0 $(cat pid)
	: >go
	run --separate-stderr -2 "$ASTERISM" run --wait -a every.rule
	[ "$stderr" = "asterism: error: --wait needs a command or -p" ]
}

@test "a filter that lets nobody pass is told of, one that does is not" {
	run --separate-stderr -0 "$ASTERISM" run --comm nosuchname --for 200ms -r sys_enter_getppid
	[[ $stderr == *"no event came from a process that --cgroup, --container, --unit, --comm or --user select: perhaps there is no such process"* ]]
	run --separate-stderr -0 "$ASTERISM" run --comm python3 -r sys_enter_getppid -- python3 -c 'import os; os.getppid()'
	[[ $stderr != *"no event came from"* ]]
}
