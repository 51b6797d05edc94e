#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# `asterism record`: what is in a trace, how a recording ends, what rules do meanwhile. Needs root.

bats_require_minimum_version 1.5.0
load ../rig/recording

setup() {
	recording_setup
}

# The event types that the metadata of the trace declares, and `fields_of TRACE EVENT` those of one of them.
types_of() {
	sed -n '/^event {/,/^}/ s/^\tname = "\(.*\)";/\1/p' "$1/metadata" | grep -vx 'context\|late\|match' | sort | tr '\n' ' '
}

fields_of() {
	sed -n "/name = \"$2\"/,/^}/ s/^\t\t.* _\([a-z0-9_]*\)[;[].*/\1/p" "$1/metadata" | sort | tr '\n' ' '
}

agrees_with_babeltrace() {
	command -v babeltrace2 >/dev/null || skip "babeltrace2 is not installed"
	run --separate-stderr -0 python3 "$BATS_TEST_DIRNAME/trace-agree.py" "$ASTERISM" "$1"
	[ "$output" = $(($(count "$1") - $(count "$1" match))) ]
}

# A shell that waits for a line, and then becomes the plant with the arguments; $pid is its id.
planted() {
	mkfifo go
	bash -c 'read -r _ <go; exec "$@"' bash "$plant" "$@" 3>&- &
	pid=$!
}

@test "a command: every event, as often as it was, with all its fields" {
	run --separate-stderr -0 "$ASTERISM" record -o trace -e sys_enter_getpgid,sys_exit_getpgid -- "$plant" flood 5000
	[[ $stderr == "asterism: note: 10000 events in "*" s, "*" in trace" ]]
	[ -z "$output" ]
	[ "$(count trace)" = 10000 ]
	[ "$(count trace sys_enter_getpgid)" = 5000 ]
	[ "$(count trace sys_exit_getpgid)" = 5000 ]
	[ "$(count trace lost)" = 0 ]
	"$ASTERISM" dump -f json -e sys_enter_getpgid trace | grep -o '"target_pid":[0-9]*' | cut -d: -f2 >got
	seq 1000000 1004999 | diff - got
	[ "$("$ASTERISM" dump -f json -e sys_exit_getpgid trace | grep -c '"comm":"plant","ret":-3}$')" = 5000 ]
	agrees_with_babeltrace trace
}

@test "what is usually recorded: babeltrace2 reads the same events and fields" {
	run --separate-stderr -0 "$ASTERISM" record -o trace -- sh -c '"$0" fork /bin/true; "$0" faults 100; "$0" signal; "$0" meet crossed 50; ls /' "$plant"
	for event in sched_process_fork sched_process_exec sched_process_exit task_rename sched_switch sched_waking \
		sched_wakeup sys_enter sys_exit page_fault_user signal_generate signal_deliver; do
		[ "$(count trace $event)" -gt 0 ] || { echo "no $event"; false; }
	done
	agrees_with_babeltrace trace
}

@test "strings, empty ones and long ones, as babeltrace2 reads them" {
	long=$(printf '%0200d' 7)
	run -0 "$ASTERISM" record -q -o trace -e 'sys_*_openat,sys_*_newfstatat,sched_process_exec,task_*' -- \
		sh -c 'cat "/no/such \"file\"" "/no/back\\slash" /no/'"$long"' /etc/hostname; ls -R /etc' >/dev/null
	"$ASTERISM" dump -f json trace >dumped
	grep -qF '"filename":"/no/such \"file\""' dumped
	grep -qF '"filename":"/no/back\\slash"' dumped
	grep -qF '"filename":""' dumped
	agrees_with_babeltrace trace
}

@test "-e: names, patterns, fields; only these are in the metadata" {
	run -0 "$ASTERISM" record -q -o trace -e 'sys_*_getpgid,sched_switch:next_pid+prev_pid,sys_enter:id' -- "$plant" flood 10
	[ "$(types_of trace)" = "sched_switch sys_enter sys_enter_getpgid sys_exit_getpgid " ]
	[ "$(fields_of trace sched_switch)" = "next_pid prev_pid " ]
	[ "$(fields_of trace sys_enter)" = "id " ]
	[ "$(fields_of trace sys_enter_getpgid)" = "target_pid " ]
	[ "$(count trace sys_enter_getpgid)" = 10 ]
	[ "$("$ASTERISM" dump -f json -e sys_enter trace | grep -c '"comm":"plant","id":121}$')" = 10 ] || [ "$(uname -m)" != x86_64 ]
	agrees_with_babeltrace trace
	# What is named twice gains fields.
	run -0 "$ASTERISM" record -q -o more -e 'sys_enter:arg1,sys_ente?:id+arg2,sys_exit:ret,sys_exit' -- true
	[ "$(fields_of more sys_enter)" = "arg1 arg2 id " ]
	[ "$(fields_of more sys_exit)" = "id ret " ]
	# So does a list that is given in pieces.
	run -0 "$ASTERISM" record -q -o pieces -e sys_enter:id -e sched_switch:prev_pid,sys_enter:arg0 -e sys_exit:ret -- true
	[ "$(types_of pieces)" = "sched_switch sys_enter sys_exit " ]
	[ "$(fields_of pieces sys_enter)" = "arg0 id " ]
}

@test "-e with a pattern: what this kernel offers of it" {
	absent=
	for event in $("$ASTERISM" events | cut -d' ' -f1 | grep '^m'); do
		"$ASTERISM" events -v $event | grep -q 'from.*not on this kernel' && absent=$event && break
	done
	[ -n "$absent" ] || skip "this kernel offers all events"
	run --separate-stderr -4 "$ASTERISM" record -o named -e $absent -- touch ran
	[[ $stderr == "asterism: error: this kernel does not have the event $absent: "* ]]
	run --separate-stderr -2 "$ASTERISM" record -o named -e "$absent*" -- touch ran
	[ "$stderr" = "asterism: error: this kernel does not raise any of the events that match '$absent*'" ]
	[ ! -e ran ] && [ ! -e named ]
	run --separate-stderr -0 "$ASTERISM" record -o trace -e '[mp]*_*,sys_*_getpgid' -- "$plant" flood 100
	[[ " $(types_of trace)" != *" $absent "* ]]
	[[ " $(types_of trace)" == *" page_fault_user "* ]]
	[ "$(count trace sys_enter_getpgid)" = 100 ]
	[ "$(count trace sys_exit_getpgid)" = 100 ]
	agrees_with_babeltrace trace
}

@test "-p: the process and what it starts, from then on until it ends" {
	planted flood 1000
	"$plant" flood 5 3>&- &
	"$ASTERISM" record -v -o trace -e 'sys_*_getpgid,sched_process_exit' -p $pid 2>said 3>&- &
	wait_for grep -q observing said
	"$plant" flood 5
	echo >go
	wait $!
	[ "$(count trace sys_enter_getpgid)" = 1000 ]
	[ "$(count trace sys_exit_getpgid)" = 1000 ]
	[ "$("$ASTERISM" dump -f json trace | grep -c "\"pid\":$pid,")" = "$(count trace)" ]
}

@test "only the processes in scope, and nothing that asterism itself does" {
	timeout 20 sh -c 'while :; do cat /proc/self/stat >/dev/null; done' 3>&- &
	noise=$!
	cp "$ASTERISM" myself
	run -0 ./myself record -q -o trace -e sys_enter,sys_exit -- \
		bash -c 'echo $$ >ours; for i in 1 2 3; do (:; echo $BASHPID >>ours); done; sleep 0.3'
	"$ASTERISM" dump -f json trace | grep -o '"pid":[0-9]*' | cut -d: -f2 | sort -u >got
	sort -u ours | diff - got
	run ./myself record -q -o all -a --for 500ms -e 'sys_enter,sys_exit,sched_switch,sched_waking'
	[[ $status = [03] ]] # where much else runs, some of it is lost
	kill $noise
	[ "$(count all)" -gt 1000 ]
	[ "$("$ASTERISM" dump -f json all | grep -c '"comm":"myself"')" = 0 ]
}

@test "--for ends the recording and the command" {
	run --separate-stderr -143 "$ASTERISM" record --for 300ms -o trace -- "$plant" sleep 10 1000
	[[ $stderr == "asterism: note: "*" events in "*" s, "* ]]
	[ "$(count trace sys_enter)" -gt 10 ]
	run -0 "$ASTERISM" record -q --for 200ms -o again -e sched_switch -a
}

@test "Ctrl-C: the command gets it, the trace is complete, the totals come, the command's status counts" {
	cat >interrupt.py <<-'END'
		import os, signal, subprocess, sys, time
		process = subprocess.Popen(sys.argv[1:], stderr=open("err", "w"), start_new_session=True,
		                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
		while not os.path.exists("ready"):
		    time.sleep(0.01)
		process.send_signal(signal.SIGINT)
		print(process.wait())
	END
	run -0 python3 interrupt.py "$ASTERISM" record -o trace -e sys_enter_getpgid -- \
		bash -c 'trap "\"$0\" flood 30; exit 9" INT; "$0" flood 1000; : >ready; while :; do sleep 0.05; done' "$plant"
	[ "$output" = 9 ]
	[[ $(cat err) == "asterism: note: 1030 events in "* ]]
	[ "$(count trace)" = 1030 ]
	[ "$(count trace lost)" = 0 ]
	sleep 30 3>&- &
	rm ready
	watched=$!
	{ until [ -e other ]; do sleep 0.1; done; sleep 0.7; : >ready; } 3>&- &
	run -0 python3 interrupt.py "$ASTERISM" record -o other -p $watched
	[ "$output" = 0 ] || [ "$output" = 2 ]
	kill %1 2>/dev/null || true
}

@test "the status is the command's, its input and output its own" {
	run -7 "$ASTERISM" record -q -o one -- sh -c 'exit 7'
	run -137 "$ASTERISM" record -q -o two -- sh -c 'kill -KILL $$'
	run --separate-stderr -0 "$ASTERISM" record -q -o three -- sh -c 'cat; echo err >&2' <<<typed
	[ "$output" = typed ]
	[ "$stderr" = err ]
}

@test "an empty directory is taken, a recording without an event is one" {
	mkdir trace
	run --separate-stderr -0 "$ASTERISM" record -o trace -e sys_enter_getpgid -- true
	[[ $stderr == "asterism: note: 0 events in "* ]]
	[ "$(count trace)" = 0 ]
	agrees_with_babeltrace trace
}

@test "--rules: matches are reported and marked; the trace replays to the very same" {
	cat >two.rule <<-'END'
		RULE pair PATTERN { [sys_enter_getpgid:a, sys_exit_getpgid:b] } WHERE { [tid], a.target_pid == 1000500 }
		RETURN { a.target_pid AS p, b.ret AS r, b.ts - a.ts AS took }
		RULE every PATTERN { sys_enter_getpgid:a } WHERE { a.target_pid % 100 == 7 } RETURN { a.target_pid AS p, a.comm AS who }
	END
	run --separate-stderr -0 "$ASTERISM" record --rules two.rule -f json -o trace -- "$plant" flood 1000
	# The end of the thread may come after that of the session.
	[[ $stderr == "asterism: note: 20"[0-9][0-9]" events in "* ]]
	grep '"match":' <<<"$output" | undated >live
	[ "$(grep -c '"match":"pair"' live)" = 1 ]
	[ "$(grep -c '"match":"every"' live)" = 10 ]
	[[ "$(types_of trace)" =~ ^(sched_process_exec )?(sched_process_exit )?"sys_enter_getpgid sys_exit_getpgid "$ ]]
	run -0 "$ASTERISM" replay -f json two.rule trace
	grep '"match":' <<<"$output" | diff live -
	# The marks hold the same, at the time and the thread of the event that completed them.
	"$ASTERISM" dump -f json -e match trace >marks
	python3 - live marks <<-'END'
		import json, sys
		live, marks = ([json.loads(line) for line in open(name)] for name in sys.argv[1:])
		assert len(live) == len(marks) == 11
		for match, mark in zip(live, marks):
		    assert mark["rule"] == match["match"] and mark["tainted"] == match["tainted"]
		    assert json.loads(mark["values"]) == match and not mark["values"].endswith("\n"), (mark, match)
		    assert all(mark[key] == match[key] for key in ("ts", "cpu", "pid", "tid", "comm"))
	END
	agrees_with_babeltrace trace
	run -1 "$ASTERISM" record -q --rules two.rule --fail-on-match -o failed -- "$plant" flood 8
}

@test "--rules with -e: the rules' events with all fields, and what is asked for" {
	echo 'RULE every PATTERN { sys_enter_getpgid:a } RETURN { a.target_pid }' >every.rule
	run -0 "$ASTERISM" record -q --rules every.rule -e sys_enter:id -o trace -- "$plant" flood 3
	[ "$(types_of trace)" = "sys_enter sys_enter_getpgid " ]
	[ "$(fields_of trace sys_enter)" = "id " ]
	[ "$(count trace sys_enter_getpgid)" = 3 ]
}

@test "--max-size: never more than that, the newest events are kept, the end tells" {
	run --separate-stderr -0 "$ASTERISM" record --max-size 1M -o trace -e sys_enter_getpgid -- taskset -c 0 "$plant" flood 300000
	[[ $stderr == "asterism: note: 300000 events in "* ]]
	[[ ${stderr_lines[1]} == "asterism: note: "*" of older events were deleted to keep to --max-size" ]]
	[ "$(cat trace/* | wc -c)" -le 1048576 ]
	[ "$(cat trace/* | wc -c)" -ge 262144 ]
	# What is left is the end, without a gap, and nothing of it counts as lost.
	"$ASTERISM" dump -f json trace | grep -o '"target_pid":[0-9]*' | cut -d: -f2 >got
	[ "$(tail -n 1 got)" = 1299999 ]
	seq "$(head -n 1 got)" 1299999 | diff -q - got
	[ "$(count trace lost)" = 0 ]
	agrees_with_babeltrace trace
}
