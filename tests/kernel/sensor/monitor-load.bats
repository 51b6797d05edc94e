#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Monitors beside load: what is within its declared rate is evaluated, all of it, and whatever is late has its cause. How
# late is for the machine to know; ASTERISM_TEST_FIGURES names a file that gets the figures. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	: "${ASTERISM_TEST_PROGRAMS:=$BATS_TEST_DIRNAME/../../../build/tests/kernel}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
	export ASTERISM_SENSORS="$BATS_TEST_TMPDIR/socket"
	plant="$ASTERISM_TEST_PROGRAMS/plant-sensors"
	load=
	cat >shop.events <<-'END'
		EVENT request_begin "a request arrives" { id: u64 "number", bytes: u32 bytes, path: string[16] }
	END
	cat >pair.rule <<-'END'
		EVENTS "sensor:shop.events"
		RULE pair PATTERN { [request_begin:a, request_begin:b] } WHERE { [tid], b.id == a.id + 2 } WITHIN 1s POOL 64
	END
}

# The load is a session of its own, all of which ends with it.
teardown() {
	[ -z "$load" ] || kill -TERM -- "-$load" 2>/dev/null || true
	[ -z "$load" ] || wait "$load" 2>/dev/null || true
}

load_with() {
	command -v "$1" >/dev/null || skip "$1 is not installed"
	setsid "$@" >load.out 2>&1 &
	load=$!
}

# figure NAME: of the last line but one.
figure() {
	python3 -c '
import json, sys
for line in open("out"):
    value = json.loads(line)
    for name in sys.argv[1:]:
        value = value.get(name) if isinstance(value, dict) else None
    if value is not None:
        print(json.dumps(value))' "$@"
}

# Two processes, each with no more than one element per 200 us, for a second or two.
watch_beside() {
	local status=0 count=4000
	[ -z "${ASTERISM_TEST_LONG:-}" ] || count=8000
	"$ASTERISM" monitor -f json --policy deadline --sensor request_begin,rate=10000/s,burst=2 pair.rule -- \
		sh -c "$plant paced $count 200 & $plant paced $count 200; wait" >out 2>err || status=$?
	[ "$status" = 0 ] || [ "$status" = 3 ]
	[ "$(figure promise guaranteed)" = true ]
	cut -c 1-1500 out # what a failure was
	cat err
	[ "$(figure monitor elements)" = $((2 * count)) ]
	[ "$(figure monitor lost)" = 0 ]
	[ "$(figure monitor sensors request_begin over_rate)" = 0 ]
	[ "$(figure monitor causes unexplained)" = 0 ]
	[ -z "${ASTERISM_TEST_FIGURES:-}" ] ||
		echo "$1: bound $(figure monitor bound_ns) ns, most $(figure monitor response_max_ns) ns, mean $(figure monitor response_mean_ns) ns, late $(figure monitor violations) of $((2 * count)): $(figure monitor causes)" >>"$ASTERISM_TEST_FIGURES"
}

@test "nothing is missed, and the late is explained, beside nothing else" {
	watch_beside idle
}

@test "nothing is missed, and the late is explained, beside busy processors" {
	load_with stress-ng --cpu 4 --timeout 60s
	watch_beside "stress-ng --cpu 4"
}

@test "nothing is missed, and the late is explained, beside memory, disk and faults" {
	load_with stress-ng --vm 2 --vm-bytes 64M --io 1 --fault 1 --temp-path "$BATS_TEST_TMPDIR" --timeout 60s
	watch_beside "stress-ng --vm 2 --io 1 --fault 1"
}

@test "nothing is missed, and the late is explained, beside messages between many processes" {
	load_with hackbench -g 4 -l 1000000
	watch_beside "hackbench -g 4"
}
