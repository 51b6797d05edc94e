#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The program alone, in an empty folder: what asterism ships is a part of it.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	SHIPPED=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	cd "$BATS_TEST_TMPDIR"
	cp "$ASTERISM" asterism
	unset ASTERISM_RULES ASTERISM_CATALOGS ASTERISM_TEST_PROGRAMS
	# An installed library would come before it.
	[ ! -e /usr/local/share/asterism ] || skip "asterism is installed"
	export TMPDIR=$PWD
}

@test "rules, their texts and their descriptions" {
	run --separate-stderr -0 ./asterism rules -f json
	[ "$(printf '%s\n' "$output" | wc -l)" = "$(ls "$SHIPPED/rules" | wc -l)" ]
	[[ $output != *'"path":"'* ]]
	run --separate-stderr -0 ./asterism rules long-syscall
	[[ $output == "# long-syscall"*"Rule: built in; 'asterism rules --text long-syscall' writes it" ]]
	for folder in "$SHIPPED"/rules/*/; do
		name=$(basename "$folder")
		./asterism rules --text "$name" | cmp - "$folder/$name.rule"
	done
	run --separate-stderr -2 ./asterism rules --text lock
	[[ $stderr == *"--text writes a single rule, but the pattern matches several"* ]]
	run --separate-stderr -2 ./asterism rules --text none-such
	[[ $stderr == *"there is no shipped rule '@none-such'"* ]]
}

@test "@name is a file like any other" {
	run --separate-stderr -0 ./asterism check -q @all
	[ -z "$stderr" ]
	run --separate-stderr -2 ./asterism check @wait-timeout --set none=5
	[[ $stderr == *none* ]]
	cp "$SHIPPED/rules/long-syscall/tests/"*.jsonl .
	run --separate-stderr -0 ./asterism replay @long-syscall *.jsonl
	[ -n "$output" ]
}

@test "EVENTS finds every shipped catalog, and a folder adds to them" {
	for catalog in "$SHIPPED"/catalogs/*.events; do
		printf 'EVENTS "%s" RULE r PATTERN { sys_enter_openat }\n' "$(basename "$catalog")" >own.rule
		./asterism check -q own.rule
	done
	mkdir own
	printf 'EVENT of_my_own { x: u8 }\n' >own/own.events
	printf 'EVENTS "own.events" EVENTS "tcp.events" RULE r PATTERN { [of_my_own, tcp_segment_sent] }\n' >own.rule
	ASTERISM_CATALOGS=own ./asterism check -q own.rule
	run --separate-stderr -2 ./asterism check -q own.rule
	[[ $stderr == *"catalog not found: 'own.events'"* ]]
	mv own/own.events .
	./asterism check -q own.rule
}

@test "the tests of what is built in run, and leave nothing" {
	# What the folder has is what is built in: the same tests, in the same order.
	run --separate-stderr -0 ./asterism test @all --no-live -f tap
	ASTERISM_RULES=$SHIPPED/rules ./asterism test @all --no-live -f tap >shipped
	diff <(printf '%s\n' "$output") shipped
	[ -z "$(ls -d asterism-test-* 2>/dev/null)" ]
	run --separate-stderr -2 env TMPDIR=/proc ./asterism test @long-syscall
	[[ $stderr == *"the built-in tests of @long-syscall cannot be written to /proc/asterism-test-"* ]]
}

@test "a folder that is not there is not left for what is built in" {
	echo 'RULE opened PATTERN { sys_enter_openat }' >opened.rule
	ASTERISM_CATALOGS=nowhere run --separate-stderr -2 ./asterism check opened.rule
	[[ $stderr == *"error: ASTERISM_CATALOGS names nowhere: No such file or directory"* ]]
	ASTERISM_CATALOGS=opened.rule run --separate-stderr -2 ./asterism events
	[[ $stderr == *"error: ASTERISM_CATALOGS names opened.rule: it is not a directory"* ]]
	ASTERISM_RULES=nowhere run --separate-stderr -2 ./asterism check @long-syscall
	[[ $stderr == *"cannot read the shipped rules in nowhere"* ]]
}
