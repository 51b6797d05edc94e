#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# replay of several inputs and of parts of them: what is a rule and what a trace, the order, the window.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	cd "$BATS_TEST_TMPDIR"
	cat >types.rule <<-'END'
		EVENT A { x: i64 }
		EVENT B { x: i64 }
	END
	echo 'RULE pair PATTERN { [A:a, B:b] } WHERE { [x] } RETURN { a.x AS x }' >pair.rule
	echo 'RULE every PATTERN { A:a } RETURN SEQUENCE' >every.rule
	cat >a.jsonl <<-'END'
		{"event":"A","ts":1000,"x":1}
		{"event":"A","ts":2000,"x":2}
		{"event":"A","ts":3000,"x":3}
	END
	cat >b.jsonl <<-'END'
		{"event":"B","ts":1500,"x":1}
		{"event":"B","ts":2000,"x":2}
		{"event":"B","ts":2999,"x":3}
	END
}

# The values of x of the matches of pair.
pairs() {
	run --separate-stderr -0 "$ASTERISM" replay -f json "$@"
	got=$(grep -o '"return":{"x":[0-9]*' <<<"$output" | grep -o '[0-9]*$' | tr '\n' ' ')
}

@test "two inputs are merged by time; equal times in the order of the inputs" {
	pairs types.rule pair.rule a.jsonl b.jsonl
	[ "$got" = "1 2 " ]
	[[ ${lines[-1]} == *'"events":6,'* ]]
	pairs types.rule pair.rule b.jsonl a.jsonl
	[ "$got" = "1 " ]
}

@test "ordinals count the events of all inputs" {
	run --separate-stderr -0 "$ASTERISM" replay -f json types.rule every.rule b.jsonl a.jsonl
	[ "$(grep -o '"seq":[0-9]*' <<<"$output" | tr '\n' ' ')" = '"seq":1 "seq":4 "seq":6 ' ]
}

@test "rules and traces in any order, as long as a trace is last" {
	pairs a.jsonl pair.rule types.rule b.jsonl
	[ "$got" = "1 2 " ]
	mv a.jsonl a
	pairs types.rule a pair.rule b.jsonl
	[ "$got" = "1 2 " ]
	mv b.jsonl b
	pairs types.rule pair.rule a b
	[ "$got" = "1 2 " ]
	pairs types.rule pair.rule a - <b
	[ "$got" = "1 2 " ]
}

@test "rules from standard input, compiled rules, files named like nothing" {
	cat types.rule pair.rule >all
	pairs - a.jsonl b.jsonl <all
	[ "$got" = "1 2 " ]
	"$ASTERISM" compile all -o image
	pairs image a.jsonl b.jsonl
	[ "$got" = "1 2 " ]
}

@test "no rule, or a rule where the trace should be: a sentence each, status 2" {
	run --separate-stderr -2 "$ASTERISM" replay a.jsonl b.jsonl
	[ "${stderr_lines[0]}" = "asterism: error: no rule was given: a.jsonl is a trace" ]
	run --separate-stderr -2 "$ASTERISM" replay types.rule a.jsonl pair.rule
	[ "${stderr_lines[0]}" = "asterism: error: nothing to replay: the last argument, pair.rule, is a rule file" ]
	run --separate-stderr -2 "$ASTERISM" replay types.rule pair.rule missing.jsonl b.jsonl
	[ "$stderr" = "missing.jsonl: error: no such file" ]
}

@test "an error names the input and the line" {
	echo '{"event":"B","ts":9}' >>b.jsonl
	run --separate-stderr -2 "$ASTERISM" replay types.rule pair.rule a.jsonl b.jsonl
	[[ $stderr == "b.jsonl:4:"*"error: "* ]]
}

@test "--from and --to: after the first event, or on the events' clock" {
	pairs --from 500ns types.rule pair.rule a.jsonl b.jsonl
	[ "$got" = "2 " ]
	[[ ${lines[-1]} == *'"events":5,'* ]]
	pairs --to 1us types.rule pair.rule a.jsonl b.jsonl
	[ "$got" = "1 " ]
	[[ ${lines[-1]} == *'"events":2,'* ]]
	pairs --from @1000 --to @2001 types.rule pair.rule a.jsonl b.jsonl
	[ "$got" = "1 2 " ]
	pairs --from 0 --to 0.000001001 types.rule pair.rule a.jsonl b.jsonl
	[ "$got" = "1 2 " ]
	pairs --from @2us --to @18446744073709551615 types.rule pair.rule a.jsonl b.jsonl
	[ "$got" = "2 " ]
	pairs --from 1h types.rule pair.rule a.jsonl b.jsonl
	[ "$got" = "" ]
	for command in dump "replay types.rule pair.rule" report; do
		run --separate-stderr -2 "$ASTERISM" $command --from 2us --to 1us a.jsonl
		[ "$stderr" = "asterism: error: --to 1us is not after --from 2us" ]
	done
}

@test "--to ends the time, too: what would have run out later has not" {
	echo 'RULE alone PATTERN { [A:a, ~B:b] } WHERE { [x] } WITHIN 600ns RETURN { a.x }' >alone.rule
	run --separate-stderr -0 "$ASTERISM" replay -f json types.rule alone.rule a.jsonl b.jsonl
	[[ ${lines[-1]} == *'"matches":0,'* ]]
	run --separate-stderr -0 "$ASTERISM" replay -f json types.rule alone.rule a.jsonl
	[[ ${lines[-1]} == *'"matches":2,'* ]]
	run --separate-stderr -0 "$ASTERISM" replay -f json --to @2999 types.rule alone.rule a.jsonl
	[[ ${lines[-1]} == *'"matches":1,'* ]]
}

@test "times that are none: status 2" {
	for time in soon -1 @ @-1 1x @1x "1 s" ""; do
		run --separate-stderr -2 "$ASTERISM" replay --from "$time" types.rule pair.rule a.jsonl
		[ "${stderr_lines[0]}" = "asterism: error: --from: invalid time '$time'" ]
	done
}

@test "the kernel's matcher takes windows and several inputs, too" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	run --separate-stderr "$ASTERISM" replay --engine kernel -f json --to @2001 types.rule pair.rule a.jsonl b.jsonl
	[ "$status" != 4 ] || skip "this kernel lacks something: ${stderr_lines[0]}"
	[ "$(grep -c '"match":"pair"' <<<"$output")" = 2 ]
}

@test "--jobs: the same matches in the same order, the same counts" {
	seq 1 20000 | sed 's/.*/{"event":"A","ts":&,"tid":&,"x":&}\n{"event":"B","ts":&,"tid":&,"x":&}/' >many.jsonl
	for n in 1 2 3 4 5; do
		echo "RULE r$n PATTERN { [A:a, B:b] } WHERE { [x], a.x % $n == 0 } RETURN { a.x }"
	done >many.rule
	for jobs in 1 2 4; do
		run -0 "$ASTERISM" replay -q -f json --jobs $jobs -o out.$jobs types.rule many.rule many.jsonl
		sed -i 's/"seconds":.*"lost":0,"rules"/"rules"/' out.$jobs
	done
	[ "$(wc -l <out.1)" = 45667 ]
	cmp out.1 out.2
	cmp out.1 out.4
	run --separate-stderr -2 "$ASTERISM" replay --jobs 0 types.rule many.rule many.jsonl
	[ "${stderr_lines[0]}" = "asterism: error: --jobs: '0' is not a NUMBER" ]
}

@test "--jobs: -v says how many threads match; one rule is matched by the thread that reads" {
	echo "RULE r PATTERN { [A:a, B:b] } WHERE { [x] } RETURN { a.x }" >one.rule
	echo "RULE s PATTERN { [B:b, A:a] } WHERE { [x] } RETURN { a.x }" >other.rule
	run --separate-stderr -0 "$ASTERISM" replay -v -f json --jobs 2 types.rule one.rule a.jsonl
	[ -z "$stderr" ]
	run --separate-stderr -0 "$ASTERISM" replay -v -f json --jobs 3 types.rule one.rule other.rule a.jsonl
	[ "$stderr" = "asterism: note: matched in 2 threads" ]
}

@test "--jobs: a wrong line is told once" {
	{
		seq 1 100 | sed 's/.*/{"event":"A","ts":&,"tid":&,"x":&}/'
		echo '{"event":"A","ts":200}'
	} >wrong.jsonl
	printf 'RULE %s PATTERN { [A:a, B:b] } WHERE { [tid] } POOL 8 RETURN { a.x }\n' r s >two.rule
	for jobs in 1 2; do
		run --separate-stderr -2 "$ASTERISM" replay -f json --jobs $jobs types.rule two.rule wrong.jsonl
		[[ $stderr == *"wrong.jsonl:101"* ]]
		printf '%s\n' "$stderr" >err.$jobs
	done
	cmp err.1 err.2
}

@test "--from behind the end: a warning says where the end is" {
	local at='is 0.000002500 s after the first, at @3500'
	printf '{"event":"A","ts":%s,"x":1}\n' 1000 3500 >short.jsonl
	run --separate-stderr -0 "$ASTERISM" replay --from 1s types.rule pair.rule short.jsonl
	[[ $stderr == *"warning: all events are before --from: the last event that rules look at $at"* ]]
	sed 's/"A"/"sys_enter_close"/; s/"x"/"fd"/' short.jsonl >calls.jsonl
	for command in dump stat; do
		run --separate-stderr -0 "$ASTERISM" $command --from @3501 calls.jsonl
		[ "$stderr" = "asterism: warning: --from is after the last event, which $at" ]
		run --separate-stderr -0 "$ASTERISM" $command --from @3500 calls.jsonl
		[ -z "$stderr" ]
	done
	run --separate-stderr -0 "$ASTERISM" replay -q --from @3500 types.rule pair.rule short.jsonl
	[ -z "$stderr" ]
}
