#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Streams that say what their events are, in frames and not.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	cd "$BATS_TEST_TMPDIR"
	cat >trace.jsonl <<-'END'
		{"declare":"tick","id":"u64","took":"u64 duration","word":"string[16]","load":"f64 jobs"}
		{"event":"tick","ts":1000,"id":1,"took":1500,"word":"a","load":0.5}
		{"lost":3}
		{"declare":"tick","id":"u64","took":"u64 duration","word":"string[16]","load":"f64 jobs"}
		{"event":"tick","ts":2000,"id":2,"took":2500,"word":"b","load":1.5}
	END
	frame() {
		python3 -c '
import base64, struct, sys, zlib
for number, line in enumerate(sys.stdin, 1):
    payload = line.rstrip("\n").encode()
    print("~%016x %08x %s" % (number, zlib.crc32(struct.pack("<Q", number) + payload), base64.b64encode(payload).decode()))'
	}
}

@test "events are what the stream says, and losses what it lost" {
	run --separate-stderr -3 "$ASTERISM" replay --measure tick.took --measure tick.load,by=word - <trace.jsonl
	[[ $output == *"tick.took"*"1.5us"*"2us"*"2.5us"*"lost: 3 events"* ]]
	[[ $output == *"0.5 jobs"* ]]
}

@test "in frames: garbage is passed over, what is missing is counted" {
	frame <trace.jsonl >clean
	run --separate-stderr -3 "$ASTERISM" replay --measure tick serial:clean
	[[ $output == *"lost: 3 events"* ]]
	{ printf 'noise \001\377\n~half a fra\n'; cat clean; printf 'rest'; } >noisy
	run --separate-stderr -3 "$ASTERISM" replay -f json --measure tick.id serial:noisy
	[[ $output == *'"count":2,'* ]]
	[[ $stderr == *"3 lines of serial:noisy were no frames, or damaged on the way"* ]]
	# Without the first frame it is not known what the second is, until that is said again.
	{ printf '~half a fra'; cat clean; } >noisy
	run --separate-stderr -3 "$ASTERISM" replay -f json --measure tick.id serial:noisy
	[[ $output == *'"count":1,'*'"lost":4'* ]]
	# The second frame, an event, is damaged.
	sed '2s/.$/x/' clean >damaged
	run --separate-stderr -3 "$ASTERISM" replay -f json --measure tick serial:damaged
	[[ $output == *'"count":1,'*'"lost":4'* ]]
}

@test "what declares no event is an error with its line, and reads no file" {
	for wrong in '{"declare":5}' '{"declare":""}' '{"declare":"a b","x":"u8"}' '{"declare":"t","x":"u9"}' '{"declare":"t","x":8}' '{"declare":"t","x":"string[0]"}' \
		'{"declare":"t","x":"u64 \u001b[31m"}' '{"declare":"t","x y":"u8"}' '{"declare":"t","x":"string[99999]"}' '{"declare":"EVENTS","x":"u8 EVENTS \"/etc/passwd\" { "}x'; do
		printf '%s\n' "$wrong" >wrong.jsonl
		run --separate-stderr -2 "$ASTERISM" replay --measure t wrong.jsonl
		[[ $stderr == *"wrong.jsonl:1:"* ]]
	done
	printf '{"declare":"sched_switch","x":"u8"}\n' >wrong.jsonl
	run --separate-stderr -2 "$ASTERISM" replay --measure t wrong.jsonl
	[[ $stderr == *"the events that are declared here have other fields in a catalog"* ]]
	run --separate-stderr -2 "$ASTERISM" replay --measure t tcp-listen:x
	[[ $stderr == *"'x' is no address to listen at"* ]]
}
