#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# `asterism test`: what passes, what fails and how that is explained, and tests that are wrong themselves.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	cd "$BATS_TEST_TMPDIR"
	mkdir -p r/tests
	cat >r/r.rule <<-'END'
		PARAM least = 5;
		EVENT A { x: i64, word: string, real: f64, big: u64 }
		RULE seen PATTERN { A:a } WHERE { a.x >= least } RETURN { a.x AS x, a.word AS word, a.real AS real, a.big AS big }
	END
	cat >r/tests/t.jsonl <<-'END'
		# what is not given is 0 or empty
		{"event":"A"}
		{"event":"A","ts":1,"tid":7,"x":7,"word":"y"}
		{"event":"A","ts":2,"x":8,"real":0.5,"big":18446744073709551615}
	END
	cat >r/tests/t.expect <<-'END'
		# comments and empty lines do not count

		{"match":"seen","tid":7,"return":{"x":7,"word":"y","real":0}}
		{"match":"seen","return":{"x":8,"real":0.5,"big":18446744073709551615}}
	END
}

check() {
	run --separate-stderr "$@"
	# Times differ.
	output=$(sed 's/([0-9.]* s)$/(T)/' <<<"$output")
	mapfile -t lines <<<"$output"
}

@test "a test that passes" {
	check -0 "$ASTERISM" test r
	[ -z "$stderr" ]
	[ "$output" = "ok    r/t.jsonl (T)
1 passed, 0 failed, 0 skipped" ]
	check -0 "$ASTERISM" test r -q
	[ "$output" = "1 passed, 0 failed, 0 skipped" ]
	check -0 "$ASTERISM" test . -v
	[[ ${lines[1]} == '        {"match":"seen","ts":1,"cpu":0,'* ]]
}

@test "TAP and JSON" {
	printf '{"match":"other"}\n' >r/tests/f.expect
	printf '{"event":"A"}\n' >r/tests/f.jsonl
	check -1 "$ASTERISM" test -f tap r
	[ "$output" = "1..2
not ok 1 - r/f.jsonl
# expected: {\"match\":\"other\"} ($PWD/r/tests/f.expect:1)
# rule 'other' had 0 matches
ok 2 - r/t.jsonl" ]
	check -1 "$ASTERISM" test -f json r
	[[ ${lines[0]} == '{"test":"r/f.jsonl","result":"fail","seconds":'*',"matches":0,"why":["expected: {\"match\":\"other\"} ('* ]]
	[[ ${lines[1]} == '{"test":"r/t.jsonl","result":"ok",'* ]]
	[ "${lines[2]}" = '{"passed":1,"failed":1,"skipped":0}' ]
}

@test "what differs is told: the nearest match, what was not expected" {
	printf '{"match":"seen","return":{"x":7,"word":"z","none":1}}\n' >r/tests/t.expect
	check -1 "$ASTERISM" test r
	[ "${lines[0]}" = "FAIL  r/t.jsonl (T)" ]
	[ "${lines[1]}" = "        expected: {\"match\":\"seen\",\"return\":{\"x\":7,\"word\":\"z\",\"none\":1}} ($PWD/r/tests/t.expect:1)" ]
	[[ ${lines[2]} == '        nearest:  {"match":"seen","ts":1,'* ]]
	[ "${lines[3]}" = '        differs:  return.word is "y", not "z"; return.none is missing, not 1' ]
	[[ ${lines[4]} == '        unexpected: {"match":"seen","ts":2,'* ]]
	[ "${lines[5]}" = "0 passed, 1 failed, 0 skipped" ]
}

@test "an empty .expect: nothing may match" {
	: >r/tests/t.expect
	check -1 "$ASTERISM" test r
	[[ $output == *'unexpected: {"match":"seen","ts":1,'*'unexpected: {"match":"seen","ts":2,'* ]]
	check -0 "$ASTERISM" test r --set least=9
}

@test "one match too few or too many is told as just that" {
	printf '{"match":"seen","return":{"x":%d}}\n' 8 >r/tests/t.expect
	check -1 "$ASTERISM" test r
	[ ${#lines[@]} = 3 ]
	[[ ${lines[1]} == *'unexpected: {"match":"seen","ts":1,'* ]]
	printf '{"match":"seen","return":{"x":%d}}\n' 6 7 8 >r/tests/t.expect
	check -1 "$ASTERISM" test r
	[ ${#lines[@]} = 4 ]
	[[ ${lines[1]} == *'expected: {"match":"seen","return":{"x":6}}'* && ${lines[2]} == *"rule 'seen' had only 2 matches" ]]
}

@test "the order counts" {
	printf '{"match":"seen","return":{"x":%d}}\n' 8 7 >r/tests/t.expect
	check -1 "$ASTERISM" test r
	[[ $output == *"it is not at this position"* ]]
}

@test "comparisons" {
	holds() { # WHAT x IS TO BE
		printf '{"ts":1}\n{"return":{"x":"%s","real":">0"}}\n' "$1" >r/tests/t.expect
		"$ASTERISM" test r >out
	}
	for right in '>=8' '<=8' '>7' '<9' '!=7' '>-3' '>= 8' '<8.5' '>7.9'; do
		holds "$right"
	done
	for wrong in '>=9' '<=7' '>8' '<8' '!=8' '8' '>' '>x' '>8x' '=8'; do
		run -1 holds "$wrong"
	done
	# Numbers beyond 63 bits as well.
	for right in 18446744073709551615 '">=18446744073709550000"' '"!=3"' '">1"'; do
		printf '{"ts":1}\n{"return":{"big":%s}}\n' "$right" >r/tests/t.expect
		"$ASTERISM" test r
	done
	printf '{"ts":1}\n{"return":{"big":18446744073709551614}}\n' >r/tests/t.expect
	check -1 "$ASTERISM" test r
	# A text is a text.
	printf '{"return":{"word":">1"}}\n{}\n' >r/tests/t.expect
	check -1 "$ASTERISM" test r
	[[ $output == *'return.word is "y", not ">1"'* ]]
}

@test "counts" {
	for right in 2 '">=1"' '">1"' '"<3"'; do
		printf '{"match":"seen","count":%s}\n' "$right" >r/tests/t.expect
		"$ASTERISM" test r
	done
	printf '{"match":"seen","count":1}\n{"match":"none","count":0}\n' >r/tests/t.expect
	check -1 "$ASTERISM" test r
	[[ ${lines[2]} == *"there were 2" && ${#lines[@]} = 4 ]]
	# A match goes to the first line that it fits; what is left is in order.
	printf '{"return":{"x":7}}\n{"return":{"x":8},"count":1}\n' >r/tests/t.expect
	check -0 "$ASTERISM" test r
}

@test "losses are failures unless they are expected" {
	cat >r/r.rule <<-'END'
		EVENT A { x: i64 }
		RULE seen PATTERN { [A:a, A:b] } WHERE { a.x == 1, b.x == 2 } POOL 2
	END
	for i in 1 2 3 4; do
		echo "{\"event\":\"A\",\"ts\":$i,\"x\":1}"
	done >r/tests/t.jsonl
	: >r/tests/t.expect
	check -1 "$ASTERISM" test r
	[[ ${lines[1]} == *"2 events or runs were lost" ]]
	echo '{"lost":2}' >r/tests/t.expect
	check -0 "$ASTERISM" test r
	echo '{"lost":">=3"}' >r/tests/t.expect
	check -1 "$ASTERISM" test r
}

@test "parameters: --set for all, NAME.set for one" {
	: >r/tests/t.expect
	printf '# none are left\n\n least = 9 \n' >r/tests/t.set
	check -0 "$ASTERISM" test r
	check -0 "$ASTERISM" test r --set least=1
	rm r/tests/t.set
	check -1 "$ASTERISM" test r --set least=8
	[ "${#lines[@]}" = 3 ]
}

@test "events of a program" {
	mv r/tests/t.jsonl r/tests/kept
	printf '#!/bin/sh\ncat kept\n' >r/tests/t.events
	chmod +x r/tests/t.events
	check -0 "$ASTERISM" test r
	[ "${lines[0]}" = "ok    r/t.events (T)" ]
	printf '#!/bin/sh\necho no >&2\nexit 3\n' >r/tests/t.events
	check -1 "$ASTERISM" test r
	[ "${lines[1]}" = "        the program ended with status 3" ]
	[ "${lines[2]}" = "        | no" ]
	printf '#!/bin/sh\nkill -9 $$\n' >r/tests/t.events
	check -1 "$ASTERISM" test r
	[ "${lines[1]}" = "        the program was ended by signal 9" ]
	printf '#!/no/such/shell\n' >r/tests/t.events
	check -1 "$ASTERISM" test r
	[[ $output == *"cannot run "*"t.events: No such file or directory"* ]]
}

@test "a program that hangs is ended with all that it started" {
	mkdir tmp
	mv r/tests/t.jsonl r/tests/kept
	printf '#!/bin/sh\ntrap "" TERM\nsetsid sleep 300 &\necho $! >%s/first\nsleep 300 &\necho $! >%s/second\nwait\n' \
		"$PWD" "$PWD" >r/tests/t.events
	chmod +x r/tests/t.events
	TMPDIR=$PWD/tmp check -1 "$ASTERISM" test --timeout 500ms r
	[ "${lines[1]}" = "        the program ran for more than 0.5 s and was killed" ]
	run ! kill -0 "$(cat first)"
	run ! kill -0 "$(cat second)"
	[ -z "$(ls -A tmp)" ]
}

@test "which tests are run" {
	for name in one two; do
		cp r/tests/t.jsonl r/tests/$name.jsonl
		cp r/tests/t.expect r/tests/$name.expect
	done
	printf '#!/bin/sh\n' >r/tests/live.sh
	chmod +x r/tests/live.sh
	: >r/tests/live.expect
	check -0 "$ASTERISM" test r --no-live
	[ "${lines[3]}" = "3 passed, 0 failed, 0 skipped" ]
	check -0 "$ASTERISM" test r -k one
	[ ${#lines[@]} = 2 ]
	check -0 "$ASTERISM" test r -k 'r/t*'
	[ ${#lines[@]} = 3 ]
	check -2 "$ASTERISM" test r -k none
	[ "$stderr" = "asterism: error: no test matches (4 available)" ]
	check -2 "$ASTERISM" test r --live --no-live
	[[ $stderr == *"--live and --no-live exclude each other"* ]]
}

@test "several folders, and folders without tests" {
	mkdir -p lib/bare
	cp -r r lib/one
	cp -r r lib/two
	cp r/r.rule lib/bare
	echo text >lib/README
	check -0 "$ASTERISM" test lib r
	[ "$stderr" = "asterism: warning: bare has no tests" ]
	[ "$output" = "ok    one/t.jsonl (T)
ok    two/t.jsonl (T)
ok    r/t.jsonl (T)
3 passed, 0 failed, 0 skipped" ]
	ASTERISM_RULES=$PWD/lib check -2 "$ASTERISM" test @one
	[[ $stderr == *"there is no shipped rule '@one'"* ]]
	mv lib/one/r.rule lib/one/one.rule
	ASTERISM_RULES=$PWD/lib check -0 "$ASTERISM" test @one
	[ "${lines[0]}" = "ok    one/t.jsonl (T)" ]
}

@test "nothing to test" {
	check -2 "$ASTERISM" test
	[[ $stderr == *"'asterism test' needs DIR"* ]]
	check -2 "$ASTERISM" test none
	[ "$stderr" = "none: error: no such directory" ]
	check -2 "$ASTERISM" test r/r.rule
	[ "$stderr" = "r/r.rule: error: this is not a directory" ]
	mkdir empty
	check -2 "$ASTERISM" test empty
	[ "${stderr_lines[0]}" = "empty: error: neither this directory nor its subdirectories have rules" ]
	rm -r r/tests
	check -2 "$ASTERISM" test r
	[[ $stderr == *"error: there are no tests in r"* ]]
	: >r/tests
	check -2 "$ASTERISM" test r
}

@test "tests that are not whole" {
	rm r/tests/t.expect
	check -2 "$ASTERISM" test r
	[ "$stderr" = "$PWD/r/tests/t.jsonl: error: this test has no .expect file of the same name
help: create one; an empty file expects that nothing matches" ]
	: >r/tests/t.expect
	: >r/tests/u.expect
	check -2 "$ASTERISM" test r
	[ "${stderr_lines[0]}" = "$PWD/r/tests/u.expect: error: there is no test with this name" ]
	printf '#!/bin/sh\n' >r/tests/u.sh
	check -2 "$ASTERISM" test r
	[ "$stderr" = "$PWD/r/tests/u.sh: error: this script is not executable
help: make it executable with chmod +x" ]
}

@test "what is wrong in .expect is told with its place" {
	wrong() { # TEXT, PLACE AND MESSAGE
		printf '%s\n' '{}' "$1" >r/tests/t.expect
		check -2 "$ASTERISM" test r
		[[ ${lines[1]} == "        $PWD/r/tests/t.expect:2:"$2 ]]
	}
	wrong '{"match":"seen",}' '17: error: string or '\''}'\'' expected near '\''}'\'
	wrong '[1]' '1: error: this is not a JSON object'
	wrong 'seen' '*: error: *'
	wrong '{"match":"a","match":"b"}' '*: error: duplicate object key near *'
	wrong '{"match":"seen","count":"many"}' '1: error: "count" is neither a number nor a comparison'
	wrong '{"match":"seen","count":-1}' '1: error: "count" is neither a number nor a comparison'
	wrong '{"lost":"x"}' '1: error: "lost" is neither a number nor a comparison'
	printf '{"lost":1}\n{"lost":1}' >r/tests/t.expect
	check -2 "$ASTERISM" test r
	[[ $output == *"t.expect:2:1: error: the losses to accept are given twice"* ]]
}

@test "wrong rules, events and parameters: told with their places, the other tests are run" {
	mkdir -p bad/tests
	echo 'RULE x PATTERN {' >bad/bad.rule
	cp r/tests/t.* bad/tests
	check -2 "$ASTERISM" test bad r
	[[ ${lines[1]} == "        $PWD/bad/bad.rule:1:"*": error: "* ]]
	[[ $output == *"ok    r/t.jsonl (T)
1 passed, 1 failed, 0 skipped" ]]
	cp r/r.rule bad/bad.rule
	echo '{"event":"B"}' >bad/tests/t.jsonl
	check -2 "$ASTERISM" test bad
	[[ ${lines[1]} == "        $PWD/bad/tests/t.jsonl:1:"*": error: unknown event type 'B'" ]]
	printf '{"event":"A","ts":2}\n{"event":"A","ts":1}\n' >bad/tests/t.jsonl
	check -2 "$ASTERISM" test bad
	[[ ${lines[1]} == *"t.jsonl:2:19: error: time goes back"* ]]
	for wrong in least =5 least= ' = '; do
		echo "$wrong" >r/tests/t.set
		check -2 "$ASTERISM" test r
		[ "${lines[1]}" = "        $PWD/r/tests/t.set:1:1: error: this is not NAME=VALUE" ]
	done
	echo lest=5 >r/tests/t.set
	check -2 "$ASTERISM" test r
	[[ $output == *"$PWD/r/tests/t.set:1:1: error: unknown parameter 'lest'"* ]]
	printf '# some\n\n  least =  9s \n' >r/tests/t.set
	check -2 "$ASTERISM" test r --set r.least=7
	[[ $output == *"$PWD/r/tests/t.set:3:12: error: the parameter 'least' takes an integer"* ]]
	printf '\x01=4' >r/tests/t.set
	check -2 "$ASTERISM" test r
	[[ $output == *"$PWD/r/tests/t.set"*": error: this is not text: byte 0x01 at offset 0"* ]]
}

@test "a signal ends the tests, and nothing stays" {
	mkdir tmp
	mv r/tests/t.jsonl r/tests/kept
	printf '#!/bin/sh\necho $$ >%s/pid\nsleep 300\n' "$PWD" >r/tests/t.events
	chmod +x r/tests/t.events
	TMPDIR=$PWD/tmp "$ASTERISM" test r >out 2>err 3>&- &
	tester=$!
	for i in $(seq 100); do
		[ -s pid ] && break
		sleep 0.05
	done
	kill -TERM "$tester"
	status=0
	wait "$tester" || status=$?
	[ "$status" = 2 ]
	grep -q "stopped before all tests were run" err
	run ! kill -0 "$(cat pid)"
	[ -z "$(ls -A tmp)" ]
}

@test "a script that needs programs of the project's tests is skipped by an installed asterism" {
	mkdir -p away/bin
	cp "$ASTERISM" away/bin/asterism
	rm r/tests/*
	printf '#!/bin/sh\n# no $ASTERISM_TEST_PROGRAMS/other\nexec "$ASTERISM_TEST_PROGRAMS/locks" deadly\n' >r/tests/live.sh
	printf '#!/bin/sh\nexec taskset -c 0 "${ASTERISM_TEST_PROGRAMS}/plant-locks" one\n' >r/tests/other.sh
	chmod +x r/tests/*.sh
	touch r/tests/live.expect r/tests/other.expect
	unset ASTERISM_TEST_PROGRAMS
	check -0 away/bin/asterism test r
	[ "$output" = "skip  r/live.sh: needs the program 'locks' of the project's own tests, which is not installed
skip  r/other.sh: needs the program 'plant-locks' of the project's own tests, which is not installed
0 passed, 0 failed, 2 skipped" ]
	check -0 away/bin/asterism test -f tap r
	[[ ${lines[1]} == "ok 1 - r/live.sh # SKIP needs the program 'locks' of "* ]]
	# Where there is such a folder, a script fails for what that lacks; only root gets as far.
	[ "$(id -u)" = 0 ] || return 0
	ASTERISM_TEST_PROGRAMS=$PWD/away check -1 away/bin/asterism test r
	[[ $output == *"0 passed, 2 failed, 0 skipped" ]]
}
