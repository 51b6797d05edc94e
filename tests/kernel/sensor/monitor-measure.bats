#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What monitors measure, of running applications. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	: "${ASTERISM_TEST_PROGRAMS:=$BATS_TEST_DIRNAME/../../../build/tests/kernel}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
	export ASTERISM_SENSORS="$BATS_TEST_TMPDIR/socket"
	plant="$ASTERISM_TEST_PROGRAMS/plant-sensors"
}

measured() {
	grep -E '^\{"(measured?|heartbeat)":' <<<"$1"
}

@test "without a rule: the sensors are those of the launched program" {
	run --separate-stderr -0 "$ASTERISM" monitor -f json --measure request_begin.bytes,by=tid --measure request_end,log -- "$plant" requests 2 20 0
	[ "$(grep -c '"measure":"request_begin.bytes","by":{"tid":[0-9]*},"count":20,' <<<"$output")" = 2 ]
	[[ $output == *'"measure":"request_end","count":40,"late":'* ]]
	[[ $output == *'"measured":"request_end","keys":1,"other":0,"lost":0,"complete":true'* ]]
	run --separate-stderr -0 "$ASTERISM" monitor --measure request_begin.bytes -- "$plant" requests 1 20 0
	[[ $output == *"request_begin.bytes"*"100 B"*"110 B"*"119 B"* ]]
}

@test "a replay of what was seen measures the same, digit by digit" {
	cat >all.rule <<-END
		EVENTS "sensor:$plant"
		RULE one PATTERN { [request_end:e] } RETURN { e.id AS id, e.bytes AS bytes, e.path AS path }
	END
	asked=(--measure request_end --measure request_end.bytes,log,by=path --measure request_end.id,linear=0..40/8,by=tid --heartbeat request_end=14ms,by=pid)
	run --separate-stderr -0 "$ASTERISM" monitor -f json "${asked[@]}" all.rule -- "$plant" requests 2 20 10
	live=$(measured "$output")
	printf '%s\n' "$output" | python3 -c '
import json, sys
for line in map(json.loads, sys.stdin):
    if "match" in line:
        event = {"event": "request_end", **{key: line[key] for key in ("ts", "pid", "tid")}, **line["return"]}
        print(json.dumps(event))' >seen.jsonl
	[ "$(wc -l <seen.jsonl)" = 40 ]
	run --separate-stderr -0 "$ASTERISM" replay --catalog "sensor:$plant" -f json "${asked[@]}" seen.jsonl
	diff <(printf '%s\n' "$live" | grep -v '"late":[1-9]\|heartbeat') <(measured "$output" | grep -v heartbeat)
}

@test "what is no sensor is refused, and nothing is launched" {
	run --separate-stderr -2 "$ASTERISM" monitor --measure none_such -- /bin/touch launched
	[[ $stderr == *"there is no sensor 'none_such'"*"--catalog sensor:FILE"* ]]
	run --separate-stderr -2 "$ASTERISM" monitor --measure sched_switch -- /bin/touch launched
	[[ $stderr == *"sched_switch is a kernel event, but a monitor evaluates only sensors"* ]]
	run --separate-stderr -2 "$ASTERISM" monitor -- /bin/touch launched
	[[ $stderr == *"nothing to evaluate"* ]]
	[ ! -e launched ]
}

@test "metrics for Prometheus, while it runs" {
	port=$((20000 + RANDOM % 20000))
	"$ASTERISM" monitor -q --measure request_begin.bytes,log,by=comm --measure request_end.id,linear=0..1000/4 --heartbeat request_end=10s \
		--metrics $port -- "$plant" requests 1 100000 0 >out 2>err &
	started=$!
	for _ in $(seq 600); do
		if curl -sf "http://127.0.0.1:$port/metrics" >page 2>/dev/null && grep -q '^asterism_measure_values_count.* [1-9]' page; then break; fi
		kill -0 "$started"
		sleep 0.1
	done
	python3 "$BATS_TEST_DIRNAME/../rig/exposition.py" page >samples
	grep -q '^asterism_measure_events_total{measure="request_begin.bytes",by="comm",key="plant-sensors"} [1-9]' page
	grep -q '^asterism_measure_values_bucket{measure="request_end.id",le="249"} ' page
	grep -q '^asterism_heartbeat_missing{heartbeat="request_end"} 0' page
	curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/other" | grep -q 404
	kill "$started"
	wait "$started" || true
	run -2 "$ASTERISM" monitor --metrics 0 --measure request_end -- "$plant" requests 1 1 0
	[[ $output == *"invalid address for metrics '0'"* ]]
	run -2 "$ASTERISM" monitor --metrics 9999 -r "EVENTS \"sensor:$plant\" RULE r PATTERN { request_end }" -- "$plant" requests 1 1 0
	[[ $output == *"--metrics needs --measure"* ]]
}

teardown() {
	[ -z "${started:-}" ] || kill "$started" 2>/dev/null || true
}
