#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# examples/cookbook/web-shell.rule: whichever way a server takes bytes and comes to a shell, and no load hides it. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	top=$BATS_TEST_DIRNAME/../../..
	[ "$(id -u)" = 0 ] || skip "needs root"
	export ASTERISM_CATALOGS=$top/catalogs
	server=$BATS_TEST_DIRNAME/web-shell.py
	cd "$BATS_TEST_TMPDIR"
}

# What the server does ends in a match and in no shell: `found VARIANT [CALL]`.
found() {
	echo "$@"
	rm -f innocent
	"$ASTERISM" run -f json --allow-actions "$top/examples/cookbook/web-shell.rule" -- "$server" "$@" >output 2>errors || { cat output errors; return 1; }
	[ "$(grep -c '"match":"web_shell"' output)" = 1 ] && [ "$(grep -c '^shell' output)" = 0 ] || { cat output errors; return 1; }
}

# The server does it three times, each ends before it does anything: `each VARIANT`.
each() {
	"$ASTERISM" run -f json --allow-actions "$top/examples/cookbook/web-shell.rule" -- "$server" "$1" >output 2>errors || { cat output errors; return 1; }
	[ "$(grep -c '"match":"web_shell"' output)" = 3 ] && [ "$(grep -c '^shell' output)" = 0 ] || { cat output errors; return 1; }
}

# It says `expected` and nothing matches: `silent EXPECTED VARIANT`.
silent() {
	"$ASTERISM" run -f json --allow-actions "$top/examples/cookbook/web-shell.rule" -- "$server" "$2" >output 2>errors || { cat output errors; return 1; }
	[ "$(grep -c '"match"' output)" = 0 ] && grep -q "^$1" output || { cat output errors; return 1; }
}

@test "a shell by a child, by a child of a child, by a daemon, in the server itself, by other programs" {
	for variant in child popen itself setsid env twice daemon spawn thread; do
		found "$variant"
	done
}

@test "a shell by another name: a link, dash, a script, a descriptor, a relative path" {
	for variant in symlink dash rbash script descriptor relative; do
		found "$variant"
	done
	if command -v busybox >/dev/null; then
		found busybox
		each applet
	fi
	each static
}

@test "bytes by whichever call takes them" {
	for call in read readv recvfrom recvmsg recvmmsg preadv2 splice sendfile; do
		found child "$call"
	done
}

@test "17,000 receptions before it hide nothing" {
	found flood
}

@test "no shell, a shell without a request, and one long after it: nothing to tell" {
	silent program program
	silent shell unasked
	silent shell late
}

@test "a recording says the same" {
	"$ASTERISM" record -q -o trace --rules "$top/examples/cookbook/web-shell.rule" -- "$server" daemon splice
	run --separate-stderr -0 "$ASTERISM" replay -f json "$top/examples/cookbook/web-shell.rule" trace
	[[ ${lines[0]} == '{"match":"web_shell",'*'/usr/bin/dash'* ]]
}
