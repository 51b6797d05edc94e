#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Sensors in traces: recorded, shown, replayed. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	: "${ASTERISM_TEST_PROGRAMS:=$BATS_TEST_DIRNAME/../../../build/tests/kernel}"
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
	[ -z "${folder:-}" ] || rm -rf "$folder"
}

@test "a file in which there is no sensor is refused" {
	printf '# nothing yet\n' >none.events
	for file in none.events /bin/true; do
		run --separate-stderr -2 "$ASTERISM" record -o t -e "sensor:$file" -- touch launched
		[[ $stderr == *"sensor"* ]]
		[ ! -e launched ]
	done
	run --separate-stderr -2 "$ASTERISM" record -o t -e sensor:none.events -- touch launched
	[[ $stderr == *"'none.events' declares no sensor"* ]]
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
	[[ $output == *"rule slow: sensor:request_begin was not recorded, so it cannot match in this input"* ]]
	[[ $output == *"asterism record -o DIR slow.rule"* ]]
}

# The matches, without what only a running system says.
matches() {
	grep '"match"' "$1" | sed 's/,"time":.*/}/'
}

@test "recorded is as live: rules over sensors and the kernel find the same in the trace" {
	cat >blocked.rule <<-'END'
		EVENTS "sensor:shop.events"
		RULE blocked SKIPTILLANY
		PATTERN { [request_begin:b, sched_switch:off, sched_switch:on, request_end:e] }
		WHERE { b.tid == off.prev_pid, b.tid == on.next_pid, b.id == e.id, on.ts - off.ts > 10ms }
		RETURN { b.id AS id, off.ts - b.ts AS running, on.ts - off.ts AS blocked, e.ts - on.ts AS rest }
	END
	for rule in slow blocked; do
		run --separate-stderr -0 "$ASTERISM" record -o $rule -f json --rules $rule.rule -- "$plant" requests 3 20 5
		echo "$output" >live
		"$ASTERISM" replay -f json $rule.rule $rule >replayed
		[ "$(matches live | wc -l)" -ge 12 ]
		diff <(matches live) <(matches replayed)
		[[ $(matches live | head -1) == *'"cpu":null,"pid":'* ]]
		# The trace's marks say the same.
		"$ASTERISM" dump -f json -e match $rule >marks
		[ "$(wc -l <marks)" = "$(matches live | wc -l)" ]
	done
	run -0 babeltrace2 blocked
	[[ $output != *warning* ]]
}

@test "JSON lines of sensors are replayed as the trace is" {
	"$ASTERISM" record -o t -e 'sensor:*' -- "$plant" requests 2 20 5
	"$ASTERISM" dump -f json t >lines
	grep -q '"cpu":null,' lines
	"$ASTERISM" replay -f json slow.rule t >one
	"$ASTERISM" replay -f json slow.rule lines >two
	diff <(matches one) <(matches two)
}

@test "sensors alone need no privilege" {
	folder=$(mktemp -d)
	cp "$plant" "$ASTERISM" "$folder"
	chown 65534 "$folder"
	cd "$folder"
	run --separate-stderr -0 setpriv --reuid 65534 --clear-groups env HOME="$folder" ASTERISM_SENSORS="$folder/own" ./asterism record -o own.trace -e sensor:request_end -- ./plant-sensors requests 1 5 0
	[[ $stderr == *"5 events in "* ]]
}

@test "what is overwritten is counted to the last one, and the trace says the same" {
	run --separate-stderr "$ASTERISM" record -o t -e sensor:request_begin -- "$plant" flood 3000000
	[ "$status" = 3 ] || [ "$status" = 0 ]
	local seen=$(sed -n 's/.*note: \([0-9]*\) events in.*/\1/p' <<<"$stderr")
	local lost=$(sed -n 's/.*warning: \([0-9]*\) events of sensors were lost.*/\1/p' <<<"$stderr")
	[ $((seen + ${lost:-0})) = 3000000 ]
	run --separate-stderr "$ASTERISM" stat t
	[[ ${lines[0]} == "$seen events in "*" ${lost:-0} lost" ]]
	[ "$(babeltrace2 t 2>/dev/null | grep -c ' request_begin: ')" = "$seen" ]
}

@test "programs that call different things the same are both recorded, and each rule finds its own" {
	"$ASTERISM" record -o t -e sensor:request_begin,sensor:request_end -- sh -c "'$plant' requests 1 5 1; '$plant-other' requests 1 7 1"
	run -0 "$ASTERISM" stat t
	[[ $output =~ request_begin\ +5\  ]]
	[[ $output =~ request_begin_2\ +7\  ]]
	run -0 "$ASTERISM" replay -f json slow.rule t
	[ "$(grep -c '"match"' <<<"$output")" = 5 ]
	cat >other.rule <<-END
		EVENTS "sensor:$plant-other"
		RULE slow PATTERN { [request_begin:b, request_end:e] } WHERE { [id], e.ts - b.ts > 10ms }
	END
	run -0 "$ASTERISM" replay -f json other.rule t
	[ "$(grep -c '"match"' <<<"$output")" = 7 ]
	[ "$(babeltrace2 t | grep -c ' request_begin: ')" = 12 ]
}

@test "sensors of one program alone, live and in the trace" {
	"$ASTERISM" sensors --serve 2>/dev/null &
	started=$!
	for _ in $(seq 100); do [ ! -S "$ASTERISM_SENSORS" ] || break; sleep 0.05; done
	cp "$plant" twin
	"$plant" requests 1 60000 20 &
	local one=$!
	./twin requests 1 60000 20 &
	local other=$!
	started+=" $one $other"
	for _ in $(seq 100); do [ "$("$ASTERISM" sensors | grep -c request_end)" != 2 ] || break; sleep 0.05; done
	echo 'EVENTS "sensor:twin:*" RULE one PATTERN { request_end:e } RETURN { e.pid AS pid }' >twin.rule
	run --separate-stderr -0 "$ASTERISM" record -o t -f json --for 500ms --rules twin.rule -a
	[ "$(grep '"match"' <<<"$output" | grep -vc "\"pid\":$other,")" = 0 ]
	[ "$(grep '"match"' <<<"$output" | grep -c "\"pid\":$other,")" -gt 10 ]
	"$ASTERISM" record -o both --for 500ms -e sensor:request_end -a
	"$ASTERISM" dump both | grep -q "plant-sensors *$one/"
	"$ASTERISM" replay -f json twin.rule both >found
	[ "$(grep -c '"match"' found)" -gt 10 ]
	[ "$(grep '"match"' found | grep -vc "\"pid\":$other,")" = 0 ]
}

@test "sensors that nobody announced are told of, all of them" {
	run --separate-stderr -0 "$ASTERISM" record -o t -e sensor:a,sensor:b,sensor:request_end -- "$plant" requests 1 2 0
	[[ $stderr == *"warning: no observed process has declared a, b: no event of them was seen"* ]]
}

@test "a process that is killed between begin and commit" {
	run --separate-stderr "$ASTERISM" record -o t -e 'sensor:*' -- "$plant" open
	[ "$status" = 137 ]
	[[ $stderr == *"1 events in "*"1 event of sensors was begun and never finished: its process ended"* ]]
	run -0 "$ASTERISM" stat t
	[[ ${lines[0]} == "1 events in "*" 0 lost" ]]
}

@test "asterism is killed: what is in the trace can be read, and nothing of it is wrong" {
	"$ASTERISM" record -o t -e 'sensor:*' -- "$plant" requests 2 60000 0 &
	local pid=$!
	for _ in $(seq 200); do [ "$("$ASTERISM" dump t 2>/dev/null | wc -l)" -lt 100 ] || break; sleep 0.05; done
	local child=$(pgrep -P $pid)
	kill -9 $pid
	kill $child
	run --separate-stderr -0 "$ASTERISM" dump t
	[ "${#lines[@]}" -ge 100 ]
	[ -z "$stderr" ]
	"$ASTERISM" dump -f json -e request_begin t | sed 's/.*"id":\([0-9]*\).*/\1/' | sort -n | uniq -d | wc -l | grep -qx 0
	run -0 babeltrace2 t
}

@test "a full disk: what is in the trace and what is told are all that was raised" {
	mkdir disk
	mount -t tmpfs -o size=64k none disk || skip "no file system can be mounted"
	run --separate-stderr -3 "$ASTERISM" record -o disk/t -e sensor:request_begin -- "$plant" flood 300000
	local shown=$("$ASTERISM" dump disk/t 2>/dev/null | grep -c ' request_begin ')
	local told=$("$ASTERISM" stat disk/t 2>/dev/null | sed -n '1s/.* \([0-9]*\) lost$/\1/p')
	umount disk
	[ "$(grep -c 'error: the disk is full: No space left on device' <<<"$stderr")" = 1 ]
	local seen=$(sed -n 's/.*note: \([0-9]*\) events in.*/\1/p' <<<"$stderr")
	local lost=$(sed -n 's/.*warning: \([0-9]*\) events.* were lost.*/\1/p' <<<"$stderr" | awk '{ sum += $1 } END { print sum + 0 }')
	[ "$seen" = "$shown" ]
	[ "$lost" = "$told" ]
	[ $((seen + lost)) = 300000 ]
}

@test "programs of any name, in folders of any name" {
	mkdir $'a*'
	cp "$plant" $'a*/od\t% d"\n'
	run --separate-stderr -0 "$ASTERISM" record -o t -e 'sensor:*' -- $'./a*/od\t% d"\n' requests 1 5 1
	run -0 "$ASTERISM" dump -f json t
	[ "${#lines[@]}" = 10 ]
	run -0 babeltrace2 t
	run -0 "$ASTERISM" replay -f json slow.rule t
	[ "$(grep -c '"match"' <<<"$output")" = 5 ]
}

@test "snapshots hold what the rings do, of those that have ended, too" {
	run --separate-stderr -0 "$ASTERISM" record --flight -o box -e 'sensor:*' -- sh -c "'$plant' requests 2 10 1; '$plant' requests 1 5 1"
	[[ $stderr == *"1 snapshot, "*" in box"* ]]
	run --separate-stderr -0 "$ASTERISM" stat box/end-1
	[[ ${lines[0]} == "50 events in "*" 0 lost" ]]
	run --separate-stderr -0 "$ASTERISM" run -f json --snapshot more slow.rule -- "$plant" requests 1 20 10
	run --separate-stderr -0 "$ASTERISM" dump -f json -e request_begin,match more/slow-1
	[[ $output == *'"id":0,'*'"match"'* ]]
	run -0 babeltrace2 more/slow-1
}

@test "a snapshot after more than the rings hold has the newest, and nothing counts as lost" {
	run --separate-stderr -0 "$ASTERISM" record --flight -o box -e 'sensor:*' -- "$plant" flood 300000
	"$ASTERISM" dump -f json box/end-1 | sed 's/.*"id":\([0-9]*\).*/\1/' >ids
	[ "$(tail -1 ids)" = 299999 ]
	[ "$(wc -l <ids)" -gt 1000 ]
	[ "$(wc -l <ids)" = "$((300000 - $(head -1 ids)))" ]
	run --separate-stderr -0 "$ASTERISM" stat box/end-1
	[[ ${lines[0]} == *" 0 lost" ]]
}

@test "processes that come and go: those whose scope was not known in time are told of" {
	run --separate-stderr "$ASTERISM" record -o t -e sensor:request_begin -- sh -c "for i in \$(seq 40); do '$plant' flood 10; done"
	local seen=$(sed -n 's/.*note: \([0-9]*\) events in.*/\1/p' <<<"$stderr")
	local unknown=$(sed -n 's/.*warning: \([0-9]*\) process.* ended before it was known.*/\1/p' <<<"$stderr")
	[ $((seen + 10 * ${unknown:-0})) = 400 ]
	[ "$status" = "$([ -z "$unknown" ] && echo 0 || echo 3)" ]
}
