#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What lies behind the addresses that a system call is given, on pages that nobody has touched: socket addresses, the
# arguments of a program, vectors, messages. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	: "${ASTERISM_TEST_PROGRAMS:=$BATS_TEST_DIRNAME/../../../build/tests/kernel}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
	cat >behind.events <<-'EOF'
		EVENT to_peer { call: i64, family: u16, port: u16, address: u32 }
		FROM raw_syscalls:sys_enter WHEN ((id == 42) | (id == 49)) == 1 { call = id,
			family = user_word(syscall_arg(1)), port = be16(user_word(syscall_arg(1)) >> 16), address = be32(user_word(syscall_arg(1)) >> 32) }
		FROM raw_syscalls:sys_enter WHEN id == 44 AND user_word(syscall_arg(4)) & 0xffff == 2 { call = id,
			family = user_word(syscall_arg(4)), port = be16(user_word(syscall_arg(4)) >> 16), address = be32(user_word(syscall_arg(4)) >> 32) }
		EVENT program_asked { program: string, argument: string, setting: string }
		FROM raw_syscalls:sys_enter WHEN id == 59 {
			program = ustr(syscall_arg(0)), argument = ustr(user_word(syscall_arg(1) + 8)), setting = ustr(user_word(syscall_arg(2))) }
		FROM raw_syscalls:sys_enter WHEN id == 322 {
			program = ustr(syscall_arg(1)), argument = ustr(user_word(syscall_arg(2) + 8)), setting = ustr(user_word(syscall_arg(3))) }
		EVENT text_given { text: string, bytes: u64 }
		FROM raw_syscalls:sys_enter WHEN id == 20 { text = ustr(user_word(syscall_arg(1))), bytes = user_word(syscall_arg(1) + 8) }
		FROM raw_syscalls:sys_enter WHEN id == 46 {
			text = ustr(user_word(user_word(syscall_arg(1) + 16))), bytes = user_word(user_word(syscall_arg(1) + 16) + 8) }
	EOF
	cat >behind.rule <<-'EOF'
		EVENTS "behind.events"
		RULE peer PATTERN { to_peer:p } WHERE { p.port == 9 } RETURN { p.call AS call, p.family AS family, p.address AS address }
		RULE program PATTERN { program_asked:p } WHERE { p.setting == "WANTED=setting" } RETURN { p.program AS program, p.argument AS argument }
		RULE given PATTERN { text_given:t } WHERE { t.text LIKE "wanted*" } RETURN { t.bytes AS bytes }
	EOF
}

# seen CALL...: what the rules return, of the program linked in both ways.
seen() {
	for program in untouched-structures untouched-structures-static; do
		run --separate-stderr "$ASTERISM" run -f json "${rule:-behind.rule}" -- "$ASTERISM_TEST_PROGRAMS/$program" "$@"
		[[ $output != *unread* && $stderr != *unread* ]] || return 1
		grep -o '"return":{.*}' <<<"$output" | sed 's/,"tainted.*//'
	done
}

both() {
	printf '%s\n%s\n' "$1" "$1"
}

@test "socket addresses, 20 of 20 times" {
	for _ in $(seq 20); do
		[ "$(seen connect)" = "$(both '"return":{"call":42,"family":2,"address":2130706433}')" ]
	done
	[ "$(seen bind)" = "$(both '"return":{"call":49,"family":2,"address":2130706433}')" ]
	[ "$(seen sendto)" = "$(both '"return":{"call":44,"family":2,"address":2130706433}')" ]
}

@test "arguments and settings of a program that is executed" {
	if ! "$ASTERISM" features | grep -q 'sched_prepare_exec  *yes'; then # only the program's name is told
		run --separate-stderr -3 "$ASTERISM" run -f json behind.rule -- "$ASTERISM_TEST_PROGRAMS/untouched-structures-static" execve
		[[ ${lines[-1]} =~ '"program":{"matches":0,'[^}]*'"unread":1}' ]]
		return
	fi
	[ "$(seen execve)" = "$(both '"return":{"program":"/bin/true","argument":"wanted argument"}')" ]
	[ "$(seen execveat)" = "$(both '"return":{"program":"/bin/true","argument":"wanted argument"}')" ]
}

@test "vectors and messages" {
	[ "$(seen writev)" = "$(both '"return":{"bytes":12}')" ]
	[ "$(seen sendmsg)" = "$(both '"return":{"bytes":12}')" ]
}

@test "text that the kernel never looked at is unread, which is told" {
	run --separate-stderr -3 "$ASTERISM" run -f json behind.rule -- "$ASTERISM_TEST_PROGRAMS/untouched-structures" nowhere
	[[ ${lines[-1]} =~ '"given":{"matches":0,'[^}]*'"unread":1}' ]]
	[[ $stderr == *"rule given did not see 1 event completely: a string could not be read, or was truncated; matches may be missing"* ]]
}

@test "shipped types that look behind an address" {
	rule=completed.rule
	cat >completed.rule <<-'EOF'
		EVENTS "completed.events"
		RULE opened PATTERN { file_opened:o } WHERE { o.path == "/dev/null" } RETURN { o.flags AS flags }
		RULE made PATTERN { descriptor_made:d } WHERE { d.call IN { 22, 293 }, d.fd > 2 } RETURN { d.fd / 100 AS made }
		RULE refused PATTERN { descriptor_refused:r } WHERE { r.call == 7 } RETURN { r.fd AS fd }
		RULE taken PATTERN { file_read:r } WHERE { r.call == 40 } RETURN { r.offset AS offset }
	EOF
	[ "$(seen openat2)" = "$(both '"return":{"flags":1}')" ]
	[ "$(seen pipe)" = "$(both "$(both '"return":{"made":0}')")" ]
	[ "$(seen poll)" = "$(both '"return":{"fd":77}'$'\n''"return":{"fd":78}')" ]
	[ "$(seen sendfile | grep offset)" = "$(both '"return":{"offset":3}')" ]
	run --separate-stderr "$ASTERISM" run -f json @closed-descriptor -- "$ASTERISM_TEST_PROGRAMS/untouched-structures" pipe
	[[ $output == *"system call 1 uses descriptor"* ]]
}

@test "conditions and numbers in memory of the user are unread wherever they are read" {
	untouched=$ASTERISM_TEST_PROGRAMS/untouched
	cat >else.events <<-EOF
		EVENT asked_at_end { dfd: i32 }
		FROM raw_syscalls:sys_exit WHEN regs->orig_ax == 257 AND user_word(syscall_arg(1)) & 0xffff == 0x6e2f { dfd = syscall_arg(0) }
		EVENT asked_by_record { id: u64 }
		FROM sched:sched_process_fork WHEN user_word(ctx(8, 8) | 1) != 0 { id = ctx(8, 8) }
		EVENT asked_by_probe { text: u64 }
		FROM uprobe:"$untouched:take_name" WHEN user_word(user_arg(0)) & 0xffff == 0x6e2f { text = user_word(user_arg(0)) }
		EVENT name_by_word { name: string }
		FROM raw_syscalls:sys_exit WHEN regs->orig_ax == 257 { name = kstr(user_word(syscall_arg(1))) }
	EOF
	echo 'EVENTS "else.events"
		RULE at_end PATTERN { asked_at_end:e } RETURN { e.dfd AS dfd }
		RULE by_word PATTERN { name_by_word:n } WHERE { n.name == "?" }' >end.rule
	echo 'EVENTS "else.events" RULE by_probe PATTERN { asked_by_probe:p } RETURN { p.text AS text }' >probe.rule
	for memory in touched whole across supplied; do
		run --separate-stderr -0 "$ASTERISM" run -f json end.rule -- "$untouched" $memory open /nowhere
		[[ ${lines[-1]} =~ '"at_end":{"matches":1,' && ${lines[-1]} != *unread* ]]
		run --separate-stderr -0 "$ASTERISM" run -f json probe.rule -- "$untouched" $memory name /nowhere
		[[ ${lines[-1]} =~ '"by_probe":{"matches":1,' && ${lines[-1]} != *unread* ]]
	done
	for memory in forbidden; do
		run --separate-stderr -3 "$ASTERISM" run -f json end.rule -- "$untouched" $memory open /nowhere
		[[ ${lines[-1]} =~ '"at_end":{"matches":0,'[^}]*'"unread":1}' && ${lines[-1]} =~ '"by_word":{"matches":0,'[^}]*'"unread":1}' ]]
		run --separate-stderr -3 "$ASTERISM" run -f json probe.rule -- "$untouched" $memory name /nowhere
		[[ ${lines[-1]} =~ '"by_probe":{"matches":0,'[^}]*'"unread":1}' ]]
	done
	echo 'EVENTS "else.events" RULE by_record PATTERN { asked_by_record:r }' >record.rule
	run --separate-stderr -3 "$ASTERISM" run -f json record.rule -- sh -c "true & wait"
	[[ ${lines[-1]} =~ '"by_record":{"matches":0,'[^}]*'"unread":'[1-9] ]]
}

@test "whose event it is cannot lie in memory of the user" {
	printf '%s\n' 'EVENT whose { id: i64 }' 'FROM raw_syscalls:sys_enter SCOPE user_word(syscall_arg(1)) { id = id }' >whose.events
	echo 'EVENTS "whose.events" RULE whose PATTERN { whose:w }' >whose.rule
	run -4 "$ASTERISM" run whose.rule -- true
	[[ $output == *"SCOPE: it lies in user memory, which may not be present"* ]]
}

@test "more calls than can be awaited: what found no room is counted and told" {
	echo "RULE crowd PATTERN { sys_enter_openat:o } WHERE { o.filename == \"$PWD/crowd\" }" >crowd.rule
	run --separate-stderr -3 "$ASTERISM" run -f json crowd.rule -- "$ASTERISM_TEST_PROGRAMS/untouched-crowd" 4120 "$PWD/crowd" release
	[[ ${lines[-1]} =~ '"crowd":{"matches":4096,'[^}]*'"unread":24}' ]]
	[[ $stderr == *"rule crowd did not see 24 events"* && $stderr == *"4,096 calls"* ]]
	rm crowd
	run --separate-stderr -0 "$ASTERISM" run -f json crowd.rule -- "$ASTERISM_TEST_PROGRAMS/untouched-crowd" 100 "$PWD/crowd" release
	[[ ${lines[-1]} =~ '"crowd":{"matches":100,' && ${lines[-1]} != *unread* ]]
}

@test "threads that are killed inside the call: their events are there all the same" {
	echo "RULE crowd PATTERN { sys_enter_openat:o } WHERE { o.filename == \"$PWD/crowd\" }" >crowd.rule
	run --separate-stderr -137 "$ASTERISM" run -f json crowd.rule -- "$ASTERISM_TEST_PROGRAMS/untouched-crowd" 100 "$PWD/crowd" kill
	[[ ${lines[-1]} =~ '"crowd":{"matches":100,' && ${lines[-1]} != *unread* ]]
	rm crowd
	# Nothing of them is in the way of others, also where the number of a thread is used again.
	run --separate-stderr -0 "$ASTERISM" run -f json crowd.rule -- sh -c '"$1" 3000 "$2" kill; rm "$2"; "$1" 3000 "$2" release' sh \
		"$ASTERISM_TEST_PROGRAMS/untouched-crowd" "$PWD/crowd"
	[[ ${lines[-1]} =~ '"crowd":{"matches":6000,' && ${lines[-1]} != *unread* ]]
}

@test "an event of which nobody knows what it says is unread in user space and in recordings, too" {
	echo 'EVENTS "behind.events"
		RULE given PATTERN { text_given:t } WHERE { t.text LIKE "*wanted*", t.ts * 1.0 > 0.5 }' >user.rule
	run "$ASTERISM" run -v user.rule -- true
	[[ $output == *"given"*"user space"* ]]
	cat >nothing.c <<-'EOF'
		#include <sys/syscall.h>
		#include <unistd.h>
		int main(void) { return syscall(SYS_writev, 1, 8, 1) > 0; }
	EOF
	cc -o nothing nothing.c
	run --separate-stderr -3 "$ASTERISM" run -f json user.rule -- ./nothing
	[[ ${lines[-1]} =~ '"lost":0,"rules":{"given":{"matches":0,'[^}]*'"unread":1}' ]]
	[[ $stderr == *"rule given did not see 1 event"* && $stderr != *"came faster"* ]]
	run --separate-stderr -3 "$ASTERISM" record -o nothing.trace --catalog behind.events -e text_given -- ./nothing
	[[ $stderr == *"1 events are missing: a value in them, or one that decides whether they happened, could not be read from memory"* ]]
	[[ $stderr != *"no room in the ring"* ]]
	run --separate-stderr -0 "$ASTERISM" record -o text.trace --catalog behind.events -e text_given -- \
		"$ASTERISM_TEST_PROGRAMS/untouched-structures" writev
}

@test "order: what the kernel raises within an awaited call comes before it, with the later time, and the rule is told so" {
	cat >order.rule <<-'EOF'
		RULE after PATTERN { [sys_enter_openat:o, page_fault_kernel:f] } WHERE { [tid], o.filename LIKE "/nowhere/*" }
		RULE before PATTERN { [page_fault_kernel:f, sys_enter_openat:o] } WHERE { [tid], o.filename LIKE "/nowhere/*" }
			RETURN { (f.ts > o.ts) AS younger }
	EOF
	"$ASTERISM" events page_fault_kernel >/dev/null || skip "this kernel has no page_fault_kernel"
	run --separate-stderr "$ASTERISM" run -f json order.rule -- "$ASTERISM_TEST_PROGRAMS/untouched" whole open /nowhere/wanted
	[[ $stderr == *"note: rule after may see sys_enter_openat after page_fault_kernel of the same call, if the data that it compares is not in memory yet"* ]]
	[[ $output == *'"match":"before"'*'"younger":true'* ]]
	[[ ${lines[-1]} =~ '"after":{"matches":0,' ]]
	run --separate-stderr "$ASTERISM" run -f json order.rule -- "$ASTERISM_TEST_PROGRAMS/untouched" touched open /nowhere/wanted
	[[ $output != *'"younger":true'* ]]
	# Calls only: nothing of the thread can come between.
	echo 'RULE calls PATTERN { [sys_enter_openat:o, sys_exit_openat:x] } WHERE { [tid], o.filename LIKE "/nowhere/*" }' >calls.rule
	run --separate-stderr "$ASTERISM" run -f json calls.rule -- "$ASTERISM_TEST_PROGRAMS/untouched" whole open /nowhere/wanted
	[[ $stderr != *"note: rule calls takes"* && ${lines[-1]} =~ '"calls":{"matches":1,' ]]
}
