#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Excepted matches of a running system: they are counted, and nothing is done at them, wherever the rule runs.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
	echo text >secret
}

# The rule, with what EXCEPT says.
rule() {
	cat >secret.rule <<-END
		RULE secret PATTERN { sys_enter_openat:o } WHERE { o.filename LIKE "$PWD/secret*" } RETURN { o.comm AS who }
		EXCEPT { $1 }
		DO { CALL Kill(#PID) }
	END
}

observe() {
	run --separate-stderr "$ASTERISM" run -f json --allow-actions "$@" secret.rule -- sh -c "cat $PWD/secret; head $PWD/secret; exit 0"
	[ "$status" = 0 ]
}

@test "an excepted match is not acted upon in the kernel" {
	rule 'o.comm == "cat"'
	run -0 "$ASTERISM" check secret.rule
	[[ "$output" != *"user space"* ]]
	observe
	[ "${lines[0]}" = text ]
	[[ "$output" == *'"match":"secret"'*'"who":"head"'* && "$output" != *'"who":"cat"'* ]]
	[[ "$output" == *'"matches":1,'*'"excepted":1'* ]]
	[ "$(grep -c '^text$' <<<"$output")" = 1 ]
}

@test "a header field alone is that of the event that completes the match, in the kernel as well" {
	rule 'comm == "cat", uid == 0'
	run -0 "$ASTERISM" check secret.rule
	[[ "$output" != *"user space"* ]]
	observe
	[[ "$output" == *'"who":"head"'* && "$output" != *'"who":"cat"'* && "$output" == *'"matches":1,'*'"excepted":1'* ]]
	rule 'comm == "cat", uid == 1'
	observe
	[[ "$output" == *'"matches":2,'*'"excepted":0'* ]]
}

@test "patterns are judged in the kernel; what is too long for it keeps the rule out, and the exception holds there" {
	rule 'o.filename LIKE "*/secret", o.comm LIKE "c*t"'
	run -0 "$ASTERISM" check secret.rule
	[[ "$output" != *"user space"* ]]
	observe
	[[ "$output" == *'"matches":1,'*'"excepted":1'* ]]
	[[ "$output" == *'"who":"head"'* && "$output" != *'"who":"cat"'* ]]
	long=$(printf '%060d' 0)
	rule "o.comm LIKE \"c*t\", NOT o.filename LIKE \"*$long/x*y\""
	run -0 "$ASTERISM" check secret.rule
	[[ "$output" == *"runs in user space: a LIKE pattern with text after a * has more than 62"* ]]
	observe
	[[ "$output" == *'"matches":1,'*'"excepted":1'* ]]
	[[ "$output" == *'"who":"head"'* && "$output" != *'"who":"cat"'* ]]
}

@test "--except adds to a rule, and a line for no rule is an error before anything is observed" {
	rule 'o.comm == "nobody"'
	printf 'secret: o.comm == "cat"\nsecret: o.comm == "head"\n' >lines
	observe --except lines
	[ "$(grep -c '^text$' <<<"$output")" = 2 ]
	[[ "$output" != *'"match"'* && "$output" == *'"matches":0,'*'"excepted":2'* ]]
	echo 'secrt: o.comm == "cat"' >>lines
	run --separate-stderr -2 "$ASTERISM" run --except lines secret.rule -- true
	[[ "$stderr" == *"lines:3:1: error: the exception is for an unknown rule 'secrt'"*"did you mean 'secret'?"* ]]
}

@test "an excepted match takes no snapshot" {
	rule 'o.comm == "cat", o.comm != "head"'
	printf 'secret: o.comm == "head"\n' >lines
	observe --except lines --snapshot "$PWD/shots"
	[ "$(find shots -name metadata 2>/dev/null | wc -l)" = 0 ]
}
