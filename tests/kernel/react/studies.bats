#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The three studies that need reactions: rules/ with the same names. Each with a negative control. Needs root.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	STUDIES=$(dirname "$ASTERISM")/../../tests/kernel/studies
	RULES=$BATS_TEST_DIRNAME/../../../rules
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
}

rule() {
	echo "$RULES/$1/$1.rule"
}

@test "priority inversion: the lock's holder is lifted at the moment, so the waiter does not wait for the one in between" {
	[ "$(nproc)" -gt 1 ] || skip "asterism needs a processor of its own"
	run --separate-stderr -0 "$ASTERISM" run --allow-actions -f json -o matches "$(rule priority-inversion-resolve)" -- \
		"$STUDIES" inversion
	[[ $output == first\ * ]]
	grep -q '"function":"BoostThreadPriority","args":\[[0-9]*,70,100000000\],"done":true,"by":"asterism"' matches
}

@test "priority inversion, negative control: only told, the waiter is last" {
	run --separate-stderr -0 "$ASTERISM" run -f json -o matches "$(rule priority-inversion-resolve)" -- \
		"$STUDIES" inversion
	[[ $output == last\ * ]]
	grep -q '"done":false,"why":"not allowed"' matches
}

@test "shares of a processor: threads that ask for one by name get it from the scheduler" {
	chrt -d -T 30000000 -P 100000000 -D 100000000 0 true || skip "the scheduler grants no share here at the moment"
	run --separate-stderr -0 "$ASTERISM" run --allow-actions -f json -o matches "$(rule cpu-share)" -- \
		"$STUDIES" share 1 share10-a share20-b rest-c rest-d
	echo "$output"
	[[ ${lines[0]} == share10-a\ 6\ * ]] # SCHED_DEADLINE
	[[ ${lines[1]} == share20-b\ 6\ * ]]
	[[ ${lines[2]} == rest-c\ 0\ * ]]
	[ "$(grep -c '"done":true' matches)" = 2 ]
	# A second has ten periods and the edge of one more; beyond that the scheduler takes the processor away.
	awk '/^share10/ { if ($3 > 12) exit 1 } /^share20/ { if ($3 > 24) exit 1 }' <<<"$output"
}

@test "shares of a processor, negative control: other names get nothing" {
	run --separate-stderr -0 "$ASTERISM" run --allow-actions -f json -o matches "$(rule cpu-share)" -- \
		"$STUDIES" share 0.1 share30-a
	[[ ${lines[0]} == share30-a\ 0\ * ]]
	[ "$(grep -c match matches)" = 1 ] # the line of statistics
}

@test "a process that opens a secret after reading from the network is stopped before it goes on" {
	"$ASTERISM" run --allow-actions -f json -o matches --for 20s "$(rule secret-after-network)" -- \
		sh -c 'echo $$ >pid; exec "$0" secret /etc/shadow-of-nobody' "$STUDIES" >output 3>&- &
	session=$!
	wait_for [ -s pid ]
	wait_for grep -q '^State:.*stopped' "/proc/$(cat pid)/status"
	[ ! -s output ]
	kill -9 "$(cat pid)"
	wait $session || true
	[ ! -s output ]
	grep -q '"function":"Stop","args":\[[0-9]*\],"done":true,"by":"kernel"' matches
}

@test "a secret, negative controls: read from a pipe; another file" {
	run --separate-stderr -0 "$ASTERISM" run --allow-actions -f json -o matches "$(rule secret-after-network)" -- \
		"$STUDIES" secret /etc/shadow-of-nobody plain
	[ "$output" = "went on" ]
	run --separate-stderr -0 "$ASTERISM" run --allow-actions -f json -o matches "$(rule secret-after-network)" -- \
		"$STUDIES" secret /etc/hosts-of-nobody
	[ "$output" = "went on" ]
}
