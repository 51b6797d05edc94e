#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What is said of actions says the same everywhere, and wrong policies are told from right ones before anything happens.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	cd "$BATS_TEST_TMPDIR"
	echo 'RULE r PATTERN { sys_enter_getpgid:a } DO { CALL Kill(a#TID) }' >r.rule
}

@test "docs/reactions.md describes every action, as the descriptors do" {
	"$(dirname "$ASTERISM")/asterism-docs" actions | sed '$d' | tr -s '[:space:]' '\n' >described
	sed -n '/^## The actions/,$p' "$BATS_TEST_DIRNAME/../../docs/reactions.md" | tail -n +4 | tr -s '[:space:]' '\n' >written
	diff described written
	[ "$(grep -cx '###' written)" -gt 10 ]
}

@test "help actions names the arguments and what needs to be allowed" {
	run -0 "$ASTERISM" help actions
	[[ $output == *"* BoostThreadPriority(thread, priority[, time])"* ]]
	[[ $output == *"  Count(name)"* ]]
	[[ $output == *"Also called TerminateProcess, TerminateThread."* ]]
	run -2 "$ASTERISM" help action
}

@test "a wrong policy: the file, the line and what is meant" {
	printf '# fine\nallow Signal\n\nallow Stopp\n' >policy
	run -2 "$ASTERISM" run --policy policy r.rule -- touch ran
	[[ ${lines[0]} == "policy:4:1: error: unknown action 'Stopp'" ]]
	[[ $output == *Stop* ]]
	for line in forbid "allow" "outside-scope Stop" "allow all but Kill"; do
		echo "$line" >policy
		run -2 "$ASTERISM" run --policy policy r.rule -- touch ran
		[[ ${lines[0]} == "policy:1:1: error: "* ]]
	done
	head -c 600 /dev/zero | tr '\0' a >policy
	run -2 "$ASTERISM" run --policy policy r.rule -- touch ran
	[[ ${lines[0]} == "policy:1:1: error: the line is too long"* ]]
	[ ! -e ran ]
}
