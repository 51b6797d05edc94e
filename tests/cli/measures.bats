#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What events come to: --measure and --heartbeat over recorded events.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	cd "$BATS_TEST_TMPDIR"
	printf 'EVENT beat { word: string[16], bytes: u64 bytes, took: u64 duration, x: i64 }\nEVENT other { x: i64 }\n' >own.events
	: >trace.jsonl
	at=1000000000
	for i in $(seq 0 9); do
		# Ten beats, a ms apart but for one that is 50 ms late.
		at=$((at + 1000000 + (i == 5 ? 50000000 : 0)))
		echo "{\"event\":\"beat\",\"ts\":$at,\"pid\":$((7 + i % 2)),\"word\":\"w$((i % 2))\",\"bytes\":$((i * 1024)),\"took\":$((i * 1000)),\"x\":$((i - 5))}" >>trace.jsonl
		[ $((i % 5)) != 0 ] || echo "{\"event\":\"other\",\"ts\":$at,\"x\":$i}" >>trace.jsonl
	done
}

measure() {
	run --separate-stderr -0 "$ASTERISM" replay --catalog own.events "$@" trace.jsonl
}

# One value of the line that is of this kind and, where given, key.
value() {
	printf '%s\n' "$output" | python3 -c '
import json, sys
path, which = sys.argv[1].split("."), json.loads(sys.argv[2])
for line in map(json.loads, sys.stdin):
    if all(line.get(key) == value for key, value in which.items()):
        for key in path:
            line = line[key]
        print(json.dumps(line))' "$1" "$2"
}

@test "how many, how often, how regular" {
	measure -f json --measure beat
	[ "$(value count '{"measure":"beat"}')" = 10 ]
	[ "$(value interval_ns.min '{"measure":"beat"}')" = 1000000 ]
	[ "$(value interval_ns.max '{"measure":"beat"}')" = 51000000 ]
	[ "$(value jitter_max_ns '{"measure":"beat"}')" = 50000000 ]
	[ "$(value lost '{"measured":"beat"}')" = 0 ]
	measure --measure beat
	[[ $output == "beat"*"count"*"rate"*"jitter max"*"10"*"51ms"*"50ms" ]]
}

@test "fields have their units, keys rows of their own" {
	measure --measure beat.bytes,by=word --measure beat.took
	[[ $output == *"by word: 2 keys"*"w0 "*" 8 KiB"*"w1 "*" 9 KiB"* ]]
	[[ $output == *"beat.took"*"4.5us"*"9us"* ]]
	measure -f json --measure beat.x,by=pid
	[ "$(value min '{"by":{"pid":7}}')" = -5 ]
	[ "$(value mean '{"by":{"pid":8}}')" = 0 ]
}

@test "histograms, linear and logarithmic" {
	measure -f json --measure beat.x,linear=-5..3/4 --measure beat.bytes,log
	[ "$(value histogram.buckets '{"measure":"beat.x"}')" = "[[-5, -3, 2], [-3, -1, 2], [-1, 1, 2], [1, 3, 2]]" ]
	[ "$(value histogram.above '{"measure":"beat.x"}')" = 2 ]
	[ "$(value histogram.buckets '{"measure":"beat.bytes"}' | grep -o '\[[0-9]' | wc -l)" = 10 ]
	measure --measure beat.took,linear=0..10us/5
	[[ $output == *"0ns .. <2us"*"2  ####"* ]]
}

@test "keys that find no place are counted, not forgotten" {
	measure -f json --measure beat,by=bytes,keys=3
	[ "$(value other '{"measured":"beat"}')" = 7 ]
	measure --measure beat,by=bytes,keys=3
	[[ $output == *"other: 7 events of further keys"* ]]
}

@test "a heartbeat that stays away is told once, and that it is back" {
	measure --heartbeat beat=5ms
	[ "$(printf '%s\n' "$output" | grep -c 'beat is missing for 5ms')" = 1 ]
	[ "$(printf '%s\n' "$output" | grep -c 'beat is back after 51ms')" = 1 ]
	[[ $output == *"missed 1 time, missing now: 0"* ]]
	measure --heartbeat beat=60ms
	[[ $output != *"is missing"* ]]
}

@test "one that never comes is missing, too" {
	measure --heartbeat none=5ms
	[[ $output == *"none is missing for 5ms"*"missing now: 1"* ]]
	[[ $stderr == *"nothing was measured for none: no such event happened"* ]]
}

@test "what nobody calls so is an error, and what is known and did not come is none" {
	run --separate-stderr -2 "$ASTERISM" replay --catalog own.events --measure nope trace.jsonl
	[[ $stderr == *"error: nothing was measured for nope: no event has this name"* ]]
	measure --measure sched_switch
	[[ $stderr == *"warning: nothing was measured for sched_switch: no such event happened"* ]]
	printf 'EVENTS "own.events" RULE r PATTERN { [beat:a, beat:b] } WHERE { [pid], b.x > 0 } POOL 1\n' >r.rule
	run --separate-stderr -2 "$ASTERISM" replay --catalog own.events --measure nope r.rule trace.jsonl
	[[ $stderr == *"no event has this name"* ]]
	[[ $output == *"matches"* || $stderr == *"matches"* ]]
}

@test "beside rules, on one thread and on two, the same comes out" {
	measure -f json --measure beat.bytes,log,by=word --heartbeat beat=5ms
	alone=$output
	printf 'EVENTS "own.events" RULE r PATTERN { [beat:a, beat:b] } WHERE { [pid], b.x > 0 } POOL 1\n' >r.rule
	for jobs in 1 2; do
		run --separate-stderr "$ASTERISM" replay --jobs $jobs -f json --measure beat.bytes,log,by=word --heartbeat beat=5ms r.rule trace.jsonl
		[ "$(printf '%s\n' "$output" | grep -E '"(measured?|heartbeat)":')" = "$alone" ]
		[[ $output == *'"match":"r"'* ]]
	done
}

@test "every so often, in the time of the events; and a window of them" {
	measure -f json --measure beat --every 20ms
	[ "$(value count '{"measure":"beat"}' | tr '\n' ' ')" = "5 5 10 " ] || [ "$(value count '{"measure":"beat"}' | tr '\n' ' ')" = "5 10 " ]
	measure -f json --measure beat --from 50ms
	[ "$(value count '{"measure":"beat"}')" = 5 ]
}

@test "what cannot be measured is refused, with what would do" {
	run --separate-stderr -2 "$ASTERISM" replay --catalog own.events --measure beat.word trace.jsonl
	[[ $stderr == *"beat.word is a text, which cannot be measured"*"by=FIELD"* ]]
	run --separate-stderr -2 "$ASTERISM" replay --catalog own.events --measure beat.byte trace.jsonl
	[[ $stderr == *"beat has no field 'byte'"*"did you mean 'bytes'?"* ]]
	for wrong in "" . beat. beat,linear beat,linear=1 beat,linear=5..1/3 beat,linear=0..1/0 beat,linear=0..1/9999 beat,log=3 \
		beat,log,log beat,by= beat,by=pid,by=tid beat,keys=0 beat,keys=99999 beat,what beat,; do
		run --separate-stderr -2 "$ASTERISM" replay --catalog own.events --measure "$wrong" trace.jsonl
		[[ $stderr == *"--measure $wrong: "* ]]
	done
	for wrong in beat beat= beat=5 beat=-5ms beat=0s beat=5ms,log =5ms beat=5x; do
		run --separate-stderr -2 "$ASTERISM" replay --catalog own.events --heartbeat "$wrong" trace.jsonl
		[[ $stderr == *"--heartbeat $wrong: "* ]]
	done
	run --separate-stderr -2 "$ASTERISM" replay --every 1s -r 'sched_switch' trace.jsonl
	[[ $stderr == *"--every needs --measure"* ]]
}
