#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# System calls of 32-bit code raise no event: whoever looks for system calls is told how many it did not see. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	: "${ASTERISM_TEST_PROGRAMS:=$BATS_TEST_DIRNAME/../../../build/tests/kernel}"
	EXAMPLES=$BATS_TEST_DIRNAME/../../../examples
	plant=$ASTERISM_TEST_PROGRAMS/veto-plant
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ "$("$plant" compat)" = ok ] || skip "this kernel runs no 32-bit code"
	cd "$BATS_TEST_TMPDIR"
	echo secret >secret
	# One of a call's beginning, one of its end, one here, one of no calls.
	echo 'RULE opens PATTERN { sys_enter_openat:o } WHERE { o.filename LIKE "/nowhere/*" }
		RULE closed PATTERN { sys_exit_close:c } WHERE { c.ret < 0 }
		RULE here PATTERN { sys_enter_openat:o } WHERE { o.filename LIKE "*/nowhere/*" }
		RULE switches PATTERN { process_exit:x } RETURN { x.tid AS tid }' >rules.rule
}

# told RULE N: the rule counts so many in the last line, and standard error says so.
told() {
	[[ ${lines[-1]} =~ "\"$1\":{"[^}]*"\"calls_32bit\":$2}" ]]
	[[ $stderr == *"rule $1 did not see $2 32-bit system call"* ]]
}

@test "who looks for system calls is told of those it does not see, and nobody else" {
	run --separate-stderr -3 "$ASTERISM" run -f json rules.rule -- "$plant" compat_open /etc/hostname 3
	[[ $output == *ok* ]]
	for rule in opens closed here; do told $rule 3; done
	[[ ! ${lines[-1]} =~ '"switches":{'[^}]*calls_32bit && $stderr != *"rule switches did not"* ]]
	run --separate-stderr -0 "$ASTERISM" run -f json rules.rule -- "$plant" calls
	[[ ${lines[-1]} != *calls_32bit* && $stderr != *32-bit* ]]
}

@test "many rules that did not see the same calls are told in one line" {
	for i in {1..11}; do echo "RULE r$i PATTERN { sys_enter_openat:o } WHERE { o.filename LIKE \"/nowhere/*\" }"; done >many.rule
	run --separate-stderr -3 "$ASTERISM" run -q many.rule -- "$plant" compat_open /etc/hostname 3
	[[ $stderr == *"11 rules did not see 3 32-bit system calls: "*": r1, r2, r3, r4, r5, r6, r7, r8 and 3 more"* ]]
	[ "$(grep -c '32-bit system calls*:' <<<"$stderr")" -le 2 ] # at once, and in the end
	[ "$(grep -c '^help: i386' <<<"$stderr")" = 1 ]
}

@test "a rule that is bypassed says so" {
	run --separate-stderr -3 "$ASTERISM" run --allow-actions "$EXAMPLES/no-secrets.rule" -- "$plant" compat_open /etc/shadow 1
	[[ $output == *ok* ]]
	[[ $stderr == *"rule no_secrets did not see 1 32-bit system call:"* ]]
}

@test "a recording beside rules that look for no calls: what it did not see is told with what to do" {
	echo 'RULE ends PATTERN { process_exit:x }' >ends.rule
	run --separate-stderr -3 "$ASTERISM" record -o trace -e sys_enter_openat --rules ends.rule -- \
		"$plant" compat_open /etc/hostname 3
	[[ $stderr == *"3 system calls of 32-bit code"* && $stderr == *"help: i386 programs make such calls"* ]]
}

@test "each call counts once, wherever it is looked for" {
	echo 'RULE both PATTERN { [sys_enter_close:c, sys_exit_close:x] } WHERE { [tid], x.ret < 0 }' >both.rule
	echo 'RULE ends PATTERN { sys_exit_close:x } WHERE { x.ret < 0 }' >ends.rule
	echo 'RULE raw PATTERN { sys_enter:s } WHERE { s.id == 5 }' >raw.rule
	for rule in both ends raw; do
		run --separate-stderr -3 "$ASTERISM" run -f json $rule.rule -- "$plant" compat_open /etc/hostname 7
		told $rule 7
	done
}

@test "what others do is not counted" {
	"$plant" compat_open /etc/hostname 200000 >/dev/null &
	run --separate-stderr -0 "$ASTERISM" run -f json rules.rule -- "$plant" calls
	[[ ${lines[-1]} != *calls_32bit* ]]
	wait $!
}

@test "a recording of system calls says what is not in it" {
	run --separate-stderr -3 "$ASTERISM" record -o raw -- "$plant" compat_open /etc/hostname 2
	[[ $stderr == *"2 system calls of 32-bit code"*"not in the trace"* ]]
	run --separate-stderr -3 "$ASTERISM" record -o both --rules rules.rule -e sys_enter -- "$plant" compat_open /etc/hostname 1
	[[ $stderr == *"1 system call of 32-bit code"*"not in the trace"* && $stderr == *"rule opens did not see 1 "* ]]
	run --separate-stderr -0 "$ASTERISM" record -o none -e process_exit -- "$plant" compat_open /etc/hostname 2
	[[ $stderr != *32-bit* ]]
}
