#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# asterismd records, too: `asterism ctl record`, live, observing one process of the test's own. Needs root.

bats_require_minimum_version 1.5.0
load daemon

setup() {
	daemon_setup
}

teardown() {
	daemon_teardown
	! mountpoint -q small || umount small
}

# `count TRACE EVENT`: how many of it the trace holds.
count() {
	"$ASTERISM" dump "$1" | grep -c " $2[ ]*" || true
}

# `recorded PYTHON [NAME]`: an expression over the reply q to `record status`, and r, the first recording.
recorded() {
	ctl -f json record status ${2+"$2"} | python3 -c 'import json, sys
q = json.load(sys.stdin)
r = q["recordings"][0] if q["recordings"] else None
print(('"$1"'))'
}

nobody() {
	as_nobody "$ASTERISM" ctl --socket ctl.sock "$@"
}

@test "a recording is begun, flushed, looked at and ended; the trace is root's alone, and a rule finds its match in it" {
	start --recordings traces
	[ "$(ctl record)" = $'nothing is being recorded\n0 traces in traces, 0 KiB of 1024 MiB' ]
	run -0 ctl record start one -e sys_enter_getppid,sys_exit_getppid
	[ "$output" = "one: 2 types of events recorded, the newest 256 MiB in traces/one" ]
	call 5
	ctl record flush
	[ "$(count traces/one sys_enter_getppid)" = 5 ]
	[ "$(recorded 'r["recording"], r["events"] >= 10, r["lost"], r["error"], sorted(r["types"])')" = \
		"('one', True, 0, None, ['sys_enter_getppid', 'sys_exit_getppid'])" ]
	[ "$(stat -c %a traces)$(stat -c %a traces/one)$(stat -c %a traces/one/metadata)" = 700700600 ]
	call 3
	run -0 ctl record stop
	[[ $output == "one: 16 events, 0 lost, "*" KiB in traces/one" ]]
	[ "$(count traces/one sys_enter_getppid)" = 8 ]
	[ "$("$ASTERISM" replay -q pair.rule traces/one | wc -l)" = 8 ]
	[ "$(ctl record | head -1)" = "nothing is being recorded" ]
	grep -q 'recording one: started by user 0' log
	grep -q 'recording one: ended with 16 events, 0 lost' log
	stop
}

@test "what is taken changes while it runs: what stays has no gap, what is new comes, what is left out does not" {
	start --recordings traces
	ctl record start one -e sys_enter_getppid,sys_exit_getppid
	call 10
	ctl record mask +sys_enter_getpgid '!sys_exit_getppid'
	call 10
	call pgid
	ctl record mask sys_enter_getppid
	call 10
	call pgid
	ctl record mask '+sys_exit_getppid'
	call 10
	[ "$(recorded 'r["masked"], sorted(r["types"])')" = "(3, ['sys_enter_getppid', 'sys_exit_getppid'])" ]
	ctl record stop
	[ "$(count traces/one sys_enter_getppid)" = 40 ]
	[ "$(count traces/one sys_exit_getppid)" = 20 ]
	[ "$(count traces/one sys_enter_getpgid)" = 1 ]
	[ "$(grep -c 'change_[123] = "[0-9]* [-+]sys' traces/one/metadata)" = 3 ]
	run --separate-stderr "$ASTERISM" stat traces/one
	[[ $stderr == *"the trace does not have all events of these types: sys_exit_getppid, sys_enter_getpgid"* ]]
	! command -v babeltrace2 || babeltrace2 traces/one >/dev/null
	stop
}

@test "events that stay are all there, however often the others change" {
	start --recordings traces
	ctl record start one -e sys_enter_getppid,sys_exit_getppid
	for i in 1 2 3 4 5 6; do
		echo 20000 >&7
		ctl record mask '!sys_exit_getppid' >/dev/null
		ctl record mask '+sys_exit_getppid' >/dev/null
		read -r _ <&6
	done
	ctl record stop
	[ "$(recorded 'r')" = None ]
	"$ASTERISM" stat traces/one | awk '$1 == "sys_enter_getppid" { exit $2 != 120000 } END { if (NR < 4) exit 1 }'
	stop
}

@test "probes of one program are taken one by one" {
	mkdir catalogs
	cp "$ASTERISM_CATALOGS"/*.events catalogs
	cat >>catalogs/linux.events <<-'END'
		EVENT of_getppid { number: u32 } FROM uprobe:"libc.so.6:getppid" { number = 1 }
		EVENT of_getpgid { number: u32 } FROM uprobe:"libc.so.6:getpgid" { number = 2 }
	END
	ASTERISM_CATALOGS=$PWD/catalogs start --recordings traces
	ctl record start one -e of_getppid,of_getpgid
	call 10
	call pgid
	ctl record mask '!of_getppid'
	call 10
	call pgid
	ctl record mask of_getppid
	call 10
	call pgid
	ctl record mask +of_getpgid
	call 10
	call pgid
	ctl record stop
	[ "$(count traces/one of_getppid)" = 30 ]
	[ "$(count traces/one of_getpgid)" = 3 ]
	stop
}

@test "a wrong change leaves all as it was, and says why" {
	start --recordings traces
	ctl record start one -e sched_switch:next_pid,sys_enter_getppid
	run --separate-stderr -2 ctl record mask sys_enter_getpid_
	[[ $stderr == *"error: unknown event 'sys_enter_getpid_' (did you mean "* ]]
	run --separate-stderr -2 ctl record mask '!sched_switch' '!sys_enter_getppid'
	[[ $stderr == *"error: no event type would be left to record" ]]
	run --separate-stderr -2 ctl record mask sched_switch:prev_pid
	[[ $stderr == *"error: sched_switch is recorded with other fields, which cannot change while the recording runs" ]]
	run --separate-stderr -2 ctl record mask
	[[ ${stderr_lines[0]} == *"error: no events were named to record from now on" ]]
	[ "$(recorded 'r["masked"], sorted(r["types"])')" = "(0, ['sched_switch', 'sys_enter_getppid'])" ]
	ctl record mask sched_switch
	stop
	[ -e traces/one/metadata ]
}

@test "a flight recording keeps its events until a snapshot, and leaves one at its end" {
	start --recordings traces
	ctl record start box --flight -e sys_enter_getppid
	call 4
	[ "$(ctl record snapshot)" = traces/box/snapshot-1 ]
	[ "$(count traces/box/snapshot-1 sys_enter_getppid)" = 4 ]
	call 2
	run --separate-stderr -2 ctl record flush
	[[ $stderr == *"error: recording box keeps its events in memory: take a snapshot to write them" ]]
	run -0 ctl record stop box
	[[ $output == "box: 6 events, 0 lost, 2 snapshots, "* ]]
	[ "$(count traces/box/end-2 sys_enter_getppid)" = 6 ]
	stop
}

@test "what rules need is recorded by their names" {
	start --recordings traces
	ctl record start pairs ./pair.rule -e sys_enter_getpgid
	[ "$(recorded 'sorted(r["types"])')" = "['sched_process_exec', 'sched_process_exit', 'sys_enter_getpgid', 'sys_enter_getppid', 'sys_exit_getppid']" ]
	run --separate-stderr -2 ctl record start pairs
	[[ $stderr == *"error: a trace named pairs already exists" ]]
	run --separate-stderr -2 ctl record start a b
	[[ $stderr == *"error: a recording has only one name: 'b' is a second one"* ]]
	ctl record start switches @slow-request
	run --separate-stderr -2 ctl record stop
	[[ $stderr == *"error: several recordings are running: name one" ]]
	ctl record stop switches
	stop
	[ "$("$ASTERISM" dump traces/pairs 2>&1 >/dev/null)" = "" ]
}

@test "kill -9 leaves a trace that can be read up to the last flush" {
	start --recordings traces
	ctl record start one -e sys_enter_getppid
	call 7
	ctl record flush
	call 2
	kill -KILL "$daemon"
	wait "$daemon" || true
	daemon=
	[ "$(count traces/one sys_enter_getppid)" -ge 7 ]
	start --recordings traces
	run --separate-stderr -2 ctl record start one
	[[ $stderr == *"error: a trace named one already exists" ]]
	stop
}

@test "who may record, where, and how much" {
	start
	run --separate-stderr -2 ctl record start
	[[ $stderr == *"error: asterismd cannot record: it was started without --recordings DIR" ]]
	stop
	start --recordings traces --group nogroup
	[ "$(control raw '{"op":"record-start","recording":"../x","length":0}\n' | cut -c1-31)" = '{"ok":false,"error":"malformed"' ]
	run --separate-stderr -4 nobody record start x
	[[ $stderr == *"error: only root may record; asterismd --clients-record allows the group, too" ]]
	stop
	start --recordings traces --group nogroup --clients-record --recordings-max 2M
	nobody record start x --max-size 1M -e sys_enter_getppid
	run --separate-stderr -2 nobody record start y
	[[ $stderr == *"error: a user other than root may have only 1 recording at a time" ]]
	ctl record start roots --flight -e sys_enter_getppid
	run --separate-stderr -4 nobody record stop roots
	[[ $stderr == *"error: recording roots belongs to another user: only root may do this" ]]
	ctl record stop roots
	run --separate-stderr -2 ctl record start z --max-size 1M -e sys_exit_getppid
	[[ $stderr == *"1024 KiB are needed, but of the 2 MiB of --recordings-max only "*" KiB are free: remove traces from the directory of --recordings" ]]
	run --separate-stderr -2 ctl record start z --max-size 4K -e sys_exit_getppid
	[[ $stderr == *"error: a trace needs at least 1024 KiB: use a larger --max-size" ]]
	ctl record stop x
	[ "$(stat -c %u%a traces/x)" = 0700 ]
	stop
	chmod 755 traces
	run -1 "$asterismd" --rules rules --socket ctl.sock --pid "$puppet" --recordings traces
	[[ $output == *"cannot record to traces: the directory is accessible to others (chmod 700)"* ]]
}

@test "sensors of applications are refused, alone and among events, and no file is opened because a client names it" {
	local refusal="the library does not record application sensors: use 'asterism record'"
	start --recordings traces --group nogroup --clients-record
	for events in sensor:order sys_enter_getppid,sensor:order sensor:/etc/shadow sensor:/nowhere/x \
		sys_enter_getppid,sensor:./own.events; do
		run --separate-stderr -2 nobody record start one -e $events
		[[ $stderr == *"$refusal" ]]
	done
	[ ! -e traces/one ]
	ctl record start one -e sys_enter_getppid
	for events in +sensor:order sensor:/etc/shadow +sys_enter_getpgid,+sensor:/nowhere/x; do
		run --separate-stderr -2 ctl record mask $events
		[[ $stderr == *"$refusal" ]]
	done
	[ "$(recorded 'r["types"], r["masked"]')" = "(['sys_enter_getppid'], 0)" ]
	stop
}

loses_unwritten() {
	[ "$(recorded 'r["unwritten"]')" -gt 0 ]
}

@test "a full disk is told by status, the log and the metrics, and ends nothing" {
	local port
	mkdir small
	mount -t tmpfs -o size=900k,mode=700 tmpfs small || skip "nothing can be mounted"
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	start --recordings small --metrics 127.0.0.1:$port
	ctl record start one -e sys_enter_getppid,sys_exit_getppid --max-size 100M
	call 800000
	wait_for grep -q 'recording one: .*No space left' log
	[[ $(recorded 'r["error"]') == *"No space left"* ]]
	call 800000
	wait_for loses_unwritten
	run ctl record status
	[[ $output == *"lost: "*" could not be written"* ]]
	call 1
	run --separate-stderr -2 ctl record flush
	[[ $stderr == *"the trace does not contain everything recorded so far: No space left on device"* ]]
	curl -sf http://127.0.0.1:$port/metrics >metrics
	python3 "$BATS_TEST_DIRNAME/../rig/exposition.py" metrics >parsed
	grep -qx 'asterism_recordings 1' metrics
	run -3 ctl record stop
	[[ $output == *" could not be written"* ]]
	grep -q 'recording one: [0-9]* events lost so far ([0-9]* came too fast, [1-9][0-9]* could not be written' log
	stop
	run -3 "$ASTERISM" stat small/one
}
