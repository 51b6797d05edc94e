#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Rules as text on the command line: -r.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	cd "$BATS_TEST_TMPDIR"
	cat >trace.jsonl <<-'END'
		{"event":"sys_enter_close","ts":10,"cpu":0,"pid":1,"tid":1,"comm":"a","fd":3}
		{"event":"sys_enter_close","ts":20,"cpu":0,"pid":1,"tid":1,"comm":"a","fd":4}
		{"event":"sys_enter_close","ts":30,"cpu":0,"pid":2,"tid":2,"comm":"b","fd":3}
	END
	cat >file.rule <<-'END'
		RULE named PATTERN { sys_enter_close:a } WHERE { a.fd == 4 }
	END
}

matches() {
	grep -o '"match":"[a-z0-9]*"' <<<"$output" | sort | uniq -c | sed 's/^ *//'
}

@test "a structure and what stands behind it is a rule called rule" {
	run -0 --separate-stderr "$ASTERISM" replay -f json -r '[sys_enter_close:a, sys_enter_close:b] WHERE { [pid] } RETURN { b.fd AS fd }' trace.jsonl
	[ "$(matches)" = '1 "match":"rule"' ]
	[[ $output == *'"return":{"fd":4}'* ]]
}

@test "any structure will do: one event, an alternative, a sequence with a negation" {
	for text in sys_enter_close '(sys_enter_close | sys_enter_openat)' '[sys_enter_close, ~sys_enter_openat, sys_enter_close]' \
		'sys_enter_close:a WITHIN 1s RETURN { a.fd }' $'\n\t  sys_enter_close'; do
		run -0 "$ASTERISM" check -r "$text"
		[[ $output == *"rule rule: OK (in the kernel)"* ]]
	done
}

@test "what begins with a keyword of a file, or a comment, is the text of a file" {
	run -0 "$ASTERISM" check -r 'RULE x PATTERN { sys_enter_close }'
	[[ $output == *"rule x: OK (in the kernel)"* ]]
	run -0 "$ASTERISM" check -r 'EVENTS "completed.events" RULE y PATTERN { descriptor_closed }'
	[[ $output == *"rule y: OK (in the kernel)"* ]]
	run -2 "$ASTERISM" check -r '/* a comment */ sys_enter_close'
	[[ $output == *"expected RULE, MACHINE, PARAM, EVENT or EVENTS"* ]]
}

@test "texts and files go together, and a second text has a rule of its own" {
	run -0 --separate-stderr "$ASTERISM" replay -f json file.rule -r 'sys_enter_close:a WHERE { a.fd == 3 }' -r 'sys_enter_close' trace.jsonl
	[ "$(matches)" = $'1 "match":"named"\n2 "match":"rule"\n3 "match":"rule2"' ]
}

@test "an error is shown where it stands in the text" {
	run -2 "$ASTERISM" check -r '[sys_enter_close, sys_enter_clos]'
	[[ ${lines[0]} == "-r:1:19: error: unknown event type 'sys_enter_clos'"* ]]
	run -2 "$ASTERISM" check -r sys_enter_close -r ''
	[[ ${lines[0]} == "-r 2:1:1: error: no rules here" ]]
}

@test "parameters and catalogs of the working directory belong to a text as to a file" {
	printf 'EVENT mine { n: i64 }\n' >own.events
	run -0 "$ASTERISM" check -r 'PARAM least = 3 EVENTS "own.events" RULE z PATTERN { mine:a } WHERE { a.n > least }' --set least=9
	[[ $output == *"rule z: OK (in the kernel)"* ]]
}

@test "a replay without a trace, and commands without any rule, say what they need" {
	run -2 "$ASTERISM" replay -r sys_enter_close -r sys_enter_close
	[[ ${lines[0]} == "asterism: error: nothing to replay: no trace was given" ]]
	run -2 "$ASTERISM" check
	[[ ${lines[0]} == *"needs {FILE | -r TEXT}..."* ]]
}
