#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Rule files and images that are wrong in every way: a clear error with its place, status 2, soon.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR"
	declared='EVENT A { x: i64 }
EVENT B { x: i64 }
'
	good="${declared}RULE pair PATTERN { [A:a, B:b] } WHERE { [x] } RETURN { a.x AS x }"
	echo "$good" >good.rule
}

# `refused FIRST-LINE ARG...`: status 2 within ten seconds of a quiet machine, nothing on standard output, and this first line of an
# error (a pattern), of at most 400 bytes.
refused() {
	run --separate-stderr -2 timeout $((10 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" "${@:2}"
	[ -z "$output" ]
	# shellcheck disable=SC2053
	[[ ${stderr_lines[0]} == $1 ]] || { echo "got: ${stderr_lines[0]:0:400}"; echo "not: $1"; false; }
	[ ${#stderr_lines[0]} -le 400 ]
}

@test "empty and blank files" {
	: >empty.rule
	printf ' \n\t// nothing\n' >blank.rule
	for file in empty.rule blank.rule /dev/null; do
		refused "$file:1:1: error: no rules here" check "$file"
	done
}

@test "files that are no text" {
	printf '\xc0\xff\x00\x01' >binary.rule
	refused 'binary.rule: error: this is not text: byte 0xc0 at offset 0' check binary.rule
	printf 'RULE a\0b PATTERN { A }' >nul.rule
	refused 'nul.rule: byte 6: error: this is not text: byte 0x00 *' check nul.rule
	printf 'RULE a\xc2\x9bb PATTERN { A }' >c1.rule
	refused 'c1.rule: byte 6: error: this is not text: byte 0xc2 *' check c1.rule
	head -c 100000 /dev/urandom >random.rule
	refused 'random.rule*error: *' check random.rule
}

@test "files that are too large or not files" {
	refused '/dev/zero: error: this file is too large: the limit is 16 MiB*' check /dev/zero
	head -c 17000000 /dev/zero | tr '\0' ' ' >large.rule
	refused 'large.rule: error: this file is too large: the limit is 16 MiB*' check large.rule
	mkdir folder
	refused 'folder: error: this is a directory, not a file' check folder
	refused 'none.rule: error: no such file' check none.rule
	refused '*error: no such file' check ''
}

@test "a file that may not be read" {
	chmod 000 good.rule
	chmod 755 .
	if [ "$(id -u)" = 0 ]; then
		command -v setpriv >/dev/null || skip "setpriv is not installed"
		run --separate-stderr -2 setpriv --reuid 65534 --clear-groups "$ASTERISM" check good.rule
		[ -n "$stderr" ] || skip "asterism itself may not be run by others here"
	else
		run --separate-stderr -2 "$ASTERISM" check good.rule
	fi
	[ "$stderr" = 'good.rule: error: cannot read this file: permission denied' ]
}

@test "a megabyte of one bracket, and ten in the long run, at any place" {
	# Each level of a recursion would take more than the 8 bytes that a stack of 8 MB had for it.
	head -c 1000000${ASTERISM_TEST_LONG:+0} /dev/zero | tr '\0' '[' >brackets
	refused "brackets:1:1: error: expected RULE, MACHINE, PARAM, EVENT or EVENTS but found '?'" check brackets
	{ printf 'RULE r PATTERN { '; cat brackets; } >pattern.rule
	refused 'pattern.rule:1:82: error: the pattern is nested more than 64 levels deep' check pattern.rule
	{ printf '%sRULE r PATTERN { A:a } WHERE { ' "$declared"; tr '[' '(' <brackets; } >where.rule
	refused 'where.rule:3:96: error: the expression is nested more than 64 levels deep' check where.rule
	{ printf 'RULE r PATTERN { '; tr '[' '~' <brackets; } >negated.rule
	refused 'negated.rule:1:82: error: the pattern is nested more than 64 levels deep' check negated.rule
	{ printf '/*'; cat brackets; } >comment.rule
	refused 'comment.rule:1:1: error: the comment is not closed' check comment.rule
	{ printf 'EVENTS "'; cat brackets; } >string.rule
	refused 'string.rule:1:8: error: the string is not closed' check string.rule
	{ printf 'RULE '; tr '[' 'r' <brackets; } >name.rule
	refused 'name.rule:1:6: error: a name has at most 255 bytes' check name.rule
}

@test "nesting and width beyond the limits" {
	for i in {1..100}; do printf '(' ; done >open
	printf '%sRULE r PATTERN { A:a } WHERE { %s a.x%s == 1 }' "$declared" "$(cat open)" "$(tr '(' ')' <open)" >deep.rule
	refused 'deep.rule:3:*: error: the expression is nested more than 64 levels deep' check deep.rule
	printf '%sRULE r PATTERN { %sA, B%s }' "$declared" "$(tr '(' '[' <open)" "$(tr '(' ']' <open)" >deep.rule
	refused 'deep.rule:3:*: error: the pattern is nested more than 64 levels deep' check deep.rule
	printf '%sRULE r PATTERN { [%s B] }' "$declared" "$(yes 'A,' | head -n 2000 | tr -d '\n')" >wide.rule
	refused 'wide.rule:3:*: error: the pattern has more than 1024 events' check wide.rule
}

@test "unknown events, fields and words: each named, with the nearest" {
	echo 'RULE r PATTERN { [sched_swich:a, sys_exit:b] } WHERE { [tidd], a.prev_comm == "x" } WITHIN 5 ss' >unknown.rule
	refused "unknown.rule:1:19: error: unknown event type 'sched_swich'" check unknown.rule
	[[ $stderr == *"help: did you mean 'sched_switch'?"* ]]
	[[ $stderr == *"unknown.rule:1:57: error: event 'sys_exit' has no field 'tidd'"*"help: did you mean 'tid'?"* ]]
	[[ $stderr == *"unknown.rule:1:94: error: "* ]]
	echo 'RULE r PATTERN { sys_exit:b } WHERE { b.rett == 1 }' >field.rule
	refused "field.rule:1:41: error: *'rett'" check field.rule
	[[ $stderr == *"help: did you mean 'ret'?"* ]]
}

@test "a million errors are not a million messages" {
	for i in {1..2000}; do echo "RULE r$i PATTERN { [Z:a, Y:b] }"; done >many.rule
	refused "many.rule:1:*: error: unknown event type 'Z'" check many.rule
	[ ${#stderr_lines[@]} -lt 150 ]
}

@test "two rules of one name: both places" {
	printf '%s\nRULE pair PATTERN { A:a }\n' "$good" >two.rule
	refused "two.rule:4:6: error: two rules are named 'pair'" check two.rule
	[[ $stderr == *"two.rule:3:6: note: the other one is here"* ]]
	echo 'RULE pair PATTERN { sys_exit:a }' >other.rule
	refused "other.rule:1:6: error: two rules are named 'pair'" check good.rule other.rule
	[[ $stderr == *"good.rule:3:6: note: the other one is here"* ]]
}

@test "pools of impossible sizes" {
	for pool in 0 16777217 1099511627776; do
		echo "$good POOL $pool" >pool.rule
		refused "pool.rule:3:73: error: POOL must be between 1 and 16777216" check pool.rule
	done
	echo "$good POOL 99999999999999999999999" >pool.rule
	refused "pool.rule:3:73: error: '99999999999999999999999' is too large" check pool.rule
	for pool in -1 many 1.5 '"1"'; do
		echo "$good POOL $pool" >pool.rule
		refused 'pool.rule:3:73: error: *' check pool.rule
	done
	for pool in 1 16777216; do
		echo "$good POOL $pool" >pool.rule
		run -0 "$ASTERISM" check pool.rule
	done
}

@test "every command refuses a wrong file alike, and before it needs a privilege" {
	echo 'RULE r PATTERN { Z:a }' >wrong.rule
	: >events
	error="wrong.rule:1:18: error: unknown event type 'Z'"
	refused "$error" check wrong.rule
	refused "$error" explain wrong.rule
	refused "$error" compile wrong.rule -o image
	refused "$error" replay wrong.rule events
	refused "$error" replay --engine kernel wrong.rule events
	refused "$error" run wrong.rule -- touch ran
	refused "$error" run -a wrong.rule
	[ ! -e ran ] && [ ! -e image ]
	refused '<stdin>:1:18: error: unknown event type *' check - <wrong.rule
	refused '<stdin>:1:1: error: no rules here' check - </dev/null
}

@test "line ends, byte order mark and names of any kind are no errors" {
	printf '\xef\xbb\xbfEVENT A { x: i64 }\r\nRULE r PATTERN { A:a }\r\nRETURN { a.x +\r\n\t1 }\r\n' >dos.rule
	echo '{"event":"A","ts":1,"x":6}' >one
	run --separate-stderr -0 "$ASTERISM" replay -f json dos.rule one
	[[ ${lines[0]} == *'"return":{"a.x + 1":7}'* ]]
	name=$(printf 'odd \xff\n\x1b name.rule')
	cp good.rule "$name"
	run -0 "$ASTERISM" check "$name"
	echo 'RULE r PATTERN { Z:a }' >"$name"
	run --separate-stderr -2 "$ASTERISM" check "$name"
	[ "${stderr_lines[0]}" = "odd ??? name.rule:1:18: error: unknown event type 'Z'" ]
}

@test "messages never pass control characters on to the terminal" {
	printf 'EVENT A { x: i64 }\nRULE r PATTERN { \x1bA }\n' >escape.rule
	run --separate-stderr -2 "$ASTERISM" check escape.rule
	[[ $stderr != *$'\x1b'* ]]
	printf '\x1b]0;title\x07\xff\xc2\x9b2J' >escape.jsonl
	run --separate-stderr -2 "$ASTERISM" replay good.rule escape.jsonl
	[[ $stderr != *$'\x1b'* && $stderr != *$'\x07'* && $stderr != *$'\xc2\x9b'* ]]
}

@test "images: what is cut or altered is refused, by every command" {
	"$ASTERISM" compile good.rule -o good.astc
	: >events
	python3 - "$ASTERISM" <<-'END'
		import os, subprocess, sys
		# Each takes a process; the unit tests of images alter and cut at every byte.
		all = "ASTERISM_TEST_LONG" in os.environ
		image = open("good.astc", "rb").read()
		def check(bytes, what):
		    open("bad.astc", "wb").write(bytes)
		    done = subprocess.run([sys.argv[1], "check", "bad.astc"], capture_output=True, timeout=10)
		    error = done.stderr.decode()
		    assert done.returncode == 2 and not done.stdout, (what, done)
		    assert error.startswith("bad.astc") and ": error: " in error, (what, error)
		    assert len(error) < 400, (what, error)
		for length in range(0, len(image), 7 if all else 89):
		    check(image[:length], f"cut to {length}")
		check(image + b"\0", "one byte more")
		# Magic and version, the header, and the tables, which the checksum guards.
		header, tables = (range(144), range(144, len(image), 3)) if all else ([*range(24), *range(24, 144, 5)], range(144, len(image), 61))
		for at in [*header, *tables]:
		    check(image[:at] + bytes([image[at] ^ 0x01]) + image[at + 1:], f"byte {at} altered")
	END
	head -c 300 good.astc >short.astc
	for command in "check short.astc" "explain short.astc" "replay short.astc events" "run short.astc -- touch ran" \
		"compile short.astc -o again.astc"; do
		refused 'short.astc: byte *: error: the image is truncated' $command
	done
	[ ! -e ran ] && [ ! -e again.astc ]
	{ printf ASTC; head -c 4000 /dev/urandom; } >random.astc
	refused 'random.astc: byte *: error: *' check random.astc
}

@test "compile --header: an image has the same header as its text; what cannot be written, or cannot be in C" {
	"$ASTERISM" compile good.rule -o good.astc
	"$ASTERISM" compile --header good.rule -o text.h
	"$ASTERISM" compile --header good.astc >image.h
	cmp text.h image.h
	refused 'asterism: error: cannot write missing/x.h: No such file or directory' compile --header good.rule -o missing/x.h
	{ printf 'RULE many PATTERN { sys_enter:a } RETURN { a.tid'; printf ', a.id AS v%d' $(seq 64); echo ' }'; } >many.rule
	refused 'asterism: error: rule many returns 65 values; a C structure holds 64' compile --header many.rule -o many.h
	[ ! -e many.h ]
}

@test "compile: places that cannot be written; what was there stays" {
	refused 'asterism: error: cannot write missing/image: No such file or directory' compile good.rule -o missing/image
	mkdir folder
	refused 'asterism: error: cannot write folder: Is a directory' compile good.rule -o folder
	if [ -c /dev/full ]; then
		refused 'asterism: error: cannot write /dev/full: No space left on device' compile good.rule -o /dev/full
	fi
	echo precious >image
	echo 'RULE r PATTERN { Z:a }' >wrong.rule
	refused 'wrong.rule:*' compile wrong.rule -o image
	[ "$(cat image)" = precious ]
}

@test "what keeps a rule in a pipe out of the kernel has its place, though a pipe is read once" {
	rule='EVENT A { f: f64 } RULE r PATTERN { A:a } WHERE { a.f > 0.5 }'
	mkfifo pipe
	echo "$rule" >pipe &
	run -0 --separate-stderr timeout 10 "$ASTERISM" check pipe
	[[ $stderr == "pipe:1:53: note: rule r cannot run in the kernel: "* ]]
	run -0 --separate-stderr timeout 10 "$ASTERISM" check - <<<"$rule"
	[[ $stderr == *":1:53: note: rule r cannot run in the kernel: "* ]]
}
