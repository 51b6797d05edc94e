#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Rules in the kernel over sensors: an application is stopped in the act. Needs root.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	: "${ASTERISM_TEST_PROGRAMS:=$BATS_TEST_DIRNAME/../../../build/tests/kernel}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ "$(uname -m)" = x86_64 ] || skip "how a 32-bit call is told is known for x86-64"
	cd "$BATS_TEST_TMPDIR"
	chmod 711 .
	export ASTERISM_SENSORS="$BATS_TEST_TMPDIR/socket"
	plant="$ASTERISM_TEST_PROGRAMS/plant-transfer"
	rule big 'RETURN { t.amount, t.rest, t.to } DO { CALL Kill(#PID) }' >kill.rule
}

teardown() {
	[ -z "${folder:-}" ] || rm -rf "$folder"
	for pid in ${started:-}; do
		kill -KILL "$pid" 2>/dev/null || true
	done
}

# `rule NAME REST`: a rule over great transfers.
rule() {
	echo "EVENTS \"kernel-sensor:$plant\""
	echo "SYNCHRONOUS RULE $1 PATTERN { transfer:t } WHERE { t.amount > 100 } $2"
}

serve() {
	"$ASTERISM" sensors --serve 3>&- >served 2>&1 &
	started+=" $!"
	wait_for test -S "$ASTERISM_SENSORS"
}

# `readers_are NUMBER`, for wait_for: of the transfer.
readers_are() {
	"$ASTERISM" sensors -f json 2>/dev/null | grep '"transfer"' | grep -q "\"readers\":$1[,}]"
}

@test "killed before the file is written, every time" {
	for _ in $(seq 20); do
		run --separate-stderr -137 "$ASTERISM" run --allow-actions -f json kill.rule -- "$plant" 500 made
		[[ ${lines[0]} == *'"return":{"t.amount":500,"t.rest":-5,"t.to":"bob"}'*'"done":true,"by":"kernel"'* ]]
		[ ! -e made ]
	done
}

@test "a small transfer is let be" {
	run --separate-stderr -0 "$ASTERISM" run --allow-actions -f json kill.rule -- "$plant" 50 made
	[ -e made ]
	[[ ${lines[-1]} == '{"stats":{"events":1,'*'"lost":0,"rules":{"big":{"matches":0,'* ]]
}

@test "stopped before the file is written, and let go on" {
	rule big 'DO { CALL Stop(#PID) }' >stop.rule
	"$ASTERISM" run --allow-actions -f json --for 1min stop.rule -- "$plant" 500 made >out 2>told 3>&- &
	session=$!
	started+=" $session"
	wait_for grep -q '"match"' out
	pid=$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' out | head -n 1)
	started+=" $pid"
	wait_for grep -q '^State:.T' "/proc/$pid/status"
	[ ! -e made ]
	kill -CONT "$pid"
	wait_for test -e made
	wait "$session"
}

@test "an application that was there before: its gate opens, and closes with the session" {
	serve
	"$plant" 500 made go 3>&- &
	early=$!
	started+=" $early"
	"$ASTERISM" run --allow-actions -f json -p "$early" kill.rule >out 2>told 3>&- &
	session=$!
	started+=" $session"
	wait_for readers_are 1
	touch go
	wait "$early" && false
	[ ! -e made ]
	wait "$session"
	grep -q '"by":"kernel"' out
	rm go
	"$plant" 500 made go 3>&- &
	started+=" $!"
	wait_for readers_are 0
	touch go
	wait_for test -e made
}

@test "more threads than rings: the fields are those of the event" {
	sed -i 's/t.amount > 100/t.amount > 500000/' kill.rule
	run --separate-stderr -137 "$ASTERISM" run --allow-actions -f json kill.rule -- "$plant" threads 300 made
	[[ ${lines[0]} == *'"t.amount":1000000,"t.rest":-5,"t.to":"bob"'* ]]
	[[ ${lines[-1]} == '{"stats":{"events":301,'*'"lost":0,'* ]]
	[ ! -e made ]
}

@test "two users: who raises it is ended, the other one is not" {
	command -v setpriv >/dev/null || skip "needs setpriv"
	folder=$(mktemp -d) # that the other one can reach, too
	chmod 711 "$folder"
	export ASTERISM_SENSORS="$folder/socket"
	mkdir -m 777 open
	cat >both.sh <<-END
		setpriv --reuid=65534 --clear-groups ./transfer 500 open/his
		./transfer 50 open/ours
	END
	install -m 755 "$plant" transfer
	setpriv --reuid=65534 --clear-groups test -x transfer || skip "others may not come here"
	run --separate-stderr -0 "$ASTERISM" run --allow-actions -f json kill.rule -- sh both.sh
	[ "$(grep -c '"match"' <<<"$output")" = 1 ]
	[ ! -e open/his ]
	[ -e open/ours ]
}

@test "an action on anybody else is refused, also by way of another rule" {
	rule big 'DO { CALL Kill(t.amount) }' >number.rule
	run --separate-stderr ! "$ASTERISM" run --allow-actions number.rule -- "$plant" 500 made
	[[ $stderr == *"depends on events of applications (sensors), which are not trusted for that"* ]]
	[ ! -e made ]
	cat >other.rule <<-END
		EVENTS "kernel-sensor:$plant"
		RULE other PATTERN { [transfer:t, sys_enter_openat:o] } DO { CALL Kill(o#PID) }
	END
	run --separate-stderr ! "$ASTERISM" run --allow-actions other.rule -- "$plant" 500 made
	[[ $stderr == *"which are not trusted for that"* ]]
	sed -i 's/ DO/ WHERE { [pid] } DO/' other.rule
	run --separate-stderr "$ASTERISM" run --allow-actions other.rule -- "$plant" 500 made
	[[ $stderr != *"not trusted"* ]]
	cat >fed.rule <<-END
		EVENTS "kernel-sensor:$plant"
		EVENT told { whom: i32 }
		RULE teller PATTERN { transfer:t } DO { EMIT told(whom = t.pid) }
		RULE fed PATTERN { told:x } DO { CALL Kill(#PID) }
	END
	run --separate-stderr ! "$ASTERISM" run --allow-actions fed.rule -- "$plant" 500 made
	[[ $stderr == *"which are not trusted for that"* ]]
}

@test "other fields under that name are told of" {
	echo 'EVENT transfer "money goes" { amount: u64, to: string[16] }' >other.events
	sed 's#"kernel-sensor:.*"#"kernel-sensor:other.events"#; s/t.rest, //' kill.rule >other.rule
	run --separate-stderr -0 "$ASTERISM" run --allow-actions -f json other.rule -- "$plant" 500 made
	[[ $stderr == *"raises transfer with other fields: rules do not see these events"* ]]
	[ -e made ]
}

@test "no directory can be reached: the session does not begin" {
	export ASTERISM_SENSORS="$BATS_TEST_TMPDIR/no/such/place"
	run --separate-stderr ! "$ASTERISM" run --allow-actions kill.rule -- "$plant" 500 made
	[[ $stderr == *error:* ]]
	[ ! -e made ]
}

@test "a sensor of one program alone is refused: the kernel cannot tell whose it is" {
	echo 'EVENTS "kernel-sensor:plant-transfer:transfer" RULE r PATTERN { transfer:t }' >whose.rule
	run --separate-stderr ! "$ASTERISM" check whose.rule
	[[ $stderr == *"the kernel does not know which program a sensor belongs to"* ]]
}

@test "a recording of rules has it; one without any is refused, as nobody would call" {
	"$ASTERISM" record -q --rules kill.rule -o trace -- "$plant" 500 made
	"$ASTERISM" dump trace | grep -q 'transfer.*amount=500 .*to="bob"'
	run --separate-stderr ! "$ASTERISM" record --catalog "kernel-sensor:$plant" -e transfer -o empty -- "$plant" 500 made
	[[ $stderr == *"transfer is raised only while a rule in the kernel waits for it"*"-e sensor:transfer"* ]]
}

@test "bits of a gate: readers and rules do not disturb each other" {
	sed 's/kernel-sensor/sensor/; s/SYNCHRONOUS //; s/DO .*//' kill.rule >read.rule
	serve
	"$plant" 50 made go 3>&- &
	early=$!
	started+=" $early"
	"$ASTERISM" run -f json -p "$early" read.rule >out 2>told 3>&- &
	reader=$!
	started+=" $reader"
	wait_for readers_are 1
	"$ASTERISM" run --allow-actions -f json -p "$early" kill.rule >out2 2>told2 3>&- &
	other=$!
	started+=" $other"
	wait_for readers_are 2
	kill -INT "$other"
	wait_for readers_are 1
	touch go
	wait "$early"
	wait "$reader"
	grep -q '"events":1,' out
}

@test "asterismd stops an application in the act, and lets be what is small" {
	mkdir rules
	rule big 'DO { CALL Kill(#PID) }' >rules/big.rule
	echo 'allow Kill' >policy
	"$(dirname "$ASTERISM")/asterismd" --rules rules --socket "$PWD/control" --sensors --policy policy --output "$PWD/out" 2>log 3>&- &
	started+=" $!"
	wait_for grep -q 'observing with 1 active unit' log
	run -137 "$plant" 500 made
	[ ! -e made ]
	run -0 "$plant" 50 made
	[ -e made ]
	wait_for grep -q '"match":"big".*"done":true,"by":"kernel"' out
}
