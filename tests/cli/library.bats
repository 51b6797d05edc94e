#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The shipped rules by their names, and parameters.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	export SHIPPED=$BATS_TEST_DIRNAME/../../rules
	cd "$BATS_TEST_TMPDIR"
	# A library of its own, so that what is said about it can be told exactly.
	export ASTERISM_RULES=$PWD/library
	entry slow 'PARAM slow_limit = 10; PARAM slow_word = "x"; EVENT A { x: i64 } RULE slow PATTERN { A:a } WHERE { a.x > slow_limit } RETURN { a.x AS x }' <<-'END'
		# slow

		Finds what is
		slow: as told. More of it.

		Kind: time
		Price: 1.02x
	END
	entry act 'EVENT A { x: i64 } RULE act PATTERN { A:a } DO { CALL Stop(#PID) }' <<-'END'
		Stops everything. Really.
		Needs: --allow-actions
	END
	entry model 'EVENT A { x: i64 } RULE model PATTERN { A:a }' <<-'END'
		To be changed.

		Kind: template
	END
	entry bare 'EVENT A { x: i64 } RULE bare PATTERN { A:a } WHERE { a.x == 7 }' </dev/null
	rm library/bare/README.md
	mkdir library/empty
	printf '{"event":"A","ts":1,"x":7}\n{"event":"A","ts":2,"x":20}\n' >events.jsonl
}

entry() {
	mkdir -p "library/$1"
	echo "$2" >"library/$1/$1.rule"
	cat >"library/$1/README.md"
}

@test "rules lists what there is, by kind" {
	run --separate-stderr -0 "$ASTERISM" rules
	[ -z "$stderr" ]
	[ "$output" = "template:
  @model  To be changed
time:
  @slow   Finds what is slow (price 1.02x)
other:
  @act    Stops everything (needs --allow-actions)
  @bare   " ]
}

@test "rules as JSON" {
	run --separate-stderr -0 "$ASTERISM" rules -f json
	[ ${#lines[@]} = 4 ]
	[ "${lines[0]}" = "{\"name\":\"act\",\"kind\":\"other\",\"finds\":\"Stops everything\",\"needs\":\"--allow-actions\",\"path\":\"$PWD/library/act/act.rule\"}" ]
	[[ ${lines[3]} == *'"kind":"time"'*'"needs":null'*'"price":"1.02x"'* ]]
	[[ ${lines[0]} != *price* ]]
	run --separate-stderr -0 "$ASTERISM" rules -f json slow
	[[ $output == *'"parameters":[{"name":"slow_limit","default":"10"},{"name":"slow_word","default":"\"x\""}]'* ]]
}

@test "rules NAME: description, parameters, file" {
	for name in slow @slow slo 'sl*'; do
		run --separate-stderr -0 "$ASTERISM" rules "$name"
		[ "$output" = "$(cat library/slow/README.md)

Parameters (--set NAME=VALUE):
  slow_limit = 10
  slow_word  = \"x\"

Rule: $PWD/library/slow/slow.rule" ]
	done
	run --separate-stderr -0 "$ASTERISM" rules 'a*'
	[[ $output == *"Rule: "*"/act.rule" ]]
	run --separate-stderr -0 "$ASTERISM" rules a
	[[ $output == *"@act "* && $output == *"@bare "* && $output != *"Rule: "* ]]
}

@test "rules of an unknown name, of no library" {
	run --separate-stderr -2 "$ASTERISM" rules slwo
	[ "$stderr" = "asterism: error: there is no shipped rule '@slwo'
help: did you mean @slow?" ]
	run --separate-stderr -2 "$ASTERISM" rules zzzzz
	[[ $stderr == *"'asterism rules' lists them"* ]]
	ASTERISM_RULES=$PWD/none run --separate-stderr -2 "$ASTERISM" rules
	[[ $stderr == *"cannot read the shipped rules in $PWD/none: No such file or directory" ]]
}

@test "@NAME wherever a rule file is taken" {
	run --separate-stderr -0 "$ASTERISM" check @slow @bare
	[ "$output" = "$PWD/library/slow/slow.rule:1: rule slow: OK (in the kernel)
$PWD/library/bare/bare.rule:1: rule bare: OK (in the kernel)" ]
	run --separate-stderr -0 "$ASTERISM" explain @slow
	[[ $output == *"slow"* ]]
	run --separate-stderr -0 "$ASTERISM" compile @slow -o slow.astc
	run --separate-stderr -0 "$ASTERISM" replay -f json @slow @bare events.jsonl
	[[ ${lines[0]} == '{"match":"bare","ts":1,'* && ${lines[1]} == '{"match":"slow","ts":2,'* ]]
	run --separate-stderr -0 "$ASTERISM" replay -q slow.astc events.jsonl
	[ ${#lines[@]} = 1 ]
}

@test "a machine is called one" {
	entry job 'EVENT A { x: i64 } MACHINE job KEY { x } POOL 1 STATE Idle { ON A -> Busy } STATE Busy { ON A -> END }' </dev/null
	run --separate-stderr -0 "$ASTERISM" check @job @bare
	[ "$output" = "$PWD/library/job/job.rule:1: machine job: OK (in the kernel)
$PWD/library/bare/bare.rule:1: rule bare: OK (in the kernel)" ]
	run --separate-stderr -3 "$ASTERISM" replay @job events.jsonl
	[[ $stderr == *"machine job lost 1 instances: its pool of 1 was full"*"'POOL n' in the machine sets how many of its instances may be open at once"* ]]
}

@test "@all leaves out templates and what needs something" {
	run --separate-stderr -0 "$ASTERISM" check @all @slow
	[[ $output == *"rule bare: OK (in the kernel)"*"rule slow: OK (in the kernel)" ]]
	[ ${#lines[@]} = 2 ]
	rm -r library/bare library/slow
	run --separate-stderr -2 "$ASTERISM" check @all
	[[ $stderr == *"has no rules that can be used as they are" ]]
}

@test "unknown @NAME, @NAME in place of a trace, a file that is called so" {
	run --separate-stderr -2 "$ASTERISM" replay @slwo events.jsonl
	[[ ${stderr_lines[0]} == *"there is no shipped rule '@slwo'" && ${stderr_lines[1]} == "help: did you mean @slow?" ]]
	run --separate-stderr -2 "$ASTERISM" replay events.jsonl @slow
	[[ ${stderr_lines[0]} == *"nothing to replay: the last argument, @slow, is a rule" ]]
	run --separate-stderr -2 "$ASTERISM" check @
	[[ ${stderr_lines[0]} == *"there is no shipped rule '@'" ]]
	run --separate-stderr -2 "$ASTERISM" check slow
	[[ $stderr == *"there is no file 'slow'"*"did you mean the shipped rule @slow?"* ]]
	run --separate-stderr -2 "$ASTERISM" check @../slow
	cp library/slow/slow.rule @mine
	run --separate-stderr -0 "$ASTERISM" check ./@mine
}

@test "--set changes parameters" {
	run --separate-stderr -0 "$ASTERISM" replay -q @slow events.jsonl --set slow_limit=5
	[ ${#lines[@]} = 2 ]
	run --separate-stderr -0 "$ASTERISM" replay -q @slow events.jsonl --set slow_limit=5 --set 'slow_word=a=b'
	[ ${#lines[@]} = 2 ]
	run --separate-stderr -0 "$ASTERISM" compile @slow --set=slow_limit=100 -o high.astc
	run --separate-stderr -0 "$ASTERISM" replay -q high.astc events.jsonl
	[ -z "$output" ]
}

@test "--set nonsense" {
	for wrong in slow_limit =5 slow_limit= 5=5 'a b=5' '' .a=5 a.=5 a.5=5 . .=5; do
		run --separate-stderr -2 "$ASTERISM" check @slow --set "$wrong"
		[ "${stderr_lines[0]}" = "asterism: error: --set: '$wrong' is not NAME=VALUE" ]
		[[ ${stderr_lines[1]} == "help: write, for example, --set "* ]]
	done
	run --separate-stderr -2 "$ASTERISM" check @slow --set slow_limit=5 --set slow_limit=6
	[[ $stderr == *"--set gives slow_limit two values: 5 and 6"* ]]
	run --separate-stderr -2 "$ASTERISM" check @slow --set slwo_limit=5
	[[ $stderr == *"unknown parameter 'slwo_limit'"*"did you mean 'slow_limit'?"* ]]
	run --separate-stderr -2 "$ASTERISM" check @slow --set slow_limit=abc
	[[ $stderr == *"--set:"*"error: "* ]]
	run --separate-stderr -2 "$ASTERISM" check @slow --set
	[[ $stderr == *"--set needs a value: NAME=VALUE"* ]]
}

@test "--set: a time without a unit counts ns, which is told" {
	entry late 'PARAM longest = 50ms; EVENT A { x: i64 } RULE late PATTERN { [A:a, A:b] } WHERE { b.ts - a.ts > longest }' </dev/null
	run --separate-stderr -0 "$ASTERISM" check @late --set longest=5
	[[ $stderr == *"--set:1:9: warning: the parameter 'longest' takes a time: a bare number counts nanoseconds"*"say the unit: longest=5ns, "* ]]
	for fine in 5ns 5ms 0; do
		run --separate-stderr -0 "$ASTERISM" check @late --set "longest=$fine"
		[ -z "$stderr" ]
	done
}

@test "--set: a constant of the family that the parameter is compared with" {
	ASTERISM_RULES=$SHIPPED
	for call in @slow-syscall @call-latency; do
		"$ASTERISM" explain "$call" --set call=74 >number
		"$ASTERISM" explain "$call" --set call=fsync >name
		cmp number name
	done
	run --separate-stderr -2 "$ASTERISM" check @call-latency --set call=fsnc
	[[ $stderr == *"no constant of 'syscall' is named 'fsnc'"*"did you mean 'fsync'?"* ]]
	run --separate-stderr -2 "$ASTERISM" check @call-latency --set call=SIGKILL
	[[ $stderr == *"no constant of 'syscall' is named 'SIGKILL'"* ]]
	run --separate-stderr -2 "$ASTERISM" check @top-syscalls --set keys=fsync
	[[ $stderr == *"'keys' is 'fsync'"* ]]
}

@test "--set for every file that has the parameter, and for one" {
	entry calm 'PARAM slow_limit = 30; EVENT A { x: i64 } RULE calm PATTERN { A:a } WHERE { a.x > slow_limit }' </dev/null
	names() {
		run --separate-stderr -0 "$ASTERISM" replay -q -f json "$@" @slow @calm events.jsonl
		output=$(sed -n 's/^{"match":"\([a-z]*\)","ts":\([0-9]*\).*/\1\2/p' <<<"$output" | tr '\n' ' ')
	}
	names
	[ "$output" = "slow2 " ]
	names --set slow_limit=5
	[ "$output" = "slow1 calm1 slow2 calm2 " ]
	names --set calm.slow_limit=15
	[ "$output" = "slow2 calm2 " ]
	# What one file is given counts, in whatever order.
	names --set slow.slow_limit=25 --set slow_limit=5
	[ "$output" = "calm1 calm2 " ]
	names --set slow_limit=5 --set slow.slow_limit=25
	[ "$output" = "calm1 calm2 " ]
	run --separate-stderr -2 "$ASTERISM" check @slow @calm --set clam.slow_limit=5
	[[ $stderr == *"unknown parameter 'clam.slow_limit'"*"did you mean 'calm.slow_limit'?"* ]]
	run --separate-stderr -2 "$ASTERISM" check @slow @calm --set calm.slow_limit=1s
	[[ $stderr == *"the parameter 'slow_limit' takes an integer"*"calm.rule:1:7: note: the parameter is declared here"* ]]
	run --separate-stderr -2 "$ASTERISM" check @slow @calm --set zzzzzzzz=1s
	[[ $stderr == *"the parameters are slow.slow_limit slow.slow_word calm.slow_limit"* ]]
	run --separate-stderr -2 "$ASTERISM" check @slow --set slow.slow_limit=5 --set slow.slow_limit=6
	[[ $stderr == *"--set gives slow.slow_limit two values: 5 and 6"* ]]
}

@test "--set and a compiled image" {
	run --separate-stderr -0 "$ASTERISM" compile @slow -o slow.astc
	run --separate-stderr -2 "$ASTERISM" replay slow.astc events.jsonl --set slow_limit=5
	[[ $stderr == "slow.astc: error: cannot set slow_limit: this is a compiled image, whose parameters are fixed"* ]]
}

@test "record: --set needs --rules" {
	run --separate-stderr -2 "$ASTERISM" record -o out --set a=5 -- true
	[[ $stderr == *"--set needs rules: name rule files, or add --rules FILE"* ]]
	run --separate-stderr -2 "$ASTERISM" record -o out --rules @slwo -- true
	[[ $stderr == *"there is no shipped rule '@slwo'"* ]]
}

@test "the shipped library is found, fits together, and says what it needs" {
	unset ASTERISM_RULES
	run --separate-stderr -0 "$ASTERISM" rules long-syscall
	[[ $output == "# long-syscall"* ]]
	export ASTERISM_RULES=$SHIPPED
	run --separate-stderr -0 "$ASTERISM" check -q @all
	[ -z "$stderr" ]
	run --separate-stderr -0 "$ASTERISM" rules
	[[ $output != *"other:"* ]]
	for folder in "$SHIPPED"/*/; do
		name=$(basename "$folder")
		if grep -Eqi 'CALL +(Stop|Abort|BoostThreadPriority|ShareCpu|Kill|Signal|SendSignal|Freeze|Veto)' "$folder/$name.rule"; then
			grep -q '^Needs: --allow-actions$' "$folder/README.md"
		fi
		# What @all consists of was measured.
		grep -Eq '^Kind: (overview|template)|^Needs: |^Price: [1-9]\.[0-9]{2}x$' "$folder/README.md"
	done
}

@test "@all asks for nothing that no kernel raises" {
	export ASTERISM_RULES=$SHIPPED
	run --separate-stderr -0 "$ASTERISM" check @all
	[[ $output == *"/long-syscall.rule:"* && $output != *"/kernel-locks.rule:"* ]]
}

@test "what helps against missing events is said once; for events that are only declared, where they come from" {
	export ASTERISM_RULES=$SHIPPED
	make_trace=$(dirname "$ASTERISM")/../../tests/trace/make-trace
	"$make_trace" -n 10 t
	run --separate-stderr -2 "$ASTERISM" replay @kernel-locks t
	[ "$(grep -c ': error: machine' <<<"$stderr")" -gt 1 ]
	[[ $stderr != *"asterism record"* ]]
	[ "$(grep -c '^help: ' <<<"$stderr")" = 1 ]
	[[ ${stderr_lines[-1]} == "help: these events are only declared"*"'asterism rules NAME'"* ]]
	run --separate-stderr -2 "$ASTERISM" replay @all t
	[ "$(grep -c ': error: ' <<<"$stderr")" -gt 1 ]
	[ "$(grep -c '^help: ' <<<"$stderr")" = 1 ]
	[ "${stderr_lines[-1]}" = "help: record what the rules need: asterism record -o DIR @all -- CMD" ]
}
