#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Sensors in traces: recorded, shown, replayed. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	: "${ASTERISM_TEST_PROGRAMS:=$BATS_TEST_DIRNAME/../../build/tests/kernel}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
	export ASTERISM_SENSORS="$BATS_TEST_TMPDIR/socket"
	plant="$ASTERISM_TEST_PROGRAMS/plant-sensors"
	cat >shop.events <<-'END'
		EVENT request_begin "a request arrives" { id: u64 "number", bytes: u32 bytes, path: string[16] }
		EVENT request_end "it is answered" { id: u64 "number", bytes: u32 bytes, path: string[16] }
	END
	cat >slow.rule <<-'END'
		EVENTS "sensor:shop.events"
		RULE slow PATTERN { [request_begin:b, request_end:e] } WHERE { [id], e.ts - b.ts > 10ms }
		RETURN { b.id AS id, e.bytes AS bytes, e.path AS path, b.pid AS pid, b.tid AS tid }
	END
}

teardown() {
	[ -z "${started:-}" ] || kill $started 2>/dev/null || true
}

@test "sensors alone are recorded, and shown with units" {
	run --separate-stderr -0 "$ASTERISM" record -o t -e 'sensor:request_begin,sensor:plant-sensors:request_end' -- "$plant" requests 3 20 5
	[[ $stderr == *"120 events in "*" in t"* ]]
	[ ! -e t/stream_0 ]
	run -0 "$ASTERISM" dump t
	[ "${#lines[@]}" = 120 ]
	[[ ${lines[0]} == *"[  -] plant-sensors "*" request_begin id="*" bytes=1"*" B path=\"/index\"" ]]
	run -0 "$ASTERISM" dump -f json -e request_end t
	[ "${#lines[@]}" = 60 ]
	[[ ${lines[0]} == *'"request_end"'*'"path":"/index"'* ]]
	run -0 "$ASTERISM" stat t
	[[ ${lines[0]} == "120 events in "*" 0 lost" ]]
	run -0 babeltrace2 t
	[ "$(grep -c ' request_begin: { processes = 1 }, { id = [0-9]*, bytes = [0-9]*, path = "/index" }' <<<"$output")" = 60 ]
}

@test "a rule finds in the trace what it would have found live" {
	"$ASTERISM" record -o t -e 'sensor:*' -- "$plant" requests 2 20 5
	run --separate-stderr -0 "$ASTERISM" replay -f json slow.rule t
	[ "$(grep -c '"match"' <<<"$output")" -ge 8 ]
	[[ ${lines[-1]} == '{"stats":{"events":80,'*'"lost":0,'* ]]
}

@test "a trace without the sensors of a rule" {
	"$ASTERISM" record -o t -e 'sensor:request_end' -- "$plant" requests 1 5 0
	run -2 "$ASTERISM" replay slow.rule t
	[[ $output == *"rule slow: sensor:request_begin was not recorded, so it cannot find anything in this input"* ]]
	[[ $output == *"asterism record -o DIR slow.rule"* ]]
}
