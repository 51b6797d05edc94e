#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# `asterism check`: where rules will run, and what is wrong with the events that they wait for.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	cd "$BATS_TEST_TMPDIR"
	cat >places.rule <<-'END'
		EVENT A { x: i64 }
		RULE here PATTERN { [A, A] } WHERE { [x] }
		RULE large PATTERN { [A, A] } WHERE { [x] } POOL 16000000
		EVENT B { x: i64 }
		RULE chain PATTERN { A:a } DO { EMIT B(x = a.x) }
		RULE after PATTERN { [B, B] }
	END
}

# `events_from TEXT`: own.rule waits for what the catalog TEXT declares.
events_from() {
	printf '%s\n' "$1" >own.events
	printf 'EVENTS "own.events"\nRULE own PATTERN { called }\n' >own.rule
}

@test "where each rule runs, and why not in the kernel" {
	run --separate-stderr -0 "$ASTERISM" check places.rule
	[ -z "$stderr" ]
	[ "${lines[0]}" = "places.rule:2: rule here is fine" ]
	[ "${lines[1]}" = "places.rule:3: rule large is fine, but runs in user space: its POOL is larger than 8388608" ]
	for i in 2 3; do
		[[ ${lines[i]} == *" is fine; where what EMIT connects is too much for one program of the kernel, it runs in user space" ]]
	done
	echo 'RULE all STRICTSEQUENCE PATTERN { [A, A] } OVER { * }' >>places.rule
	run --separate-stderr -0 "$ASTERISM" check places.rule
	[ "${lines[2]}" = "places.rule:5: rule chain is fine, but runs in user space: EMIT connects it with rule all, which cannot: OVER { * } under strict semantics would need every event of the kernel" ]
}

@test "the same as JSON" {
	run --separate-stderr -0 "$ASTERISM" check -f json places.rule
	[ "${lines[0]}" = '{"name":"here","sort":"rule","at":"places.rule:2","runs":"kernel","why":null,"may_fall_back":false,"missing":[]}' ]
	[ "${lines[1]}" = '{"name":"large","sort":"rule","at":"places.rule:3","runs":"user space","why":"its POOL is larger than 8388608","may_fall_back":false,"missing":[]}' ]
	[[ ${lines[2]} == *'"runs":"kernel","why":null,"may_fall_back":true,'* ]]
	run --separate-stderr -0 "$ASTERISM" check -q -f json places.rule
	[ -z "$output" ]
}

@test "a SYNCHRONOUS rule that the kernel cannot run is an error; others are judged all the same" {
	sed -i 's/^RULE large/SYNCHRONOUS &/' places.rule
	run --separate-stderr -2 "$ASTERISM" check places.rule
	[ "$stderr" = "asterism: error: rule large is SYNCHRONOUS but cannot run in the kernel: its POOL is larger than 8388608" ]
	[ "${#lines[@]}" = 3 ]
	[[ $output != *large* ]]
}

@test "a rule that may refuse calls" {
	printf 'RULE no PATTERN { [sys_enter_openat:o] } WHERE { o.filename == "/x" } DO { CALL Veto("EPERM") }\n' >veto.rule
	run --separate-stderr -0 "$ASTERISM" check veto.rule
	[ "$output" = "veto.rule:1: rule no is fine; where it may refuse, it runs in user space: the call that completes it is held until it is judged" ]
}

@test "a probe at a function that the file does not have" {
	events_from 'EVENT called { x: u64 }
FROM uprobe:"libc.so.6:pthread_mutex_lok" { x = user_arg(0) }'
	run --separate-stderr -2 "$ASTERISM" check own.rule
	[ "$stderr" = "./own.events:2:1: error: nothing raises called: the file has no function pthread_mutex_lok; is pthread_mutex_lock meant?" ]
	[ -z "$output" ]
	# One that is there is enough; where the whole file is missing, that is a matter of the machine.
	events_from 'EVENT called { x: u64 }
FROM uprobe:"libc.so.6:pthread_mutex_lok" { x = user_arg(0) }
FROM uprobe:"libc.so.6:pthread_mutex_lock" { x = user_arg(0) }'
	run --separate-stderr -0 "$ASTERISM" check own.rule
	[ -z "$stderr" ]
	events_from 'EVENT called { x: u64 }
FROM uprobe:"libnone.so.9:f" { x = user_arg(0) }'
	run --separate-stderr -0 "$ASTERISM" check own.rule
	[ "$stderr" = "asterism: warning: rule own waits for what this kernel does not raise: called: there is no file libnone.so.9" ]
	[[ $("$ASTERISM" check -f json own.rule) == *'"missing":["called: there is no file libnone.so.9"]}' ]]
}

@test "a tracepoint that this kernel does not have is a warning" {
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel does not tell its types"
	events_from 'EVENT called { x: u64 }
FROM sched:sched_swotch { x = 0 }'
	run --separate-stderr -0 "$ASTERISM" check own.rule
	[ "$stderr" = "asterism: warning: rule own waits for what this kernel does not raise: called: the kernel has no tracepoint sched:sched_swotch" ]
}

@test "what a probe does not have by name" {
	for path in user_result:'user_result()' user_ar:'user_arg(0)' user_calle:'user_caller()'; do
		events_from 'EVENT called { x: u64 }
FROM uretprobe:"libc.so.6:malloc" { x = '"${path%%:*} }"
		run --separate-stderr -2 "$ASTERISM" check own.rule
		[[ ${stderr_lines[0]} == "./own.events:2:41: error: a probe in user code has no arguments by name" ]]
		[[ $stderr == *"help: did you mean ${path#*:}?"* ]]
	done
	events_from 'EVENT called { x: u64 }
FROM uretprobe:"libc.so.6:malloc" { x = user_result() + current->tgid }'
	"$ASTERISM" check -q own.rule
}

@test "an event type of another shipped catalog: which one" {
	printf 'RULE own PATTERN { tcp_segment_sent }\n' >own.rule
	run --separate-stderr -2 "$ASTERISM" check own.rule
	[[ $stderr == *"unknown event type 'tcp_segment_sent'"*'help: EVENTS "tcp.events" above the rules declares it' ]]
	run --separate-stderr -0 "$ASTERISM" events segment
	[ "${lines[0]}" = 'tcp_segment_received             a segment comes in (EVENTS "tcp.events")' ]
	# Each type of each of them, by its name; and a catalog by its own.
	for catalog in "$BATS_TEST_DIRNAME"/../../catalogs/{completed,pthread,scheduling,tcp,wmk}.events; do
		name=$(basename "$catalog" .events)
		for type in $(sed -n 's/^EVENT \([A-Za-z_0-9]*\).*/\1/p' "$catalog"); do
			"$ASTERISM" events "$type" | grep -q "^$type .*(EVENTS \"$name.events\")\$"
		done
		[ "$("$ASTERISM" events "$name.events" | wc -l)" = "$(grep -c '^EVENT ' "$catalog")" ]
	done
	run --separate-stderr -0 "$ASTERISM" events -v pthread_mutex_lock_return
	[[ $output == *'(EVENTS "pthread.events")'*'from uretprobe:libc.so.6:pthread_mutex_lock'* ]]
	run --separate-stderr -2 "$ASTERISM" events no_such_type_at_all
	[[ $stderr == *"no event type is called 'no_such_type_at_all'"* ]]
}
