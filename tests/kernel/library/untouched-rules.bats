#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Every shipped rule that looks at a string, against an ordinary program whose names are constants that nobody has
# touched, linked dynamically and statically, by every call that opens files. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	: "${ASTERISM_TEST_PROGRAMS:=$BATS_TEST_DIRNAME/../../../build/tests/kernel}"
	literals=$ASTERISM_TEST_PROGRAMS/untouched-literals
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
	fetched=/tmp/asterism-untouched
}

teardown() {
	rm -rf "$fetched" "/tmp/asterism-untouched.$$"
}

# Both programs, by each of CALLS, and again: each time TEXT is told, and nothing is unread.
found() { # ENTRY TEXT CALLS OPTION...
	local entry=$1 text=$2 calls=$3 program call
	shift 3
	for program in "$literals" "$literals-static"; do
		for call in $calls; do
			for _ in 1 2; do
				run --separate-stderr "$ASTERISM" run -f json "@$entry" -- "$program" "$@" $call
				[[ $output == *"$text"* && $output != *unread* ]] || return 1
				rm -f "$fetched"
			done
		done
	done
}

@test "@creation-error" {
	found creation-error '"file":"/nowhere/wanted","error":-2' "openat open openat2" missing
	found creation-error '"file":"/nowhere/wanted","error":-2' creat missing
}

@test "@secret-after-network" {
	for call in openat:file open:open openat2:openat2; do
		found secret-after-network "\"${call#*:}\":\"/etc/shadow\"" "${call%:*}" receive
	done
}

@test "@temp-exec-after-download" {
	found temp-exec-after-download '"program":"/tmp/asterism-untouched"' "openat open openat2 creat" fetch
}

@test "@chroot-escape" {
	mkdir jail
	found chroot-escape 'leaves its root directory jail: opens .., which is outside of it' "openat open openat2" escape
}

@test "@reverse-shell" {
	found reverse-shell '"x.program":"/bin/true"' openat serve
}

@test "@dropper" {
	install -d "/tmp/asterism-untouched.$$"
	for program in untouched-literals untouched-literals-static; do
		cp "$ASTERISM_TEST_PROGRAMS/$program" "/tmp/asterism-untouched.$$/"
		for call in openat open openat2 creat; do
			for _ in 1 2; do
				run --separate-stderr "$ASTERISM" run -f json --set 'programs="/tmp/*"' @dropper -- "/tmp/asterism-untouched.$$/$program" drop $call
				[[ $output == *"and now writes to /tmp/asterism-untouched"* && $output != *unread* ]]
			done
		done
	done
}

@test "examples: no-secrets and supervise" {
	examples=$BATS_TEST_DIRNAME/../../../examples
	for program in "$literals" "$literals-static"; do
		for call in openat:file open:open openat2:openat2; do
			for _ in 1 2; do
				run -137 "$ASTERISM" run -f json --allow-actions "$examples/no-secrets.rule" -- "$program" receive "${call%:*}"
				[[ $output == *"\"${call#*:}\":\"/etc/shadow\""* ]]
				run --separate-stderr "$ASTERISM" run -f json "$examples/supervise.rule" -- "$program" receive "${call%:*}"
				[[ $output == *'"file":"/etc/shadow"'* && $output != *unread* ]]
			done
		done
	done
}

@test "examples: no-secrets, by creat, of a file that may be lost" {
	sed "s,/etc/shadow,$BATS_TEST_TMPDIR/secret," "$BATS_TEST_DIRNAME/../../../examples/no-secrets.rule" >own.rule
	: >"$BATS_TEST_TMPDIR/secret"
	run -137 "$ASTERISM" run -f json --allow-actions own.rule -- \
		python3 -SEc 'import ctypes, sys; ctypes.CDLL(None).syscall(85, sys.argv[1].encode(), 0o600)' "$BATS_TEST_TMPDIR/secret"
	[[ $output == *"\"creat\":\"$BATS_TEST_TMPDIR/secret\""* ]]
}
