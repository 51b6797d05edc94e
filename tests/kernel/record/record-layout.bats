#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# `asterism record --layout lttng`: what babeltrace2 and asterism itself find in such a trace. Needs root.

bats_require_minimum_version 1.5.0
load ../rig/recording

setup() {
	recording_setup
	command -v babeltrace2 >/dev/null || skip "babeltrace2 is not installed"
	prio=$((120 + $(nice)))
}

teardown() {
	if [ -s pid ]; then
		kill "$(cat pid)" 2>/dev/null || true
	fi
}

# The trace as babeltrace2 shows it, without a warning; $events holds it without contexts, one event a line.
shown() {
	run --separate-stderr -0 babeltrace2 --no-delta "$1"
	[ -z "$stderr" ]
	events=$(sed 's/^\[[^]]*\] [^ ]* //' <<<"$output" | grep -v '^context:')
}

# How many of the events have this name.
count() {
	grep -c "^$1: " <<<"$events"
}

# Skips where the events of such a trace cannot be read.
dumped() {
	run --separate-stderr "$ASTERISM" dump "$@"
	[[ $stderr != *"cannot be used"* ]] || skip "built without libbabeltrace2"
	[ "$status" = 0 ]
}

@test "names and fields are LTTng's, and a system call is an event of its own name" {
	run --separate-stderr -0 "$ASTERISM" record --layout lttng -o trace -- "$plant" calls pid uid pid 1
	[[ $stderr == *" events in "* ]]
	shown trace
	[ "$(count syscall_entry_getpid)" = 2 ]
	[ "$(count syscall_exit_getpid)" = 2 ]
	[ "$(count syscall_entry_getuid)" = 1 ]
	[ "$(count syscall_entry_nanosleep)" = 1 ]
	[ "$(count sys_enter)" = 0 ]
	[ "$(count syscall_entry_unknown)" = 0 ]
	[ "$(count sched_process_exec)" = 1 ]
	[ "$(count sched_process_exit)" = 1 ]
	grep -q '^syscall_exit_nanosleep: { cpu_id = [0-9]* }, { id = 35, ret = 0 }' <<<"$events"
	grep -q '^syscall_entry_openat: .* dfd = -100, filename = 0x[0-9A-F]*, flags = 524288, mode = 0, ' <<<"$events"
	grep -q "^sched_switch: .* prev_state = 1, prev_tid = [0-9]*, prev_prio = $prio, next_tid = [0-9]*, next_prio = [0-9]*, prev_comm = \"plant\", next_comm = " <<<"$events"
	grep -q '^sched_wakeup: .* tid = [0-9]*, .* prio = [0-9]*, target_cpu = [0-9]*, comm = "' <<<"$events"
	grep -q "^sched_process_exec: .* old_tid = [0-9]*, filename = \"$plant\", tid = [0-9]* }" <<<"$events"
	grep -q "^sched_process_exit: .* prio = $prio, .* tid = [0-9]*, comm = \"plant\" }" <<<"$events"
}

@test "fields that say who raised the event are true, whatever was recorded" {
	"$ASTERISM" record -q --layout lttng -o trace -e sched_process_exit:prio,sched_process_fork:child_pid -- sh -c 'echo $$ >me; "$0" fork; true' "$plant"
	shown trace
	[ "$(count sched_process_exit)" = 3 ]
	[ "$(sed -n "s/^sched_process_exit: .* prio = $prio, tid = \([0-9]*\), comm = \"sh\" }/\1/p" <<<"$events")" = "$(cat me)" ]
	[ "$(grep -c '^sched_process_exit: .* comm = "plant" }' <<<"$events")" = 2 ]
	child=$(sed -n "s/^sched_process_fork: .* child_tid = \([0-9]*\), parent_pid = $(cat me) }/\1/p" <<<"$events")
	grep -q "^sched_process_fork: .*, parent_pid = $child }" <<<"$events"
}

@test "LTTng's own analyses take it" {
	command -v lttng-schedlog >/dev/null || skip "lttnganalyses is not installed"
	mkdir session
	"$ASTERISM" record -q --layout lttng -o session/kernel -- sh -c 'echo $$ >me; "$0" calls pid 20' "$plant"
	for analysis in cputop schedstats irqstats iolatencystats; do
		run -0 lttng-$analysis --no-progress --no-intersection session
	done
	run -0 lttng-schedlog --no-progress --no-intersection session
	[[ $output == *"plant ("* ]]
	[[ $output == *"sh ($(cat me))"* ]]
}

@test "the environment is LTTng's, and says who recorded it" {
	"$ASTERISM" record -q --layout lttng -o trace -e sched_switch -- true
	for entry in 'domain = "kernel"' 'tracer_name = "lttng-modules"' 'tracer_major = 2' 'tracer_minor = 13' \
		'tracer_patchlevel = 0' "hostname = \"$(uname -n)\"" "kernel_release = \"$(uname -r)\"" \
		"kernel_version = \"$(uname -v)\"" 'sysname = "Linux"'; do
		grep -qxF "	$entry;" trace/metadata
	done
	grep -q '^	asterism_version = "' trace/metadata
	[ "$(grep -c tracer_name trace/metadata)" = 1 ]
}

@test "a dump of the launched process comes first" {
	"$ASTERISM" record -q --layout lttng -o trace -- sh -c 'echo $$ >me; exec "$0" calls pid' "$plant"
	me=$(cat me)
	shown trace
	mapfile -t lines <<<"$events"
	[[ ${lines[0]} == "lttng_statedump_start: "* ]]
	[[ ${lines[1]} == "lttng_statedump_process_state: { cpu_id = 0 }, { tid = $me, vtid = "*", pid = $me, vpid = "*", ppid = "*", vppid = "*", type = 0, mode = 5, submode = 1, status = "*", ns_level = "*", ns_inum = "*", cpu = "*", name = \"asterism\" }" ]]
	[[ ${lines[2]} == "lttng_statedump_end: "* ]]
	[ "$(grep -c '^lttng_statedump' <<<"$events")" = 3 ]
}

@test "with -p: all threads of the process, and no other process" {
	python3 -c 'import os, threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
open("ready", "w").write("")
time.sleep(60)' 3>&- &
	echo $! >pid
	wait_for [ -e ready ]
	"$ASTERISM" record -q --layout lttng -o trace -p "$(cat pid)" --for 50ms
	shown trace
	ls "/proc/$(cat pid)/task" | sort >expected
	[ "$(wc -l <expected)" = 2 ]
	sed -n "s/^lttng_statedump_process_state: .* { tid = \([0-9]*\), .* pid = $(cat pid), .* ppid = $$, .*/\1/p" <<<"$events" | sort >found
	diff expected found
	[ "$(count lttng_statedump_process_state)" = 2 ]
}

@test "the same events as in our own layout" {
	events_wanted=sched_process_exec,sched_process_exit,sys_enter,sys_exit
	"$ASTERISM" record -q -o ours -e $events_wanted -- "$plant" calls pid uid gid ppid pid
	"$ASTERISM" record -q --layout lttng -o theirs -e $events_wanted -- "$plant" calls pid uid gid ppid pid
	shown ours
	sed -n 's/^sys_\(enter\|exit\): .*{ id = \(-\?[0-9]*\),.*/\1 \2/p; s/^\(sched_[a-z_]*\):.*/\1/p' <<<"$events" | sort >expected
	shown theirs
	sed -n 's/^syscall_entry_[a-z0-9_]*: .*{ id = \(-\?[0-9]*\),.*/enter \1/p; s/^syscall_exit_[a-z0-9_]*: .*{ id = \(-\?[0-9]*\),.*/exit \1/p; s/^\(sched_[a-z_]*\):.*/\1/p' <<<"$events" | sort >found
	[ "$(wc -l <expected)" -gt 40 ]
	diff expected found
}

@test "asterism reads it: the catalog's names, who raised each event, rules" {
	"$ASTERISM" record -q --layout lttng -o trace -- sh -c 'echo $$ >me; exec "$0" calls pid 120 uid' "$plant"
	me=$(cat me)
	dumped -f json -e 'sys_*_nanosleep' trace
	[ ${#lines[@]} = 2 ]
	for line in "${lines[@]}"; do
		[[ $line == *"\"pid\":$me,\"tid\":$me,\"comm\":\"plant\""* ]]
	done
	run --separate-stderr -2 "$ASTERISM" dump -e context trace
	[[ $stderr == *"the trace has no event type 'context'"* ]]
	cat >slow.rule <<-'END'
		RULE slow PATTERN { [sys_enter_nanosleep:e, sys_exit_nanosleep:x] } WHERE { [tid], x.ts - e.ts > 100ms }
		RETURN { x.ret, e.tid, e.comm }
		RULE left PATTERN { sched_switch:s } WHERE { s.prev_comm == "plant", s.prev_state == 1, s.prev_pid == s.tid }
	END
	run --separate-stderr -0 "$ASTERISM" replay -f json slow.rule trace
	[ "$(grep -c '"match":"slow"' <<<"$output")" = 1 ]
	[[ $stderr == "asterism: note: trace does not list which events were enabled, so "* ]]
	echo 'RULE any PATTERN { sys_enter:e } WHERE { e.id == 35 } RETURN { e.arg1, e.tid, e.comm }' >any.rule
	grep -q "\"return\":{\"x.ret\":0,\"e.tid\":$me,\"e.comm\":\"plant\"}" <<<"$output"
	[ "$(grep -c '"match":"left"' <<<"$output")" -ge 1 ]
	run --separate-stderr -0 "$ASTERISM" replay -f json any.rule trace
	[ ${#lines[@]} = 2 ]
	[[ ${lines[0]} == *"\"return\":{\"e.arg1\":0,\"e.tid\":$me,\"e.comm\":\"plant\"}"* ]]
}

@test "types of single calls keep their own fields, texts too" {
	"$ASTERISM" record -q --layout lttng -o trace -e sys_enter_openat,sys_exit_openat -- cat /etc/hostname
	shown trace
	grep -q '^syscall_entry_openat: { cpu_id = [0-9]* }, { dfd = -100, flags = [0-9]*, mode = [0-9]*, filename = "/etc/hostname" }' <<<"$events"
	dumped -e sys_enter_openat trace
	[[ $output == *'filename="/etc/hostname"'* ]]
}

@test "a field that is left out is not taken from another one of that name" {
	"$ASTERISM" record -q --layout lttng -o trace -e sched_process_fork:child_tgid -- "$plant" fork
	shown trace
	[[ $events == *"sched_process_fork: "*"{ child_pid = "* ]]
	dumped -f json -e sched_process_fork trace
	[[ $output == *'"child_pid":0'* ]]
	[[ $output != *'"child_tgid":0'* ]]
}

@test "rules run meanwhile, and their matches are in the trace" {
	echo 'RULE two PATTERN { [sys_enter_getpid:a, sys_exit_getpid:b] } WHERE { [tid] }' >two.rule
	run --separate-stderr -0 "$ASTERISM" record -q -f json --layout lttng -o trace --rules two.rule -- "$plant" calls pid
	[[ $output == *'"match":"two"'* ]]
	shown trace
	[ "$(count syscall_entry_getpid)" = 1 ]
	[ "$(count match)" = 1 ]
	[[ $events == "lttng_statedump_start: "* ]]
	[[ $events == *'match: '*'rule = "two"'* ]]
}

@test "snapshots have the names, but no state dump" {
	"$ASTERISM" record -q --layout lttng --flight -o box -- "$plant" calls pid
	shown box/end-1
	[ "$(count syscall_entry_getpid)" = 1 ]
	[ "$(count lttng_statedump_start)" = 0 ]
}

@test "what cannot begin leaves nothing behind" {
	run --separate-stderr -2 "$ASTERISM" record --layout lttng -o trace -- ./no-such-command
	[ ! -e trace ]
	printf '#!/nonexistent/interpreter\n' >no-script
	chmod +x no-script
	run --separate-stderr -2 "$ASTERISM" record --layout lttng -o trace -- ./no-script
	[ ! -e trace ]
}

@test "a layout that there is not" {
	run --separate-stderr -2 "$ASTERISM" record --layout lttg -o trace -- true
	[ "${stderr_lines[0]}" = "asterism: error: --layout cannot be 'lttg'" ]
	[ "${stderr_lines[1]}" = "help: did you mean 'lttng'?" ]
	[ ! -e trace ]
}
