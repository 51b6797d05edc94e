#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Monitors that send their events elsewhere, where the same is found. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	: "${ASTERISM_TEST_PROGRAMS:=$BATS_TEST_DIRNAME/../../../build/tests/kernel}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
	export ASTERISM_SENSORS="$BATS_TEST_TMPDIR/socket"
	plant="$ASTERISM_TEST_PROGRAMS/plant-sensors"
	port=$((20000 + RANDOM % 12000))
	asked=(--measure request_begin.bytes,by=tid --measure request_end,log)
	cat >slow.rule <<-END
		EVENTS "sensor:$plant"
		RULE slow PATTERN { [request_begin:b, request_end:e] } WHERE { [id], e.ts - b.ts > 10ms } RETURN { b.id AS id }
	END
}

teardown() {
	[ -z "${peer:-}" ] || kill "$peer" 2>/dev/null || true
}

results() {
	grep -E '"measured?":' "$1"
	grep -o '"match":"slow","ts":[0-9]*' "$1" || true
}

@test "to a file, over TCP, in frames: the same rules and measures find the same there" {
	"$ASTERISM" replay -f json "${asked[@]}" slow.rule tcp-listen:$port >remote 2>remote.err &
	peer=$!
	until grep -q "$(printf ':%04X' $port) 00000000:0000 0A" /proc/net/tcp; do kill -0 $peer; sleep 0.05; done
	"$ASTERISM" monitor -f json "${asked[@]}" --to tcp:127.0.0.1:$port slow.rule -- "$plant" requests 2 40 10 >live 2>err
	wait $peer
	peer=
	diff <(results live) <(results remote)
	[ "$(results remote | grep -c slow)" -ge 8 ]
	grep -q "160 events were sent to tcp:127.0.0.1:$port" err
	for to in events.jsonl serial:events.serial; do
		"$ASTERISM" monitor -f json "${asked[@]}" --to $to slow.rule -- "$plant" requests 2 20 10 >live 2>err
		"$ASTERISM" replay -f json "${asked[@]}" slow.rule $to >remote 2>remote.err
		diff <(results live) <(results remote)
	done
}

@test "a monitor that is killed leaves a stream without its end, which its peer tells" {
	"$ASTERISM" replay -f json --measure request_begin tcp-listen:$port >remote 2>remote.err &
	peer=$!
	until grep -q "$(printf ':%04X' $port) 00000000:0000 0A" /proc/net/tcp; do kill -0 $peer; sleep 0.05; done
	"$ASTERISM" monitor -q --measure request_begin --to tcp:127.0.0.1:$port -- "$plant" paced 3000 1000 3>&- &
	monitor=$!
	for _ in $(seq 100); do ! grep -q "$(printf ':%04X' $port) .* 01 " /proc/net/tcp || break; sleep 0.05; done
	sleep 0.5
	kill -9 $monitor
	wait $peer && status=0 || status=$?
	[ $status = 3 ]
	peer=
	grep -Eq "warning: tcp-listen:$port broke off after [0-9]+ events?, without its end mark" remote.err
	grep -q '"notice":"stream"' remote
}

@test "nobody there: the monitor goes on, and says what did not get there" {
	run --separate-stderr -3 "$ASTERISM" monitor -f json --measure request_end --to tcp:127.0.0.1:$port -- "$plant" requests 1 50 0
	[[ $output == *'"measure":"request_end","count":50,'* ]]
	[[ $stderr == *"tcp:127.0.0.1:$port does not accept events: Connection refused"* ]]
	[[ $stderr == *"50 events were not sent to tcp:127.0.0.1:$port"* ]]
	run --separate-stderr -2 "$ASTERISM" monitor --measure request_end --to tcp:nowhere -- "$plant" requests 1 1 0
	[[ $stderr == *"invalid address to send to: 'tcp:nowhere'"* ]]
}

@test "a peer that reads nothing blocks nobody" {
	python3 -c '
import socket, sys, time
s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
s.accept()
time.sleep(600)' $port &
	peer=$!
	until grep -q "$(printf ':%04X' $port) 00000000:0000 0A" /proc/net/tcp; do kill -0 $peer; sleep 0.05; done
	run --separate-stderr "$ASTERISM" monitor -f json --measure request_begin --to tcp:127.0.0.1:$port -- "$plant" flood 300000
	[[ $output == *'"measured":"request_begin"'* ]]
	[[ $stderr == *"events were not sent to tcp:"* ]]
	[ "$status" = 3 ]
}
