#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Runs end with the process or thread that alone could take them further.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR"
	cat >by.rule <<-'END'
		RULE by_process PATTERN { [sys_enter_getppid:a, sys_enter_getpgid:b] } WHERE { [pid] } RETURN { a.ts }
		RULE by_thread PATTERN { [sys_enter_getppid:a, sys_enter_getpgid:b] } WHERE { [tid] } RETURN { a.ts }
		RULE by_all PATTERN { [sys_enter_getppid:a, sys_enter_getpgid:b] } WHERE { [pid], [tid] } RETURN { a.ts }
		RULE every PATTERN { [sys_enter_getppid:a, sys_enter_getpgid:b] } RETURN { a.ts }
		RULE any SKIPTILLANY PATTERN { [sys_enter_getppid:a, sys_enter_getpgid:b] } WHERE { [pid] } RETURN { a.ts }
		RULE quiet PATTERN { [sys_enter_getppid:a, ~sys_enter_getpgid] } WHERE { [pid] } WITHIN 50 RETURN { a.ts }
		RULE switched PATTERN { [sys_enter_getppid:a, sched_switch:b] } WHERE { [tid] } RETURN { a.ts }
	END
}

# event TYPE TS PID TID [MORE]
event() {
	printf '{"event":"%s","ts":%s,"pid":%s,"tid":%s%s}\n' "$1" "$2" "$3" "$4" "${5:+,$5}" >>events.jsonl
}

switch='"prev_comm":"","prev_pid":7,"prev_prio":0,"prev_state":0,"next_comm":"","next_pid":0,"next_prio":0'

matches() {
	"$ASTERISM" replay -f json --lenient by.rule events.jsonl 2>err | grep -o '"match":"[a-z_]*"' | sort | uniq -c | tr -s ' \n' ' '
}

@test "a number that is used again is another process; time goes on, and so do those that wait for anybody" {
	event sys_enter_getppid 1 7 7
	event sched_process_exit 2 7 7 '"prio":120,"group_dead":true'
	event sched_switch 3 7 7 "$switch"
	event sys_enter_getpgid 4 7 7 '"target_pid":0'
	event sys_enter_getppid 100 9 9
	[ "$(matches)" = ' 1 "match":"every" 1 "match":"switched" ' ] || { matches; cat err; false; }
}

@test "a run that matches when its time is up does so after its process" {
	event sys_enter_getppid 1 7 7
	event sched_process_exit 2 7 7 '"prio":120,"group_dead":true'
	event sys_enter_getppid 100 9 9
	[[ "$(matches)" == *'1 "match":"quiet"'* ]]
}

@test "a thread that ends takes its own runs along, the last one those of the process" {
	event sys_enter_getppid 1 7 8
	event sched_process_exit 2 7 8 '"prio":120,"group_dead":false'
	event sys_enter_getpgid 3 7 8 '"target_pid":0'
	[ "$(matches)" = ' 1 "match":"any" 1 "match":"by_process" 1 "match":"every" ' ]
}
