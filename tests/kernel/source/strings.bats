#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Strings whose page nobody has touched when the system call begins: they are seen all the same, and what cannot be read
# at all is told. Needs root.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	: "${ASTERISM_TEST_PROGRAMS:=$BATS_TEST_DIRNAME/../../../build/tests/kernel}"
	EXAMPLES=$BATS_TEST_DIRNAME/../../../examples
	untouched=$ASTERISM_TEST_PROGRAMS/untouched
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
	# In the kernel; a LIKE that begins with * is judged in user space.
	echo 'RULE opens PATTERN { sys_enter_openat:o } WHERE { o.filename LIKE "/nowhere/*" } RETURN { o.filename AS file }' >opens.rule
	echo 'RULE pair PATTERN { [sys_enter_openat:o, sys_exit_openat:x] } WHERE { [tid], o.filename LIKE "/nowhere/*" }
		RETURN { x.ts - o.ts AS took, x.ret AS ret }' >pair.rule
}

@test "whoever opens a file by an untouched literal is ended, 20 of 20 times" {
	for program in untouched-open untouched-open-static; do
		for _ in $(seq 20); do
			run -137 "$ASTERISM" run -q --allow-actions "$EXAMPLES/no-secrets.rule" -- "$ASTERISM_TEST_PROGRAMS/$program"
			[[ $output == *'file="/etc/shadow"  Kill('* ]]
		done
	done
	for call in open openat2; do
		run -137 "$ASTERISM" run -q --allow-actions "$EXAMPLES/no-secrets.rule" -- "$ASTERISM_TEST_PROGRAMS/untouched-open" $call
		[[ $output == *"$call=\"/etc/shadow\"  Kill("* ]]
	done
}

@test "in mapped files, across pages, supplied by another thread, long" {
	for memory in touched whole across supplied; do
		run --separate-stderr -0 "$ASTERISM" run -f json opens.rule -- "$untouched" $memory open /nowhere/wanted
		[[ ${lines[0]} == *'"return":{"file":"/nowhere/wanted"}'* ]]
		[[ ${lines[1]} == *'"opens":{"matches":1,'* && ${lines[1]} != *unread* ]]
	done
	long=/nowhere/$(printf '%0240d' 0)
	run --separate-stderr -0 "$ASTERISM" run -f json opens.rule -- "$untouched" across open "$long"
	[[ ${lines[0]} == *"\"file\":\"$long\""* ]]
}

@test "a rule that asks how a string ends says where that was cut off" {
	echo 'RULE ends PATTERN { sys_enter_openat:o } WHERE { o.filename LIKE "/nowhere/*/x" }
		RULE other PATTERN { sys_enter_openat:o } WHERE { o.filename LIKE "/nowhere/*", NOT o.filename LIKE "*/x" }
		RULE begins PATTERN { sys_enter_openat:o } WHERE { o.filename LIKE "/nowhere/*" }' >ends.rule
	short=/nowhere/$(printf '%0243d' 0)/x
	run --separate-stderr -0 "$ASTERISM" run -f json ends.rule -- "$untouched" whole open "$short"
	[[ ${lines[-1]} =~ '"ends":{"matches":1,' && ${lines[-1]} != *unread* ]]
	# One that fills the field just so cannot be told from one that was cut.
	for end in '%0244d ends' '%0900d other'; do
		run --separate-stderr -3 "$ASTERISM" run -f json ends.rule -- "$untouched" whole open "/nowhere/$(printf "${end% *}" 0)/x"
		[[ $output == *"\"match\":\"${end#* }\""*'"tainted":true'* ]]
		[[ ${lines[-1]} =~ '"other":{'[^}]*'"unread":1}' && ${lines[-1]} =~ '"ends":{'[^}]*'"unread":1}' ]]
		[[ ${lines[-1]} =~ '"begins":{"matches":1,'[^}]*'"lost":0}' ]]
		[[ $stderr == *"rule ends did not see 1 event completely: "*"; it was: sys_enter_openat"* ]]
		[[ ${lines[-1]} == *'"unread_event":"sys_enter_openat","unread":1}'* ]]
	done
}

@test "a call that another one follows is neither lost nor told twice" {
	run --separate-stderr -0 "$ASTERISM" run -f json opens.rule -- \
		sh -c '"$1" whole open /nowhere/1; "$1" touched open /nowhere/2; "$1" across open /nowhere/3' sh "$untouched"
	[ "$(grep -o '/nowhere/[0-9]' <<<"$output")" = $'/nowhere/1\n/nowhere/2\n/nowhere/3' ]
}

@test "the event has the time of the entry, and comes before the exit of its call" {
	run --separate-stderr -0 "$ASTERISM" run -f json pair.rule -- "$untouched" whole open /nowhere/wanted
	[ ${#lines[@]} = 2 ]
	[[ ${lines[0]} =~ '"took":'([0-9]+)',"ret":-2' ]]
	((BASH_REMATCH[1] > 0 && BASH_REMATCH[1] < 1000000000))
}

@test "a string of execve is seen where it succeeds, too" {
	echo 'RULE exec PATTERN { sys_enter_execve:e } WHERE { e.filename IN { "/bin/true", "/nowhere/true" } } RETURN { e.filename AS f }' >exec.rule
	for memory in whole across; do
		run --separate-stderr -0 "$ASTERISM" run -f json exec.rule -- "$untouched" $memory exec /bin/true
		[[ ${lines[0]} == *'"comm":"untouched"'*'"f":"/bin/true"'* && ${lines[1]} != *unread* ]]
		run --separate-stderr -0 "$ASTERISM" run -f json exec.rule -- "$untouched" $memory exec /nowhere/true
		[[ ${lines[0]} == *'"f":"/nowhere/true"'* ]]
	done
}

@test "a recording holds the string of an execve that succeeds, and who called it" {
	"$ASTERISM" record -q -o exec -e sys_enter_execve,sched_process_exec -- "$untouched" whole exec /bin/true
	run -0 "$ASTERISM" dump -f json exec
	[[ $output =~ \"sys_enter_execve\"[^$'\n']*\"completed\":[^$'\n']*\"comm\":\"untouched\"[^$'\n']*\"filename\":\"/bin/true\" ]]
}

@test "what nobody can read is unread: counted, told, and no empty string" {
	echo 'RULE empty PATTERN { sys_enter_openat:o } WHERE { o.filename == "" }
		RULE other PATTERN { sys_enter_openat:o } WHERE { NOT o.filename == "x" AND o.dfd == -100 }
		RULE blind PATTERN { sys_enter_openat:o }' >unread.rule
	for memory in cut forbidden; do
		run --separate-stderr -3 "$ASTERISM" run -f json unread.rule -- "$untouched" $memory open /nowhere/wanted
		[[ ${lines[-1]} =~ '"empty":{"matches":0,'[^}]*'"unread":1}' ]]
		[[ ${lines[-1]} =~ '"other":{"matches":'[0-9]+,[^}]*'"unread":1}' ]]
		[[ ! ${lines[-1]} =~ '"blind":{'[^}]*unread ]]
		[[ $stderr == *"rule empty did not see 1 event completely: a string could not be read, or was truncated; matches may be missing"* ]]
		blind=$(grep -c '"match":"blind"' <<<"$output")
		[ "$blind" = $(($(grep -c '"match":"other"' <<<"$output") + 1)) ]
	done
	run --separate-stderr -0 "$ASTERISM" run -f json unread.rule -- "$untouched" whole open ''
	[[ ${lines[-1]} =~ '"empty":{"matches":1,' && ${lines[-1]} != *unread* ]]
}

@test "runs that were open when something was unread are marked" {
	echo 'RULE between PATTERN { [sys_enter_socketpair:s, ~sys_enter_openat:o, process_exit:x] } WHERE { [pid], o.filename LIKE "/nowhere/wanted*" }' >between.rule
	run --separate-stderr "$ASTERISM" run -f json between.rule -- "$untouched" forbidden receive /nowhere/wanted
	[ "$status" = 3 ]
	[[ ${lines[0]} == '{"match":"between",'*'"tainted":true,"time":"'* ]]
	run --separate-stderr -0 "$ASTERISM" run -f json between.rule -- "$untouched" whole receive /nowhere/wanted
	[ ${#lines[@]} = 1 ]
	run --separate-stderr -0 "$ASTERISM" run -f json between.rule -- "$untouched" whole receive /nowhere/else
	[[ ${lines[0]} == '{"match":"between",'*'"tainted":false,"time":"'* ]]
}

@test "rules in user space see the same" {
	echo 'RULE opens PATTERN { sys_enter_openat:o } WHERE { o.filename LIKE "*wanted*", o.ts * 1.0 > 0.5 } RETURN SEQUENCE
		RULE pair PATTERN { [sys_enter_openat:o, sys_exit_openat:x] } WHERE { [tid], o.filename LIKE "*wanted*", o.ts * 1.0 > 0.5 }
		RETURN { x.ts - o.ts AS took, x.ret AS ret }' >user.rule
	run "$ASTERISM" run -v user.rule -- true
	[[ $output == *"opens"*"user space"* ]]
	run --separate-stderr -0 "$ASTERISM" run -f json user.rule -- "$untouched" across open /nowhere/wanted
	[[ $output == *'"filename":"/nowhere/wanted"'* ]]
	[[ $output =~ '"took":'([0-9]+)',"ret":-2' ]]
	((BASH_REMATCH[1] > 0 && BASH_REMATCH[1] < 1000000000))
	run --separate-stderr -3 "$ASTERISM" run -f json user.rule -- "$untouched" forbidden open /nowhere/wanted
	[[ ${lines[-1]} =~ '"opens":{"matches":0,'[^}]*'"unread":1}' ]]
}

@test "shipped rules: a string that nobody has touched" {
	run --separate-stderr -0 "$ASTERISM" run -f json @creation-error -- "$untouched" whole open /nowhere/wanted
	[[ $output == *'"file":"/nowhere/wanted","error":-2'* && ${lines[-1]} != *unread* ]]
	run --separate-stderr -0 "$ASTERISM" run -f json @temp-exec-after-download -- \
		"$untouched" whole fetch "/tmp/untouched-fetched-$$"
	rm -f "/tmp/untouched-fetched-$$"
	[[ $output == *"\"program\":\"/tmp/untouched-fetched-$$\""* ]]
	mkdir jail
	run --separate-stderr -0 "$ASTERISM" run -f json @chroot-escape -- "$untouched" whole escape "$PWD/jail"
	[[ $output == *"leaves its root directory jail"* ]]
}

@test "shipped rule: whoever opens a secret after receiving is stopped before it goes on" {
	timeout $((20 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" run -f json --allow-actions -o matches @secret-after-network -- \
		"$untouched" whole receive /etc/shadow 2>/dev/null &
	session=$!
	wait_for [ -s matches ]
	pid=$(sed -n 's/.*"match":"secret_after_network".*"pid":\([0-9]*\),.*/\1/p' matches)
	[ -n "$pid" ]
	grep -q 'State:.T' "/proc/$pid/status"
	kill -KILL "$pid"
	wait "$session" || true
}

@test "a Python that starts: no open without its name" {
	run --separate-stderr "$ASTERISM" run -f json opens.rule -- python3 -c 'import json, socket, asyncio'
	[[ ${lines[-1]} != *unread* ]]
	run --separate-stderr "$ASTERISM" run -f json @creation-error -- python3 -c 'import json, socket, asyncio'
	[[ $output != *'"file":""'* ]]
}

@test "a condition on what lies in memory of the user is awaited, and nobody takes it for false" {
	cat >text.events <<-'EOF'
		EVENT text_asked { dfd: i32 }
		FROM raw_syscalls:sys_enter WHEN id == 257 AND user_word(syscall_arg(1)) & 0xffffffffffff == 0x6572656877 { dfd = syscall_arg(0) }
		EVENT text_given { text: u64 }
		FROM raw_syscalls:sys_enter WHEN id == 257 AND user_word(syscall_arg(1)) & 0xffff == 0x6877 { text = user_word(syscall_arg(1)) }
	EOF
	echo 'EVENTS "text.events"
		RULE asked PATTERN { text_asked:t } RETURN { t.dfd AS dfd }
		RULE given PATTERN { text_given:t } RETURN { t.text AS text }' >text.rule
	sed 's/RULE given.*//' text.rule >alone.rule
	sed 's/RETURN.*/RETURN SEQUENCE/; /given/d' text.rule >kept.rule
	for rules in alone text kept; do
		for memory in touched whole across supplied; do
			run --separate-stderr -0 "$ASTERISM" run -f json $rules.rule -- "$untouched" $memory open where
			[[ ${lines[-1]} =~ '"asked":{"matches":1,' && ${lines[-1]} != *unread* ]]
		done
		run --separate-stderr -0 "$ASTERISM" run -f json $rules.rule -- "$untouched" whole open here
		[[ ${lines[-1]} =~ '"asked":{"matches":0,' && ${lines[-1]} != *unread* ]]
		run --separate-stderr -3 "$ASTERISM" run -f json $rules.rule -- "$untouched" forbidden open where
		[[ ${lines[-1]} =~ '"asked":{"matches":0,'[^}]*'"unread":' ]]
	done
	"$ASTERISM" record -q -o text --catalog text.events -e text_asked -- "$untouched" whole open where
	"$ASTERISM" dump text | grep 'text_asked'
}

@test "strings that a probed function is given" {
	printf 'EVENT name_taken { name: string }\nFROM uprobe:"%s:take_name" { name = ustr(user_arg(0)) }\n' \
		"$(realpath "$untouched")" >names.events
	echo 'EVENTS "names.events"
		RULE named PATTERN { name_taken:n } WHERE { n.name LIKE "/nowhere/*" } RETURN { n.name AS name }' >named.rule
	for memory in touched whole across supplied; do
		run --separate-stderr -0 "$ASTERISM" run -f json named.rule -- "$untouched" $memory name /nowhere/wanted
		[[ ${lines[0]} == *'"return":{"name":"/nowhere/wanted"}'* && ${lines[1]} != *unread* ]]
	done
	for memory in cut forbidden; do
		run --separate-stderr -3 "$ASTERISM" run -f json named.rule -- "$untouched" $memory name /nowhere/wanted
		[[ ${lines[0]} == *'"named":{"matches":0,'*'"unread":1}'* ]]
	done
}

@test "a recording holds what was seen: late events with their time, unread strings as such" {
	sed 's/LIKE "[^"]*"/LIKE "\/nowhere\/*"/' pair.rule >same.rule
	for memory in whole across; do
		"$ASTERISM" record -q -o $memory -e sys_enter_openat,sys_exit_openat -- "$untouched" $memory open /nowhere/wanted
		"$ASTERISM" dump -f json $memory >$memory.jsonl
		grep -q '"completed":.*"filename":"/nowhere/wanted"' $memory.jsonl
		run babeltrace2 $memory
		[ "$status" = 0 ]
		[[ $output == *"late:"*"filename = \"/nowhere/wanted\""* ]]
		for engine in user kernel; do
			for input in $memory $memory.jsonl; do
				run --separate-stderr -0 "$ASTERISM" replay --engine $engine -f json same.rule $input
				[[ ${lines[0]} =~ '"took":'([0-9]+)',"ret":-2},"tainted":false' ]]
				((BASH_REMATCH[1] > 0 && BASH_REMATCH[1] < 1000000000))
			done
		done
	done
	"$ASTERISM" record -q -o cut -e sys_enter_openat,sys_exit_openat -- "$untouched" cut open /nowhere/wanted
	"$ASTERISM" dump cut | grep 'filename=(unread)'
	"$ASTERISM" dump -f json cut >cut.jsonl
	grep -q '"filename":null' cut.jsonl
	for input in cut cut.jsonl; do
		for engine in user kernel; do
			run --separate-stderr -3 "$ASTERISM" replay --engine $engine -f json same.rule $input
			[[ ${lines[-1]} == *'"matches":0,'*'"unread":1}'* ]]
		done
		run --separate-stderr -3 "$ASTERISM" replay --jobs 2 -f json same.rule $input
		[[ ${lines[-1]} == *'"matches":0,'*'"unread":1}'* ]]
	done
}
