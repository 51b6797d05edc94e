#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# docs/coming-from.md: the commands that it shows are right.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	export ASTERISM_RULES=$BATS_TEST_DIRNAME/../../rules
	cd "$BATS_TEST_TMPDIR"
	grep -o '`asterism [^`]*`' "$BATS_TEST_DIRNAME/../../docs/coming-from.md" | tr -d '`' | grep -v '\.\.\.' >commands
}

# The command with its first word being $ASTERISM, as the shell understands it.
execute() {
	eval "\"\$ASTERISM\" ${1#asterism }"
}

@test "what is to be run: every rule is OK" {
	local count=0
	while read -r line; do
		line=${line% -- CMD}
		line=${line//--allow-actions /}
		run --separate-stderr -0 execute "asterism check ${line#asterism run }"
		[[ $output == *": OK"* ]]
		count=$((count + 1))
	done < <(grep '^asterism run' commands)
	[ "$count" -ge 14 ]
}

@test "what is to be recorded is recorded, dumped and counted" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	local count=0
	while read -r line; do
		rm -rf t
		run --separate-stderr -0 execute "${line/-- CMD/-- true}"
		[ "$("$ASTERISM" stat -f json t | grep -c '"events"')" -ge 1 ]
		run --separate-stderr -0 execute "asterism dump t"
		[ "${#lines[@]}" -gt 0 ]
		count=$((count + 1))
	done < <(grep '^asterism record' commands)
	[ "$count" -ge 4 ]
}

@test "the others" {
	local count=0
	while read -r line; do
		run --separate-stderr -0 execute "$line"
		count=$((count + 1))
	done < <(grep '^asterism explain' commands)
	[ "$count" = 1 ]
}
