#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# `asterism test` with scripts that are observed live.

bats_require_minimum_version 1.5.0

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	: "${ASTERISM_TEST_PROGRAMS:=$(dirname "$ASTERISM")/../../tests/kernel}"
	export ASTERISM_TEST_PROGRAMS
	cd "$BATS_TEST_TMPDIR"
	mkdir -p r/tests tmp
	export TMPDIR=$PWD/tmp
	cat >r/r.rule <<-'END'
		PARAM patience = 1s;
		RULE calls PATTERN { [sys_enter_getpid:p, sys_enter_getppid:q] } WHERE { [tid], p.comm == "plant" } WITHIN patience RETURN { q.tid AS tid }
	END
	script 'exec "$ASTERISM_TEST_PROGRAMS/plant" calls pid ppid'
	echo '{"match":"calls","comm":"plant","return":{"tid":">1"}}' >r/tests/live.expect
}

script() {
	printf '#!/bin/sh\n%s\n' "$1" >r/tests/live.sh
	chmod +x r/tests/live.sh
}

teardown() {
	# Whatever became of a test, nothing of it is left.
	[ -z "$(ls -A tmp)" ]
}

@test "a script that does what is to be found" {
	run --separate-stderr -0 "$ASTERISM" test r
	[[ ${lines[0]} == "ok    r/live.sh ("* ]]
	[ "${lines[1]}" = "1 passed, 0 failed, 0 skipped" ]
	run --separate-stderr -0 "$ASTERISM" test -v r
	[[ ${lines[1]} == *'{"match":"calls",'*'"comm":"plant"'* ]]
}

@test "a script that does not" {
	script 'echo said; exec "$ASTERISM_TEST_PROGRAMS/plant" calls ppid pid'
	run --separate-stderr -1 "$ASTERISM" test r
	[ "${lines[1]}" = "        live:" ]
	[[ ${lines[2]} == "        expected: "* ]]
	[ "${lines[3]}" = "        rule 'calls' had 0 matches" ]
	[ "${lines[4]}" = "        | said" ]
}

@test "a near miss, expected silent" {
	: >r/tests/live.expect
	run --separate-stderr -1 "$ASTERISM" test r
	[[ ${lines[2]} == '        unexpected: {"match":"calls",'* ]]
	script 'exec "$ASTERISM_TEST_PROGRAMS/plant" calls ppid pid'
	run --separate-stderr -0 "$ASTERISM" test r
}

@test "parameters" {
	script 'exec "$ASTERISM_TEST_PROGRAMS/plant" calls pid 50 ppid'
	sed -i 's/= 1s/= 1ms/' r/r.rule
	run --separate-stderr -1 "$ASTERISM" test r
	echo 'patience = 10s' >r/tests/live.set
	run --separate-stderr -0 "$ASTERISM" test r
}

@test "where a script is and what it knows" {
	script 'pwd; ls -A; echo "$ASTERISM_BIN"; echo "$ASTERISM_TEST_FOLDER"; echo "$ASTERISM_TEST_PROGRAMS"; dirname "$0"; cat; exit 1'
	run --separate-stderr -1 "$ASTERISM" test r
	[ "${lines[1]}" = "        the script ended with status 1" ]
	[[ ${lines[2]} == "        | $PWD/tmp/asterism-test-"*/work ]]
	[ "${lines[3]}" = "        | $(realpath "$ASTERISM")" ]
	[ "${lines[4]}" = "        | $PWD/r" ]
	[ "${lines[5]}" = "        | $ASTERISM_TEST_PROGRAMS" ]
	[ "${lines[6]}" = "        | $PWD/r/tests" ]
	[ "${lines[7]}" = "0 passed, 1 failed, 0 skipped" ]
}

@test "status 77 skips, with the last line as reason" {
	script 'echo first; echo "no such device"; exit 77'
	run --separate-stderr -0 "$ASTERISM" test r
	[ "${lines[0]}" = "skip  r/live.sh: no such device" ]
	[ "${lines[1]}" = "0 passed, 0 failed, 1 skipped" ]
	run --separate-stderr -0 "$ASTERISM" test -f tap r
	[ "${lines[1]}" = "ok 1 - r/live.sh # SKIP no such device" ]
	script 'exit 77'
	run --separate-stderr -0 "$ASTERISM" test r
	[ "${lines[0]}" = "skip  r/live.sh: the script does not say why" ]
}

@test "a script that hangs is ended, with all that it has started" {
	script 'trap "" TERM; setsid sleep 300 & echo $! >>'"$PWD"'/pids; sleep 300 & echo $! >>'"$PWD"'/pids; echo $$ >>'"$PWD"'/pids; wait; wait'
	run --separate-stderr -1 "$ASTERISM" test --timeout 300ms r
	[ "${lines[1]}" = "        the script ran for more than 0.3 s and was killed" ]
	[ "$(wc -l <pids)" = 3 ]
	while read -r pid; do
		run ! kill -0 "$pid"
	done <pids
}

@test "what a script leaves running is ended" {
	script 'setsid sleep 300 & echo $! >'"$PWD"'/pid; exec "$ASTERISM_TEST_PROGRAMS/plant" calls pid ppid'
	run --separate-stderr -0 "$ASTERISM" test r
	run ! kill -0 "$(cat pid)"
}

@test "a signal to the tester ends the script" {
	script 'setsid sleep 300 & echo $! >'"$PWD"'/other; echo $$ >'"$PWD"'/pid; sleep 300'
	"$ASTERISM" test r >out 2>err 3>&- &
	tester=$!
	for i in $(seq 200); do
		[ -s pid ] && break
		sleep 0.05
	done
	kill -INT "$tester"
	status=0
	wait "$tester" || status=$?
	[ "$status" = 2 ]
	run ! kill -0 "$(cat pid)"
	run ! kill -0 "$(cat other)"
}

@test "without privileges live tests are skipped" {
	chmod a+x "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR"
	chmod a+rwx tmp
	run --separate-stderr -0 setpriv --reuid=65534 --clear-groups "$ASTERISM" test "$PWD/r"
	[ "${lines[0]}" = "skip  r/live.sh: live tests need root, or CAP_BPF and CAP_PERFMON" ]
}

@test "a script that cannot be run" {
	printf '#!/no/such/shell\n' >r/tests/live.sh
	run --separate-stderr -1 "$ASTERISM" test r
	[[ ${lines[1]} == *"live.sh"* ]]
}

@test "record: several --rules, parameters, shipped ones" {
	mkdir -p library/calls
	cp r/r.rule library/calls/calls.rule
	echo 'RULE own PATTERN { sys_enter_getuid:u }' >own.rule
	ASTERISM_RULES=$PWD/library run --separate-stderr -0 "$ASTERISM" record -q -o trace --rules @calls --rules own.rule \
		--set patience=10s -- "$ASTERISM_TEST_PROGRAMS/plant" calls pid 20 ppid uid
	[[ ${lines[0]} == *calls* && ${lines[1]} == *own* ]]
	ASTERISM_RULES=$PWD/library run --separate-stderr -0 "$ASTERISM" run -q @calls --set patience=10s -- \
		"$ASTERISM_TEST_PROGRAMS/plant" calls pid 20 ppid
	[[ ${lines[0]} == *calls* ]]
}

@test "the shipped tests hold also for whoever has made itself nice" {
	run -0 nice -n 5 "$ASTERISM" test "$BATS_TEST_DIRNAME/../../../rules/stalled-thread" --live
	run -0 nice -n 19 "$ASTERISM" test "$BATS_TEST_DIRNAME/../../../rules/slow-syscall" --live
}
