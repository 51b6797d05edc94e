#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# README.md and docs/tour.md: their sessions show what they show. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	top=$(cd "$BATS_TEST_DIRNAME/../../.." && pwd)
	[ "$(id -u)" = 0 ] || skip "needs root"
	cp -r "$top/examples" "$top/README.md" "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR"
	export ASTERISM_RULES=$top/rules ASTERISM_CATALOGS=$top/catalogs
	export PATH=$(cd "$(dirname "$ASTERISM")" && pwd):$PATH
	export PORT=$(python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
}

# The commands of a page's section, some of which fail, as they are to.
session() {
	"$top/tests/docs/session.py" commands "$top/$1" "$2" >commands
	NO_COLOR=1 bash commands >output 2>&1 || true
	"$top/tests/docs/session.py" compare "$top/$1" "$2" output
}

@test "what no other tool does: the shell behind the request ends before it says anything" {
	command -v curl >/dev/null || skip "needs curl"
	session README.md "What no other tool does"
	[ "$(grep -c ' web_shell ' output)" = 1 ]
	[ "$(grep -c '^uid=' output)" = 0 ]
}

@test "README.md has at most 120 lines" {
	[ "$(wc -l <"$top/README.md")" -le 120 ]
}

@test "tour: a session" {
	session docs/tour.md "A session"
}

@test "tour: recording" {
	session docs/tour.md "Recording"
}

@test "tour: reacting" {
	session docs/tour.md "Reacting"
}

@test "tour: what only the application knows" {
	ln -s "$(dirname "$ASTERISM")/../.." build
	session docs/tour.md "What only the application knows"
	[ "$(grep -c ' request 2 took ' output)" = 1 ]
}

@test "tour: state machines" {
	session docs/tour.md "State machines"
}
