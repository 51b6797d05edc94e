#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What a recording holds, by -e, by rules and by default, and what is said of rules that ask for something else.

bats_require_minimum_version 1.5.0
load ../rig/recording

setup() {
	recording_setup
	cat >closes.py <<-'END'
		import os
		os.dup2(0, 90)
		os.close(90)
		try: os.close(90)
		except OSError: pass
	END
}

record() {
	"$ASTERISM" record -q -o "$@"
}

# The events in a trace, each name once.
types() {
	"$ASTERISM" dump -f json "$1" | python3 -c 'import json, sys; print(*sorted({json.loads(l)["event"] for l in sys.stdin}))'
}

@test "a shipped rule finds in a default recording what it finds live" {
	run -0 --separate-stderr "$ASTERISM" run -q @closed-descriptor -- python3 -S closes.py
	[[ $output == *"descriptor 90 is closed again"* ]]
	record t -- python3 -S closes.py
	run -0 --separate-stderr "$ASTERISM" replay -q @closed-descriptor t
	[[ $output == *"descriptor 90 is closed again"* ]]
	[ -z "$stderr" ]
}

@test "the shipped rules that a default recording does not serve, all of them: their events are dear, or they ask for paths" {
	record t -- cat /dev/null
	: >refused
	for rule in "$BATS_TEST_DIRNAME"/../../../rules/*/; do
		rule=$(basename "$rule")
		"$ASTERISM" replay -q "@$rule" t >/dev/null 2>&1 || echo "$rule" >>refused
	done
	run -0 cat refused
	[ "$output" = "connections
deadlock
double-read
files-opened
fsync-stall
held-asleep
kernel-locks
lock-contention
lock-misuse
lock-order
overwrite
read-after-write
real-time
secret-after-network
slow-request
small-writes
syn-flood" ]
}

@test "--skip-missing goes on without the rules that a trace cannot hold, and says which" {
	cat >two.rule <<-'END'
		RULE opened PATTERN { sys_enter_openat:a } RETURN { a.filename AS file }
		RULE called PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid] }
	END
	record t -e sys_enter,sys_exit -- cat /dev/null
	run -2 --separate-stderr "$ASTERISM" replay two.rule t
	run -0 --separate-stderr "$ASTERISM" replay --skip-missing two.rule t
	[[ $output == *called* && $output != *opened* ]]
	[[ $stderr == *"warning: rule opened: sys_enter_openat:filename was not recorded, so it is skipped: it cannot match in this input"* ]]
	[[ $stderr == *"help: record what the rules need: asterism record -o DIR two.rule"* ]]
	run -0 --separate-stderr "$ASTERISM" report --only matches --rules two.rule --skip-missing t
	[[ $output == *called* && $stderr == *"rule opened: "*" is skipped"* ]]
	run -2 --separate-stderr "$ASTERISM" replay --skip-missing -r 'RULE opened PATTERN { sys_enter_openat:a } RETURN { a.filename AS file }' t
	[[ $stderr == *"all rules are skipped"* ]]
}

@test "a rule that a trace cannot hold is an error, and what it tells to do helps" {
	record t -e sys_enter,sys_exit -- cat /dev/null
	run -2 --separate-stderr "$ASTERISM" replay @creation-error t
	[[ $stderr == *"error: rule open_failed: sys_enter_openat:filename was not recorded, so it cannot match in this input"* ]]
	[[ $stderr == *"help: record what the rules need: asterism record -o DIR @creation-error -- CMD"* ]]
	[[ $stderr != *socket_failed* ]]
	record u @creation-error -- cat /dev/null /nowhere || true
	run -0 --separate-stderr "$ASTERISM" replay -q @creation-error u
	[[ $output == *'file="/nowhere"'* ]]
	[ "$(types u)" = "sched_process_exec sched_process_exit sys_enter_openat sys_exit_openat" ]
}

@test "fields that were not recorded" {
	record t -e sys_enter:id,sys_exit -- cat /dev/null
	echo 'RULE r PATTERN { sys_enter_close:c } WHERE { c.fd > 2 } RETURN { c.fd }' >r.rule
	run -2 --separate-stderr "$ASTERISM" replay r.rule t
	[[ $stderr == *"rule r: sys_enter_close:fd was not recorded"* ]]
	echo 'RULE r PATTERN { sys_enter_close:c } RETURN { c.tid }' >r.rule
	run -0 --separate-stderr "$ASTERISM" replay r.rule t
	[[ $output == *c.tid=* ]]
}

@test "explain --trace tells of runs that stay open, as ends of processes and threads were not recorded" {
	cat >r.rule <<-'END'
		RULE of_thread PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid] }
		RULE of_process PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [pid] }
		RULE of_all PATTERN { [sys_enter:a, sys_exit:b] }
	END
	said='not recorded: runs stay open after their process or thread is gone, so the figures for open runs may be too high'
	export ASTERISM_PRICES=table
	record t -e sys_enter,sys_exit -- sh -c '/bin/true; /bin/true'
	run -0 --separate-stderr "$ASTERISM" explain -f json --trace t r.rule
	[ "$(grep -c warning <<<"$stderr")" = 2 ]
	[[ $stderr == *"warning: rule of_thread: sched_process_exit, sched_process_exec were $said"* ]]
	[[ $stderr == *"warning: rule of_process: sched_process_exit was $said"* ]]
	[[ $stderr == *"help: record what the rule needs: asterism record -o DIR RULE -- CMD"* ]]
	[ "$(jq -c .ends_not_recorded <<<"$output" | tr '\n' ' ')" = \
		'["sched_process_exit","sched_process_exec"] ["sched_process_exit"] null ' ]
	run -0 --separate-stderr "$ASTERISM" replay -q r.rule t
	[ -z "$stderr" ]
	record u -e sys_enter,sys_exit,sched_process_exit,sched_process_exec -- sh -c '/bin/true; /bin/true'
	run -0 --separate-stderr "$ASTERISM" explain -f json --trace u r.rule
	[ -z "$stderr" ]
	[[ $output != *ends_not_recorded* ]]
}

@test "what is only one way of several, or forbidden, is a warning" {
	record t -e sys_enter,sys_exit -- cat /dev/null
	cat >r.rule <<-'END'
		RULE either PATTERN { [(contention_begin | sys_enter_close), sys_exit:x] } WHERE { [tid] } RETURN { x.tid }
		RULE without PATTERN { [sys_enter_close:c, ~page_fault_user, sys_exit:x] } WHERE { [tid] } RETURN { x.tid }
	END
	run -0 --separate-stderr "$ASTERISM" replay r.rule t
	[[ $output == *either* && $output == *without* ]]
	[[ $stderr == *"warning: rule either: contention_begin was not recorded: matches with it are missing"* ]]
	[[ $stderr == *"warning: rule without: page_fault_user was not recorded, so its absence is not proven and matches may be wrong"* ]]
}

@test "a rule of its own catalog, recorded by name and derived from raw calls" {
	mkdir own
	cat >own/mine.events <<-'END'
		EVENT asked { number: i32, low: u8 }
		FROM raw_syscalls:sys_enter WHEN id == 39 { number = id + 1000, low = id }
		EVENT answered { number: i64, given: u64 }
		FROM raw_syscalls:sys_exit WHEN regs->orig_ax == 8 { number = regs->orig_ax, given = syscall_arg(1) * 2 }
	END
	echo 'EVENTS "mine.events" RULE r PATTERN { asked:a } RETURN { a.number, a.low }' >own/r.rule
	echo 'EVENTS "mine.events" RULE s PATTERN { answered:a } WHERE { a.given == 14 } RETURN { a.number }' >own/s.rule
	record t --catalog own/mine.events -e asked -- "$plant" calls pid
	[ "$(types t)" = asked ]
	run -0 --separate-stderr "$ASTERISM" replay -q own/r.rule t
	[[ $output == *"a.number=1039  a.low=39"* ]]
	ASTERISM_CATALOGS=$PWD/own record u -e sys_enter,sys_exit -- python3 -SEc 'import os; os.getpid(); os.lseek(os.open("/", 0), 7, 0)'
	run -0 --separate-stderr "$ASTERISM" replay -q own/r.rule own/s.rule u
	[[ $output == *"a.number=1039  a.low=39"* && $output == *"a.number=8"* ]]
	run -2 --separate-stderr "$ASTERISM" record -o v --catalog nowhere.events -e asked -- true
	[[ $stderr == *"catalog not found: 'nowhere.events'"* ]]
	[ ! -e v ]
}

@test "types of shipped catalogs, and what is left out" {
	record t -e data_read,descriptor_closed -- cat /etc/hostname
	[ "$(types t)" = "data_read descriptor_closed" ]
	record u -e '!sys_*,!sched_*' -- cat /dev/null
	run -0 types u
	[[ $output != *sys_* && $output != *sched_* && $output == *page_fault_user* && $output == *file_opened* ]]
	run -2 --separate-stderr "$ASTERISM" record -o v -e 'sched_switch,!page*' -- true
	[[ $stderr == *"'!page*' excludes nothing that would be recorded"* ]]
}

@test "rules say what is recorded without running, or run" {
	record t @closed-descriptor -- python3 -S closes.py
	run -0 types t
	[[ $output == *descriptor_closed* && $output != *match* ]]
	run -0 --separate-stderr "$ASTERISM" replay -q @closed-descriptor t
	[[ $output == *"descriptor 90 is closed again"* ]]
	record u -e sched_switch @closed-descriptor -- python3 -S closes.py
	run -0 types u
	[[ $output == *sched_switch* && $output == *descriptor_closed* ]]
	run -2 --separate-stderr "$ASTERISM" record -o v @closed-descriptor --rules @deadlock -- true
	[[ $stderr == *"rule files and -r only choose which events to record"* ]]
	run -2 --separate-stderr "$ASTERISM" record -o v @closed-descriptor --fail-on-match -- true
	[[ $stderr == *"--fail-on-match needs rules that run"* ]]
}

@test "marks of matches in what dump writes can be replayed" {
	echo 'RULE hit PATTERN { sys_enter_close:c } RETURN { c.fd }' >hit.rule
	"$ASTERISM" record -q -o t --rules hit.rule -- cat /dev/null >/dev/null
	"$ASTERISM" dump -f json t >t.jsonl
	grep -q '"event":"match"' t.jsonl
	python3 -c 'import json; [json.loads(line) for line in open("t.jsonl")]'
	run -0 --separate-stderr "$ASTERISM" replay -q --time mono hit.rule t
	live=$output
	run -0 --separate-stderr "$ASTERISM" replay -q --time mono hit.rule t.jsonl
	[ "$output" = "$live" ]
}
