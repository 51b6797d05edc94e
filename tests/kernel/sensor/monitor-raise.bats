#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What rules of a monitor EMIT as events of sensors, for other monitors and sessions. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	: "${ASTERISM_TEST_PROGRAMS:=$BATS_TEST_DIRNAME/../../../build/tests/kernel}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
	export ASTERISM_SENSORS="$BATS_TEST_TMPDIR/socket"
	plant="$ASTERISM_TEST_PROGRAMS/plant-sensors"
	started=
	cat >shop.events <<-'END'
		EVENT request_begin "a request arrives" { id: u64 "number", bytes: u32 bytes, path: string[16] }
		EVENT request_end "it is answered" { id: u64 "number", bytes: u32 bytes, path: string[16] }
	END
	cat >slow.events <<-'END'
		EVENT slow_request "it took long" { id: u64, took: i64, part: f64, odd: bool, path: string }
	END
	cat >slow.rule <<-'END'
		EVENTS "sensor:shop.events"
		EVENT slow_request { id: u64, took: i64, part: f64, odd: bool, path: string }
		RULE slow PATTERN { [request_begin:b, request_end:e] } WHERE { [id], e.ts - b.ts > 0ns }
		RETURN { b.id AS id }
		DO { EMIT slow_request(id = b.id, took = 0 - e.bytes, part = 0.5, odd = (b.id % 2 == 1), path = e.path) }
	END
	cat >over.rule <<-'END'
		EVENTS "sensor:slow.events"
		RULE seen PATTERN { [slow_request:s] } RETURN { s.id AS id, s.took AS took, s.part AS part, s.odd AS odd, s.path AS path }
	END
}

teardown() {
	for pid in $started; do
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
}

wait_until() {
	local i
	for ((i = 0; i < 400; i++)); do
		"$@" && return
		sleep 0.05
	done
	false
}

serve() {
	"$ASTERISM" sensors --serve 2>served &
	started="$started $!"
	wait_until grep -q "the sensor registry is at" served
}

@test "what one monitor has found is what another one and a session evaluate, with all fields" {
	serve
	"$ASTERISM" monitor -f json --policy best-effort -a over.rule >monitor.out 2>monitor.err &
	local monitor=$!
	"$ASTERISM" run -f json -a over.rule >run.out 2>run.err &
	local session=$!
	started="$started $monitor $session"
	wait_until grep -q '"promise"' monitor.out
	wait_until grep -q "has declared slow_request yet" run.err
	run --separate-stderr -0 "$ASTERISM" monitor --raise --policy best-effort slow.rule -- "$plant" requests 1 20 0
	[[ $stderr == *"20 events of rules were raised by this process, 0 of them without a reader"* ]]
	for reader in monitor run; do
		wait_until eval "[ \$(grep -c '\"match\":\"seen\"' $reader.out) = 20 ]"
		grep -q '"comm":"asterism","return":{"id":7,"took":-107,"part":0.5,"odd":true,"path":"/index"}' $reader.out
		grep -q '"return":{"id":8,"took":-108,"part":0.5,"odd":false,"path":"/index"}' $reader.out
	done
	kill -INT $monitor $session
}

@test "a monitor that is the directory itself raises, and is listed" {
	"$ASTERISM" monitor --raise --policy best-effort slow.rule -- sh -c "$plant requests 1 20 0; exec sleep 60" >out 2>err &
	local monitor=$!
	started=$monitor
	listed() {
		"$ASTERISM" sensors >listed 2>&1 && grep -q "slow_request(id: u64, took: i64, part: f64, odd: bool, path: string" listed
	}
	wait_until listed
	grep -q "asterism\[$monitor\]" listed
	wait_until grep -q "id=19" out
	kill -INT $monitor
	wait_until grep -q "20 events of rules were raised by this process, 20 of them without a reader" err
}

@test "with copies it is raised as well, and in time under a policy of the kernel" {
	serve
	"$ASTERISM" run -f json -a over.rule >run.out 2>run.err &
	local session=$! count=0
	started="$started $session"
	wait_until grep -q "has declared slow_request yet" run.err
	for how in --copy --policy=deadline --policy=fifo; do
		run --separate-stderr "$ASTERISM" monitor --raise $how --sensor request_begin,rate=10000/s,burst=100 --sensor request_end,rate=10000/s,burst=100 slow.rule -- "$plant" requests 1 10 0
		[[ $stderr == *"10 events of rules were raised by this process, 0 of them without a reader"* ]]
		count=$((count + 10))
		wait_until eval "[ \$(grep -c '\"match\":\"seen\"' run.out) = $count ]"
	done
	kill -INT $session
}

@test "what cannot be raised is refused, or said" {
	sed 's/DO .*//' slow.rule >quiet.rule
	run --separate-stderr -2 "$ASTERISM" monitor --raise quiet.rule -- touch launched
	[[ $stderr == *"--raise: no rule has EMIT, so there is nothing to raise"* ]]
	run --separate-stderr -2 "$ASTERISM" monitor --raise --catalog sensor:shop.events --measure request_begin -- touch launched
	[[ $stderr == *"--raise: there is no rule"* ]]
	sed 's/path: string }/path: string, more: string, further: string, last: string }/' slow.rule >large.rule
	run --separate-stderr -2 "$ASTERISM" monitor --raise large.rule -- touch launched
	[[ $stderr == *"cannot raise slow_request: its fields are too large"* ]]
	[ ! -e launched ]
	sed 's/request_begin:b, request_end:e/request_begin:b, sched_switch:s, request_end:e/; s/\[id\]/b.id == e.id, b.tid == s.prev_pid/' slow.rule >both.rule
	run --separate-stderr -0 "$ASTERISM" monitor --raise both.rule -- "$plant" requests 1 5 0
	[[ $stderr == *"events that rule slow EMITs are not raised: the rule is not covered by the guarantee"* ]]
}
