#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Event lines that are wrong: what matched before is written, the line is named, status 2.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR"
	cat >pair.rule <<-'END'
		EVENT A { x: i64 }
		EVENT B { x: i64, s: string, f: f64, b: bool, u: u8 }
		RULE pair PATTERN { [A:a, A:b] } WHERE { [x] } RETURN { a.x AS x }
	END
	printf '{"event":"A","ts":1,"x":7}\n{"event":"A","ts":3,"x":7}\n' >good
	match='{"match":"pair","ts":3,"cpu":0,"pid":0,"tid":0,"comm":"","return":{"x":7},"tainted":false}'
}

# `refused ERROR LINE`: the line as the third one, followed by a good one; as a file, from a pipe and as the last line
# without its end. `FILE` stands for the input's name in the pattern of the first line of the error.
refused() {
	{ cat good; printf '%s\n' "$2"; echo '{"event":"A","ts":30,"x":7}'; } >bad.jsonl
	replayed bad.jsonl
	expect "${1//FILE/bad.jsonl}"
	cat bad.jsonl | replayed -
	load_replayed
	expect "${1//FILE/<stdin>}"
	{ cat good; printf '%s' "$2"; } >bad.jsonl
	replayed bad.jsonl
	expect "${1//FILE/bad.jsonl}"
}

# `replayed FILE`: ends with status 2; what it says is left as run leaves it, which takes longer than a replay.
replayed() {
	local status=0
	timeout $((10 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" replay -f json pair.rule "$1" >out 2>err || status=$?
	load_replayed
	[ $status = 2 ] || { echo "status $status: $stderr"; false; }
}

load_replayed() {
	output=$(<out) stderr=$(<err)
	mapfile -t stderr_lines <err
}

expect() {
	# shellcheck disable=SC2053
	[[ ${stderr_lines[0]} == $1 ]] || { echo "got: ${stderr_lines[0]:0:300}"; echo "not: $1"; false; }
	[ ${#stderr} -lt 2000 ]
	[ "$output" = "$match" ]
}

@test "time that goes back, is negative, too large or no integer" {
	refused 'FILE:3:19: error: time goes back: ts 2 after an event at 3' '{"event":"A","ts":2,"x":7}'
	refused 'FILE:3:*: error: time goes back: ts 0 *' '{"event":"A","x":7}'
	refused 'FILE:3:19: error: ts is time, from 0 to *: -4 does not fit' '{"event":"A","ts":-4,"x":7}'
	refused 'FILE:3:19: error: ts is time, *: 9223372036854775808 does not fit' '{"event":"A","ts":9223372036854775808,"x":7}'
	refused 'FILE:3:19: error: ts is time, not a number with a fraction' '{"event":"A","ts":4.5,"x":7}'
	refused 'FILE:3:*: error: the time is neither ns nor a date such as *' '{"event":"A","ts":"5","x":7}'
}

@test "unknown types and fields, with the nearest" {
	refused "FILE:3:11: error: unknown event type 'sys_entr'" '{"event":"sys_entr","ts":5}'
	[[ $stderr == *"help: did you mean 'sys_enter'?"* ]]
	refused 'FILE:3:1: error: the object does not say which event it is' '{"ts":5,"x":7}'
	refused "FILE:3:10: error: the event's name is not a string" '{"event":5,"ts":5}'
	refused "FILE:3:28: error: event A has no field 'y'" '{"event":"A","ts":5,"x":7,"y":8}'
}

@test "fields that are missing, given twice or of the wrong type" {
	refused "FILE:3:*: error: field 'x' of A is missing" '{"event":"A","ts":5}'
	refused "FILE:3:*: error: field 'x' is given twice" '{"event":"A","ts":5,"x":7,"x":7}'
	for value in '"7"' 7.5 null true '[7]' '{"v":7}' 9223372036854775808; do
		refused 'FILE:3:2[56]: error: x is i64, *' '{"event":"A","ts":5,"x":'"$value"'}'
	done
	for wrong in '"s":7' '"f":"1"' '"b":1' '"u":256' '"u":-1'; do
		line='{"event":"B","ts":5,"x":7,"s":"","f":1,"b":true,"u":1}'
		name=${wrong%%:*}
		refused "FILE:3:*: error: ${name//\"/} is *" "$(sed -E "s/$name:[^,}]*/$wrong/" <<<"$line")"
	done
	refused 'FILE:3:*: error: cpu is u32, *' '{"event":"A","ts":5,"cpu":-1,"x":7}'
	refused 'FILE:3:*: error: comm is string, *' '{"event":"A","ts":5,"comm":3,"x":7}'
}

@test "what is no JSON, and lines that are cut" {
	refused "FILE:3:1: error: not JSON: *" 'not json'
	refused "FILE:3:1: error: not JSON: *" '[1,2]'
	refused "FILE:3:1: error: not JSON: *" '"A"'
	refused 'FILE:3:27: error: not JSON: *' '{"event":"A","ts":5,"x":7}{"event":"A","ts":6,"x":7}'
	whole='{"event":"A","ts":5,"x":7}'
	for ((length = 1; length < ${#whole}; length++)); do
		refused "FILE:3:*: error: *" "${whole:0:length}"
	done
}

@test "binary input, deep input, huge lines" {
	head -c 3000 /dev/urandom | tr -d '\n' >random
	refused 'FILE:3:*: error: not JSON: *' "$(tr -d '\0' <random)"
	refused 'FILE:3:*: error: not JSON: values are nested too deep' "{\"event\":\"A\",\"x\":$(head -c 90000 /dev/zero | tr '\0' '[')"
	{ cat good; printf '{"event":"A","ts":5,"x":'; head -c 20000000 /dev/zero | tr '\0' 1; } >bad.jsonl
	for file in bad.jsonl -; do
		run --separate-stderr -2 timeout $((10 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" replay -f json pair.rule $file <bad.jsonl
		expect '*:3:1: error: the line is longer than 1 MiB'
	done
}

@test "the kernel's matcher refuses the same lines" {
	echo '{"event":"A","ts":2,"x":7}' >>good
	run --separate-stderr "$ASTERISM" replay -f json --engine kernel pair.rule good
	[ "$status" != 4 ] || skip "$stderr"
	expect 'good:3:19: error: time goes back: ts 2 after an event at 3'
	[ "$status" = 2 ]
}

@test "no events are no error" {
	for input in /dev/null -; do
		run --separate-stderr -0 "$ASTERISM" replay -f json pair.rule $input </dev/null
		[[ $output == '{"stats":{"events":0,'* ]]
		[ -z "$stderr" ]
	done
	printf '\n\n  \r\n' >blank
	run --separate-stderr -0 "$ASTERISM" replay -q pair.rule blank
	[ -z "$output$stderr" ]
}

@test "a match is there as soon as its event has come through the pipe" {
	mkfifo pipe
	"$ASTERISM" replay -f json pair.rule pipe >out 2>err 3>&- &
	exec 7>pipe
	cat good >&7
	for _ in {1..50}; do
		[ -s out ] && break
		sleep 0.1
	done
	[ "$(cat out)" = "$match" ]
	echo 'broken' >&7
	exec 7>&-
	ended=0
	wait $! || ended=$?
	[ "$ended" = 2 ]
	[[ $(cat err) == "pipe:3:1: error: not JSON: "* ]]
}
