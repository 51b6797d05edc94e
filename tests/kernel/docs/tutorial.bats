#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# docs/tutorial.md: its commands, one section after the other, and what they show. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	top=$(cd "$BATS_TEST_DIRNAME/../../.." && pwd)
	page=$top/docs/tutorial.md
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_FILE_TMPDIR"
	export ASTERISM_CATALOGS=$top/catalogs
	export PATH=$(cd "$(dirname "$ASTERISM")" && pwd):$PATH
}

# `follow NUMBER`: the commands of a section, in the folder that those before it left.
follow() {
	"$top/tests/docs/session.py" commands "$page" "$1. " >commands
	NO_COLOR=1 bash -e commands >output 2>&1 || { cat output; return 1; }
	"$top/tests/docs/session.py" compare "$page" "$1. " output
}

@test "1: make knows what is to be made" {
	"$top/tests/docs/session.py" commands "$page" "1. " | sed 's/^make/& -n/' >commands
	[ "$(wc -l <commands)" = 2 ]
	cd "$top" && bash -e "$BATS_FILE_TMPDIR/commands" >/dev/null
}

@test "2: events" {
	follow 2
}

@test "3: two events" {
	follow 3
}

@test "4: a rule" {
	follow 4
}

@test "5: what it finds, and what not" {
	follow 5
	grep -q 'note: 0 matches' output
	[ "$(grep -c ' two_writers .*file="notes"' output)" = 1 ]
}

@test "6: recorded" {
	follow 6
}

@test "7: it reacts" {
	follow 7
	[ "$(cat notes)" = one ]
}

@test "8: its tests" {
	follow 8
}
