#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The flight recorder: what a snapshot holds, when there is one, and how many.

bats_require_minimum_version 1.5.0
load ../rig/recording

setup() {
	recording_setup
	# Matches once in a flood of at least 501 calls, at the 501st.
	cat >one.rule <<-'END'
		RULE one PATTERN { [sys_enter_getpgid:a, sys_exit_getpgid:b] } WHERE { [tid], a.target_pid == 1000500 }
		RETURN { a.target_pid AS p }
	END
	echo 'RULE every PATTERN { sys_enter_getpgid:a } RETURN { a.target_pid AS p }' >every.rule
	# Ends when the file tells it to, with calls meanwhile: waits without a system call that is recorded.
	cat >await.sh <<-'END'
		until [ -e "$1" ]; do sleep 0.02; done
	END
}

# The getpgid calls of a trace, as the numbers that they asked for.
numbers() {
	"$ASTERISM" dump -f json -e sys_enter_getpgid "$1" | grep -o '"target_pid":[0-9]*' | cut -d: -f2
}

@test "run --snapshot: a complete trace with the match marked and what led to it" {
	run --separate-stderr -0 "$ASTERISM" run -f json --snapshot box -e 'sys_*_getpgid' one.rule -- taskset -c 0 "$plant" flood 1000
	[ "$stderr" = "asterism: note: 1 snapshot in box" ]
	live=$(grep '"match":' <<<"$output" | undated)
	[ "$(ls box)" = one-1 ]
	"$ASTERISM" dump -f json -e match box/one-1 >mark
	[ "$(wc -l <mark)" = 1 ]
	python3 - "$live" mark <<-'END'
		import json, sys
		match, mark = json.loads(sys.argv[1]), json.load(open(sys.argv[2]))
		assert mark["rule"] == "one" and json.loads(mark["values"]) == match
		assert all(mark[key] == match[key] for key in ("ts", "cpu", "pid", "tid", "comm", "tainted"))
	END
	# Everything from the beginning to the match is there, and replay finds the match in it.
	numbers box/one-1 | head -n 501 >got
	seq 1000000 1000500 | diff - got
	[ "$(count box/one-1 lost)" = 0 ]
	"$ASTERISM" replay -f json one.rule box/one-1 | grep '"match":' >replayed
	[ "$live" = "$(cat replayed)" ]
	if command -v babeltrace2 >/dev/null; then
		run --separate-stderr -0 python3 "$BATS_TEST_DIRNAME/trace-agree.py" "$ASTERISM" box/one-1
		[ "$output" = $(($(count box/one-1) - 1)) ]
	fi
}

@test "without -e a snapshot holds what is usually recorded and what the rules look at" {
	run -0 "$ASTERISM" run -q --snapshot box one.rule -- sh -c '"$0" fork /bin/true; "$0" flood 600; sleep 0.1' "$plant"
	for event in sched_process_fork sched_process_exec sched_switch sys_enter sys_exit page_fault_user sys_enter_getpgid; do
		[ "$(count box/one-1 $event)" -gt 0 ] || { echo "no $event"; false; }
	done
}

@test "--last: no further back than that, but for what lies in the same sub-buffer" {
	for last in 200ms 1h; do
		run -0 "$ASTERISM" run -q --snapshot $last --last $last -e 'sys_*_getpgid' one.rule -- \
			taskset -c 0 sh -c 'for i in $(seq 40); do "$0" flood 500; done; sleep 0.6; "$0" flood 501' "$plant"
		[ "$(ls $last)" = one-1 ]
		numbers $last/one-1 | tail -n 501 | diff - <(seq 1000000 1000500)
	done
	[ "$(numbers 1h/one-1 | grep -cx 1000000)" = 41 ]
	# The last sub-buffer has 16384 units of 16 bytes, that is 8192 calls.
	calls=$(numbers 200ms/one-1 | wc -l)
	[ $calls -ge 501 ] && [ $calls -lt $((8192 + 501)) ]
}

@test "at most one snapshot per second: the others are counted, and are marked in the next" {
	run --separate-stderr -0 "$ASTERISM" run -f json --snapshot box -e sys_enter_getpgid every.rule -- \
		sh -c '"$0" flood 3; sleep 0.3; "$0" flood 4; sleep 1.2; "$0" flood 1; sleep 0.1' "$plant"
	[ "$(grep -c '"match":' <<<"$output")" = 8 ]
	[ "$(ls box | tr '\n' ' ')" = "every-1 every-2 " ]
	[[ $stderr == *"note: 2 snapshots in box"* ]]
	[[ $stderr == *"note: 6 matches have no snapshot of their own"* ]]
	# Together they have all marks, and the second one has the match that it was made for.
	[ $(($(count box/every-1 match) + $(count box/every-2 match))) = 8 ]
	[ "$("$ASTERISM" dump -f json box/every-2 | tail -n 1 | grep -c '"event":"match"')" = 1 ]
}

@test "more matches than marks are kept: the newest are" {
	run --separate-stderr -0 "$ASTERISM" run -q -o out --snapshot box -e sys_enter_getpgid every.rule -- \
		sh -c '"$0" flood 1; sleep 0.2; "$0" flood 500; sleep 1.2; "$0" flood 1; sleep 0.1' "$plant"
	[ "$(count box/every-2 match)" = 256 ]
	[ "$(count box/every-2 lost)" = 0 ]
	"$ASTERISM" dump -f json -e match box/every-2 | tail -n 1 | grep -q 1000000
}

@test "two sessions may use one directory: no snapshot replaces another" {
	for i in 1 2; do
		run -0 "$ASTERISM" run -q --snapshot box -e 'sys_*_getpgid' one.rule -- "$plant" flood 501
	done
	[ "$(ls box | tr '\n' ' ')" = "one-1 one-2 " ]
	[ "$(count box/one-1 match)$(count box/one-2 match)" = 11 ]
}

@test "SIGUSR1 writes what there is, at once and as often as it comes" {
	"$ASTERISM" run -q --snapshot box -e sys_enter_getpgid one.rule -- \
		sh -c '"$0" flood 20; : >first; sh await.sh second; "$0" flood 30; : >third; sh await.sh end' "$plant" 3>&- &
	wait_for [ -e first ]
	kill -USR1 $!
	wait_for [ -e box/signal-1/metadata ]
	: >second
	wait_for [ -e third ]
	kill -USR1 $!
	wait_for [ -e box/signal-2/metadata ]
	: >end
	wait $!
	[ "$(ls box | tr '\n' ' ')" = "signal-1 signal-2 " ]
	[ "$(count box/signal-1 sys_enter_getpgid)" = 20 ]
	[ "$(count box/signal-2 sys_enter_getpgid)" = 50 ]
}

@test "record --flight: at SIGUSR1 and at the end, even just after one" {
	"$ASTERISM" record -o box --flight -e sys_enter_getpgid -- \
		sh -c '"$0" flood 20; : >first; sh await.sh end; "$0" flood 5' "$plant" 2>said 3>&- &
	wait_for [ -e first ]
	kill -USR1 $!
	wait_for [ -e box/signal-1/metadata ]
	: >end
	wait $!
	[ "$(ls box | tr '\n' ' ')" = "end-2 signal-1 " ]
	[ "$(count box/signal-1)" = 20 ]
	[ "$(count box/end-2)" = 25 ]
	[[ $(cat said) == "asterism: note: 25 events in "*" s; 2 snapshots, "*", in box" ]]
}

@test "record --flight: what the rings cannot hold is gone and not lost" {
	run --separate-stderr -0 "$ASTERISM" record -o box --flight --ring 512K -e sys_enter_getpgid -- taskset -c 0 "$plant" flood 200000
	[[ $stderr == "asterism: note: 200000 events in "* ]]
	[ "$(ls box)" = end-1 ]
	numbers box/end-1 >got
	[ "$(tail -n 1 got)" = 1199999 ]
	seq "$(head -n 1 got)" 1199999 | diff -q - got
	# At least one whole sub-buffer of 256 KiB of events of 16 bytes.
	[ "$(wc -l <got)" -gt 16000 ]
	[ "$(wc -l <got)" -lt 33000 ]
	[ "$(count box/end-1 lost)" = 0 ]
}

@test "record --flight --rules: a match takes a snapshot, too" {
	run --separate-stderr -0 "$ASTERISM" record -o box --flight --rules one.rule -- "$plant" flood 600
	[ "$(ls box | tr '\n' ' ')" = "end-2 one-1 " ]
	[ "$(count box/one-1 match)" = 1 ]
	[ "$(count box/end-2 sys_exit_getpgid)" = 600 ]
}

@test "a snapshot under a flood of events ends" {
	"$ASTERISM" run -q -o out --snapshot box --ring 512K -e 'sys_enter,sys_exit' one.rule -- \
		sh -c '"$0" flood 20000000 & "$0" flood 20000000 & sh await.sh end; kill %1 %2 2>/dev/null; kill $!' "$plant" 3>&- &
	session=$!
	wait_for has_decided $session
	sleep 0.5
	kill -USR1 $session
	wait_for [ -e box/signal-2/metadata ] || wait_for [ -e box/signal-1/metadata ]
	: >end
	wait $session || true
	for trace in box/*; do
		[ "$(cat $trace/* | wc -c)" -lt 3000000 ]
		[ "$(count $trace lost)" -ge 0 ]
	done
}
