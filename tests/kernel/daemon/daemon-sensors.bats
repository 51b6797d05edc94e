#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# asterismd as the directory of sensors. Needs root.

bats_require_minimum_version 1.5.0
load daemon

setup() {
	daemon_setup
	app=$build/tests/unit/sensor/sensor-app
	[ -x "$app" ] || skip "the application with sensors is not built"
	cp "$app" .
	chmod 755 sensor-app
	export ASTERISM_SENSORS=$PWD/sensors
	running=
}

teardown() {
	[ -z "$running" ] || { kill -KILL "$running"; wait "$running"; } 2>/dev/null || true
	daemon_teardown
}

lists() {
	"$ASTERISM" sensors 2>/dev/null | grep -q -- "$1"
}

@test "applications register, and come back when the daemon does" {
	start --sensors
	grep -q "the sensor registry is at $PWD/sensors" log
	./sensor-app go-on >/dev/null 3>&- 6<&- 7>&- &
	running=$!
	wait_for lists "sensor-app\[$running\], user 0: 0 events"
	stop
	kill -0 "$running"
	run -2 "$ASTERISM" sensors
	start --sensors
	wait_for lists "sensor-app\[$running\], user 0"
	lists "step(thread: u64, number: u64, check: u64, word: string\[16\]) - a step of a thread"
}

@test "other users see their own" {
	start --sensors
	ASTERISM_SENSORS=sensors setpriv --reuid=65534 --regid=65534 --clear-groups ./sensor-app go-on >/dev/null 2>&1 3>&- 6<&- 7>&- &
	running=$!
	wait_for lists "sensor-app"
	"$ASTERISM" sensors -f json | grep -q '"uid":65534,'
	./sensor-app count 1 </dev/null >/dev/null
	run -0 as_nobody env ASTERISM_SENSORS=sensors "$ASTERISM" sensors -f json
	[ "${#lines[@]}" = 1 ]
	[[ $output == *'"uid":65534,'* ]]
	[ "$("$ASTERISM" sensors -f json | wc -l)" = 2 ]
}

@test "a rule of the directory names a program's sensors, if only root can have written the program" {
	printf '%s\n' "EVENTS \"sensor:$PWD/sensor-app\"" 'RULE steps' 'PATTERN { [step:a, beat:b] }' >rules/steps.rule
	start --sensors
	stop
	chmod 666 sensor-app
	run ! start --sensors
	grep -q "catalog not found: 'sensor:$PWD/sensor-app'" log
}

@test "a rule of the directory finds what applications raise" {
	printf '%s\n' "EVENTS \"sensor:$PWD/sensor-app\"" 'RULE steps' 'PATTERN { [step:a, step:b] }' \
		'WHERE { [tid], b.number == a.number + 1 }' 'RETURN { b.number AS number }' >rules/steps.rule
	./sensor-app go-on >/dev/null 3>&- 6<&- 7>&- &
	running=$!
	start --sensors --pid "$running"
	wait_for grep -q '"match":"steps"' out
	wait_for lists "step(.*1 reader"
	stop
}

@test "units over sensors do not hold up the daemon that is their directory" {
	for i in $(seq 30); do
		printf '%s\n' "EVENTS \"sensor:$PWD/sensor-app\"" "RULE steps$i PATTERN { [step:a, step:b] }" >"rules/$i.rule"
	done
	start --sensors
	# With one rule waiting two seconds for the answer that it should give itself, this takes a minute.
	wait_for ctl ping
	./sensor-app go-on >/dev/null 3>&- 6<&- 7>&- &
	running=$!
	wait_for lists "step(.*30 readers"
	stop
}

@test "a second directory at the same place is not possible" {
	"$ASTERISM" sensors --serve 2>serve.log 3>&- 6<&- 7>&- &
	running=$!
	wait_for [ -S sensors ]
	run ! start --sensors
	grep -q "a sensor registry is already running at $PWD/sensors" log
}

@test "the log says what the session warns of" {
	plant=$build/tests/kernel/plant-usdt
	[ -x "$plant" ] || skip "needs systemtap-sdt-dev where asterism was built"
	cp "$plant" mine
	cat >plant.events <<-END
		EVENT gated { number: i64 } FROM usdt:"$PWD/mine:plant:gated" { number = usdt_arg(0) }
	END
	printf '%s\n' "EVENTS \"$PWD/plant.events\"" 'RULE gated PATTERN { gated:g }' >rules/gated.rule
	start
	cp "$plant" next
	mv next mine
	wait_for grep -q "warning: $PWD/mine has been replaced" log
	stop
}

@test "a reload puts the probes of a unit into a file that was replaced, and leaves others alone" {
	plant=$build/tests/kernel/plant-usdt
	[ -x "$plant" ] || skip "needs systemtap-sdt-dev where asterism was built"
	cp "$plant" mine
	cat >plant.events <<-END
		EVENT gated { number: i64 } FROM usdt:"$PWD/mine:plant:gated" { number = usdt_arg(0) }
	END
	printf '%s\n' "EVENTS \"$PWD/plant.events\"" 'RULE gated PATTERN { gated:g }' >rules/gated.rule
	cp pair.rule rules
	"$asterismd" --rules rules --socket ctl.sock --comm mine --output out 2>log 3>&- 6<&- 7>&- &
	daemon=$!
	wait_for grep -q observing log
	met() { ./mine 1 >/dev/null && grep -q '"match":"gated"' out; }
	wait_for met
	cp "$plant" next
	mv next mine
	ctl reload
	[ "$(grep -c 'gated.rule: loaded' log)" = 2 ]
	[ "$(grep -c 'pair.rule: loaded' log)" = 1 ]
	: >out
	wait_for met
	ctl reload
	[ "$(grep -c 'gated.rule: loaded' log)" = 2 ]
	stop
}

@test "clients that find no descriptor left are told by log, query and metrics" {
	local port
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	start --sensors --metrics 127.0.0.1:$port
	[[ $(ctl query) == *$'\nsensors: 0 processes, 0 refused, 0 clients disconnected' ]]
	# What it has now, and few more.
	prlimit --pid "$daemon" --nofile=$(($(ls /proc/"$daemon"/fd | wc -l) + 3)):
	python3 - "$ASTERISM_SENSORS" <<-'END' 3>&- 6<&- 7>&- &
		import socket, sys, time
		held = []
		while True:
		    link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		    try:
		        link.connect(sys.argv[1])
		        held.append(link)
		    except OSError:
		        pass
		    if len(held) > 100:
		        held.pop(0).close()
		    time.sleep(0.02)
	END
	running=$!
	await 'sensors: [0-9]* clients were disconnected so far: Too many open files (LimitNOFILE: up to four descriptors for each process)' log
	kill "$running"
	wait "$running" || true
	running=
	prlimit --pid "$daemon" --nofile=1024:
	wait_for is_asked
	[[ $(ctl query) == *"clients disconnected: Too many open files" ]]
	curl -sf http://127.0.0.1:$port/metrics | grep -q '^asterism_sensor_lacking_total [1-9]'
	stop
}

is_asked() {
	ctl ping
}
