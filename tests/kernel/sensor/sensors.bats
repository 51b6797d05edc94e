#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Rules over sensors, alone and with events of the kernel. Needs root.

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
	cat >blocked.rule <<-'END'
		EVENTS "sensor:shop.events"
		RULE blocked SKIPTILLANY
		PATTERN { [request_begin:b, sched_switch:off, sched_switch:on, request_end:e] }
		WHERE { b.tid == off.prev_pid, b.tid == on.next_pid, b.id == e.id, on.ts - off.ts > 10ms }
		RETURN { b.id AS id, off.ts - b.ts AS running, on.ts - off.ts AS blocked, e.ts - on.ts AS rest }
	END
}

teardown() {
	[ -z "${started:-}" ] || kill $started || true
	[ -z "${folder:-}" ] || rm -rf "$folder"
}

# The values called so of the matches, in a line.
values_of() {
	grep '"match"' <<<"$output" | sed "s/.*\"$1\":\([^,}]*\).*/\1/" | sort -n | tr '\n' ' '
}

@test "a rule over sensors alone: slow requests are told, with their fields" {
	run --separate-stderr -0 "$ASTERISM" run -f json slow.rule -- "$plant" requests 1 20 5
	# A machine that stands still makes others slow, too.
	for id in 4 9 14 19; do
		[[ " $(values_of id)" == *" $id "* ]]
		[[ " $(values_of bytes)" == *" $((100 + id)) "* ]]
	done
	[[ ${lines[0]} == *'"comm":"plant-sensors"'*'"path":"/index","pid":'* ]]
	[[ ${lines[-1]} == '{"stats":{"events":40,'*'"lost":0,'* ]]
	[[ $stderr == *"runs in user space: it waits for events of applications"* ]]
}

@test "no slow request, no match" {
	sed 's/10ms/10min/' slow.rule >never.rule
	run --separate-stderr -0 "$ASTERISM" run -f json never.rule -- "$plant" requests 1 20 0
	[[ ${lines[-1]} == '{"stats":{"events":40,'*'"lost":0,'*'"slow":{"matches":0,"runs_opened":20,'* ]]
}

@test "many threads: everything is seen, in order" {
	run --separate-stderr -0 "$ASTERISM" run -f json slow.rule -- "$plant" requests 12 50 10
	[[ ${lines[-1]} == '{"stats":{"events":1200,'*'"lost":0,'*'"runs_opened":600,'* ]]
	[ "$(grep -c '"match"' <<<"$output")" -ge 60 ]
}

@test "a rule over sensors and the kernel" {
	run --separate-stderr -0 "$ASTERISM" run -f json blocked.rule -- "$plant" requests 2 20 5
	for id in 4 9 14 19 24 29 34 39; do
		[[ " $(values_of id)" == *" $id "* ]]
	done
	for blocked in $(values_of blocked); do
		[ "$blocked" -ge 10000000 ]
	done
	for rest in $(values_of running) $(values_of rest); do
		[ "$rest" -ge 0 ]
	done
}

@test "a running process that nobody had asked for sensors" {
	"$plant" requests 1 60000 100 &
	local pid=$!
	started=$pid
	sleep 0.2
	run --separate-stderr "$ASTERISM" run -f json --for 5s slow.rule -p $pid
	grep -q "\"pid\":$pid" <<<"$output"
	[[ $stderr != *"no observed process"* ]]
}

@test "a sensor that nobody announces is waited for, with a word" {
	run --separate-stderr -0 "$ASTERISM" run slow.rule -- sleep 5
	[[ $stderr == *"waiting: no observed process has declared request_begin yet"* ]]
	[[ $stderr == *"warning: no observed process has declared request_begin, request_end: no event of them was seen"* ]]
}

@test "other fields under the same name are not read, and told of" {
	run --separate-stderr -0 "$ASTERISM" run slow.rule -- "$plant-other" requests 1 5 1
	[ -z "$output" ]
	[[ $stderr == *"not reading sensor request_begin of process "*": it has another field id than the rules expect"* ]]
}

@test "what is overwritten is counted to the last one, and the newest is there" {
	cat >each.rule <<-'END'
		EVENTS "sensor:shop.events"
		RULE each PATTERN { request_begin:b } WHERE { b.id == 2999999 }
	END
	run --separate-stderr -3 "$ASTERISM" run -f json each.rule -- "$plant" flood 3000000
	[ "$(grep -c '"match"' <<<"$output")" = 1 ]
	local seen=$(sed 's/.*"stats":{"events":\([0-9]*\).*/\1/' <<<"${lines[-1]}")
	local lost=$(sed 's/.*"lost":\([0-9]*\),"rules".*/\1/' <<<"${lines[-1]}")
	[ "$lost" -gt 0 ]
	[ $((seen + lost)) = 3000000 ]
	[[ $stderr == *"$lost events of sensors were overwritten before they were read"* ]]
}

@test "what was overwritten before the session came to look is counted, too" {
	echo 'EVENTS "sensor:shop.events" RULE each PATTERN { request_begin:b } WHERE { b.id IN { 0, 2999999 } }' >each.rule
	"$ASTERISM" sensors --serve &
	started=$!
	for _ in $(seq 100); do [ ! -S "$ASTERISM_SENSORS" ] || break; sleep 0.05; done
	"$ASTERISM" run -f json -a each.rule >out 2>err &
	local session=$!
	started+=" $session"
	for _ in $(seq 100); do
		"$plant" flood 1
		! grep -q '"match"' out || break
		sleep 0.1
	done
	grep -q '"match"' out
	sleep 0.1
	kill -STOP $session
	"$plant" flood 3000000
	kill -CONT $session
	for _ in $(seq 100); do [ "$(grep -c '"match"' out)" = 1 ] || break; sleep 0.1; done
	kill -INT $session
	wait $session || true
	local before=$(($(grep -c '"match"' out) - 1))
	local seen=$(sed -n 's/.*"stats":{"events":\([0-9]*\).*/\1/p' out)
	local lost=$(sed -n 's/.*"lost":\([0-9]*\),"rules".*/\1/p' out)
	[ "$lost" -gt 0 ]
	[ $((seen + lost - before)) = 3000000 ]
}

@test "a process that is killed between begin and commit" {
	run --separate-stderr "$ASTERISM" run -f json slow.rule -- "$plant" open
	[ "$status" = 137 ]
	[[ ${lines[-1]} == '{"stats":{"events":1,'*'"lost":0,'* ]]
	[[ $stderr == *"1 event of sensors was begun and never finished: its process ended"* ]]
}

@test "a process that becomes another program is seen as that, too" {
	echo 'EVENTS "sensor:shop.events" RULE r PATTERN { request_begin:b } RETURN { b.id AS id }' >each.rule
	run --separate-stderr -0 "$ASTERISM" run -f json each.rule -- "$plant" execs 40
	[[ $(values_of id) == "$(seq -s ' ' 0 40) " ]]
}

@test "children that end at once are seen, by a directory of its own and by one that serves" {
	echo 'EVENTS "sensor:shop.events" RULE r PATTERN { request_begin:b } RETURN { b.id AS id }' >each.rule
	run --separate-stderr -0 "$ASTERISM" run -f json each.rule -- "$plant" forks 200
	[[ $(values_of id) == "$(seq -s ' ' 0 199) " ]]
	"$ASTERISM" sensors --serve &
	started=$!
	for _ in $(seq 100); do [ ! -S "$ASTERISM_SENSORS" ] || break; sleep 0.05; done
	run --separate-stderr -0 "$ASTERISM" run -f json each.rule -- "$plant" forks 200
	[[ $(values_of id) == "$(seq -s ' ' 0 199) " ]]
}

@test "what applications say is no ground for ending a process" {
	cat >kill.rule <<-'END'
		EVENTS "sensor:shop.events"
		EVENT told { who: u32 }
		RULE first PATTERN { request_begin:b } DO { EMIT told(who = b.pid) }
		RULE second PATTERN { told:t } DO { CALL Kill(t.who) }
	END
	run --separate-stderr -2 "$ASTERISM" run --allow-actions kill.rule -- "$plant" requests 1 5 1
	[[ $stderr == *"rule second calls Kill, but depends on events of applications (sensors), which are not trusted"* ]]
}

@test "a directory that serves already is asked, and its sensors need no catalog" {
	"$ASTERISM" sensors --serve &
	started=$!
	for _ in $(seq 100); do [ ! -S "$ASTERISM_SENSORS" ] || break; sleep 0.05; done
	run -2 "$ASTERISM" check <(echo 'EVENTS "sensor:request_begin" RULE r PATTERN { request_begin:b }')
	[[ $output == *"no running application has the sensor request_begin"* ]]
	"$plant" requests 1 60000 20 &
	local pid=$!
	started+=" $pid"
	sleep 0.5
	sed 's/EVENTS.*/EVENTS "sensor:request_begin" EVENTS "sensor:plant-sensors:request_end"/' slow.rule >asked.rule
	run --separate-stderr "$ASTERISM" run -f json --for 5s asked.rule -p $pid
	grep -q "\"pid\":$pid" <<<"$output"
}

@test "two programs that mean different things by a name are told apart" {
	"$ASTERISM" sensors --serve &
	started=$!
	for _ in $(seq 100); do [ ! -S "$ASTERISM_SENSORS" ] || break; sleep 0.05; done
	for program in "$plant" "$plant-other"; do
		"$program" requests 1 60000 20 &
		started+=" $!"
	done
	local listed
	for _ in $(seq 100); do
		listed=$("$ASTERISM" sensors | grep -c "^/") || true
		[ "$listed" != 2 ] || break
		sleep 0.1
	done
	run -2 "$ASTERISM" check <(echo 'EVENTS "sensor:request_begin" RULE r PATTERN { request_begin:b }')
	[[ $output == *"error: process "*"/plant-sensors"*") declares sensor request_begin with other fields"* ]]
	[[ $output == *'name the program, too: EVENTS "sensor:/path/of/program"'* ]]
	run -0 "$ASTERISM" check <(echo 'EVENTS "sensor:plant-sensors:request_begin" RULE r PATTERN { request_begin:b }')
}

@test "the end of a directory is a loss: applications raise no events until the next one" {
	"$ASTERISM" sensors --serve &
	started=$!
	for _ in $(seq 100); do [ ! -S "$ASTERISM_SENSORS" ] || break; sleep 0.05; done
	local directory=$!
	"$plant" requests 1 60000 20 &
	local pid=$!
	started+=" $pid"
	echo 'EVENTS "sensor:shop.events" RULE each PATTERN { request_begin:b } RETURN { b.id AS id }' >each.rule
	"$ASTERISM" run -f json each.rule -p $pid >out 2>err &
	local session=$!
	started+=" $session"
	for _ in $(seq 100); do ! grep -q '"match"' out || break; sleep 0.1; done
	kill -KILL $directory
	for _ in $(seq 100); do ! grep -q "raise no events until" err || break; sleep 0.1; done
	grep -q "raise no events until another one runs" err
	"$ASTERISM" sensors --serve &
	started+=" $!"
	local before=$(grep -c '"match"' out)
	for _ in $(seq 200); do [ "$(grep -c '"match"' out)" = "$before" ] || break; sleep 0.1; done
	[ "$(grep -c '"match"' out)" -gt "$before" ]
	kill $pid
	local status=0
	wait $session || status=$?
	[ $status = 3 ]
	grep -q '"lost":1,"rules":{"each":{.*"lost":1' out
	grep -q "the sensor registry ended 1 time: events of applications are missing until the next one started" err
}

@test "sensors under names of one's own, also from an image" {
	echo 'EVENT request_begin "of another program" { code: u8 }' >other.events
	cat >two.rule <<-'END'
		EVENTS "sensor:other.events"
		EVENTS "sensor:shop.events" AS shop
		RULE mine PATTERN { shop_request_begin:b } WHERE { b.id == 3 } RETURN { b.path AS path }
	END
	run --separate-stderr -0 "$ASTERISM" run -f json two.rule -- "$plant" requests 1 5 0
	[[ ${lines[0]} == *'"return":{"path":"/index"}'* ]]
	"$ASTERISM" compile -o two.image two.rule
	run --separate-stderr -0 "$ASTERISM" run -f json two.image -- "$plant" requests 1 5 0
	[[ ${lines[0]} == *'"return":{"path":"/index"}'* ]]
	sed -i 's/ AS shop//' two.rule
	run -2 "$ASTERISM" check two.rule
	[[ $output == *"the name 'request_begin' is already taken"*'AS prefix makes it another event, prefix_NAME'* ]]
	run -2 "$ASTERISM" check <(echo 'EVENTS "linux.events" AS own')
	[[ $output == *'only the events of applications ("sensor:...") can be given other names'* ]]
}

@test "sensors alone need no privilege" {
	folder=$(mktemp -d)
	cp slow.rule shop.events "$folder"
	chown -R 65534 "$folder"
	export ASTERISM_SENSORS=$folder/socket
	run --separate-stderr -0 setpriv --reuid=65534 --regid=65534 --clear-groups "$ASTERISM" run -f json "$folder/slow.rule" -- "$plant" requests 1 10 5
	for id in 4 9; do
		[[ " $(values_of id)" == *" $id "* ]]
	done
}

@test "what a process is called turns no text around, and comes whole, in JSON as on a terminal" {
	local odd=$'odd\u202ename\u2066\x9b'
	cp "$plant" "$odd"
	"$ASTERISM" sensors --serve &
	started=$!
	for _ in $(seq 100); do [ ! -S "$ASTERISM_SENSORS" ] || break; sleep 0.05; done
	"./$odd" requests 1 60000 100 &
	started+=" $!"
	for _ in $(seq 100); do
		"$ASTERISM" sensors -f json >listed
		! grep -q request_begin listed || break
		sleep 0.1
	done
	[[ $(cat listed) == *'/odd\u202ename\u2066'* ]]
	[[ $("$ASTERISM" sensors) == *'/odd\342\200\256name\342\201\246'* ]]
	python3 -c 'import json
process = json.loads(open("listed").readline())
assert process["comm"] == "odd\u202ename\u2066\ufffd", process
assert process["path"].endswith("/odd\u202ename\u2066\ufffd"), process'
}
