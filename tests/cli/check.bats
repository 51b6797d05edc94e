#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# tools/check itself: which suites it chooses, and how it deals them among machines.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.."
}

@test "shares: every suite is in one of them" {
	tools/check --list --live | sort >"$BATS_TEST_TMPDIR/all"
	for share in 1/3 2/3 3/3; do
		tools/check --list --live --share $share
	done | sort >"$BATS_TEST_TMPDIR/dealt"
	diff "$BATS_TEST_TMPDIR/all" "$BATS_TEST_TMPDIR/dealt"
	[ "$(sort -u "$BATS_TEST_TMPDIR/all" | wc -l)" = "$(wc -l <"$BATS_TEST_TMPDIR/all")" ]
}

@test "a share that is none" {
	for share in 0/3 4/3 1 1/0 a/b; do
		run -2 tools/check --list --share $share
		[[ $output == *"'$share' is not I/N"* ]]
	done
}

@test "a process that has a processor of its own: the suites are not waited for until it ends, and it not when they have" {
	[ "$(nproc)" -gt 1 ] || skip "there is one processor"
	sleep 60 3>&- &
	run -0 tools/check --build "$(dirname "${ASTERISM:-build/src/cmd/asterism}")/../.." --beside $! --only "conformance, oracle"
	[[ $output == *"passed, 0 failed"* ]] && kill -0 $!
	kill $!
}

@test "every entry with live tests, and every file of live tests, is a suite that needs a kernel" {
	tools/check --list --live >"$BATS_TEST_TMPDIR/all"
	for file in tests/kernel/*/*.bats; do
		grep -qx "live: $(basename "$file" .bats)" "$BATS_TEST_TMPDIR/all"
	done
	for script in rules/*/tests/*.sh; do
		grep -qx "rule, live: $(echo "$script" | cut -d/ -f2)" "$BATS_TEST_TMPDIR/all"
	done
	grep -qx "library, loads" "$BATS_TEST_TMPDIR/all"
}

@test "what is left out is told by name, with the reason" {
	[ "$(id -u)" != 0 ] || command -v setpriv || skip "needs setpriv"
	as_nobody=()
	[ "$(id -u)" != 0 ] || as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	run "${as_nobody[@]}" tools/check --only "library, loads"
	[[ $output == *"library, loads: 0 passed, 0 failed, 1 skipped"* ]]
	[[ $output == *"skipped library, loads: all: needs root"* ]]
	[[ $output == *"skipped 1: needs root"* ]]
	[ "${lines[-1]}" = "0 passed, 0 failed, 1 skipped" ]
}

@test "beside its time, a suite tells what it took of processors" {
	run -0 tools/check --build "$(dirname "${ASTERISM:-build/src/cmd/asterism}")/../.." --only "conformance, oracle"
	line='^conformance, oracle: [0-9]+ passed, 0 failed, [0-9]+ skipped \(([0-9]+\.[0-9]) s, ([0-9]+\.[0-9]) s CPU\)$'
	[[ ${lines[0]} =~ $line ]]
	[ "${BASH_REMATCH[2]}" != 0.0 ]
}
