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
		{"end":true}
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
	[[ $stderr == *"3 lines of serial:noisy were no frames, or damaged in transit"* ]]
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
	[[ $stderr == *"a catalog declares these events with different fields"* ]]
	run --separate-stderr -2 "$ASTERISM" replay --measure t tcp-listen:x
	[[ $stderr == *"invalid address to listen at: 'x'"* ]]
}

# Sends what standard input has, and ends the connection: in order, or by a reset.
deliver() {
	python3 -c '
import socket, struct, sys, time
for attempt in range(200):
    try:
        s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        break
    except OSError:
        time.sleep(0.05)
s.sendall(sys.stdin.buffer.read())
if sys.argv[2] == "reset":
    time.sleep(0.3)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
s.close()' "$1" "$2"
}

@test "a stream that broke off is told, and how far it came; one that ends with its mark is not" {
	grep -v 'lost\|end":' trace.jsonl >whole.jsonl
	frame <whole.jsonl >cut
	{ cat whole.jsonl; echo '{"end":true}'; } >marked.jsonl
	frame <marked.jsonl >marked
	echo 'EVENT tick "" { id: u64, took: u64 duration, word: string[16], load: f64 UNIT "jobs" }' >tick.events
	for what in "--measure tick" "-r"; do
		[ "$what" != -r ] || set -- 'EVENTS "sensor:tick.events" RULE two PATTERN { [tick:a, tick:b] } RETURN { a.id AS a }'
		run --separate-stderr -3 "$ASTERISM" replay -f json $what "$@" serial:cut
		[[ $stderr == *"serial:cut broke off after 2 events, without its end mark: "*"send it again"* ]]
		[ "$(grep -c 'broke off' <<<"$stderr")" = 1 ]
		[[ $output == *'{"notice":"stream","stream":"serial:cut","events":2}'* ]]
		run --separate-stderr -0 "$ASTERISM" replay -f json $what "$@" serial:marked
		[[ $stderr != *"broke off"* ]]
		[[ $output != *notice* ]]
	done
	# What comes behind a mark is another stream on the same line.
	{ cat marked; sed 's/"ts":/&9/' whole.jsonl | frame; } >again
	run --separate-stderr -3 "$ASTERISM" replay --measure tick serial:again
	[[ $stderr == *"serial:again broke off after 4 events"* ]]
	# Files, and what a pipe brings, need none, and may have one.
	for file in whole marked; do
		run --separate-stderr -0 "$ASTERISM" replay --measure tick $file.jsonl
		[[ $stderr != *"broke off"* ]]
	done
}

@test "a connection that ends in mid-line or is reset is a stream that broke off, and no error" {
	port=$((20000 + RANDOM % 12000))
	{ grep -v 'lost\|end":' trace.jsonl; printf '{"event":"tick","ts":30'; } >half
	{ grep -v 'lost\|end":' trace.jsonl; echo '{"end":true}'; } >whole
	for how in "half close" "half reset" "whole close"; do
		set -- $how
		deliver $port $2 <$1 3>&- &
		expected=3
		[ $1 = half ] || expected=0
		run --separate-stderr -$expected "$ASTERISM" replay -f json --measure tick tcp-listen:$port
		wait $!
		[[ $output == *'"measured":"tick"'* || $output == *'"measure":"tick"'* ]]
		[[ $output == *'"count":2,'* ]]
		if [ $1 = half ]; then
			[[ $stderr == *"tcp-listen:$port broke off after 2 events, without its end mark"* ]]
			[[ $output == *'{"notice":"stream","stream":"tcp-listen:'$port'","events":2}'* ]]
			[[ $2 != reset || $stderr == *"mark: Connection reset by peer: "* ]]
		else
			[[ $stderr != *"broke off"* ]]
		fi
		port=$((port + 1))
	done
}
