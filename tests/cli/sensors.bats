#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Sensors as people use them: the examples, built with the one header that is installed, and what asterism tells of them.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	build=$(cd "$(dirname "$ASTERISM")/../.." && pwd)
	examples=$BATS_TEST_DIRNAME/../../examples
	library=$build/src/sensor/client
	[ -e "$build/include/asterism/sensor.h" ] || skip "the header of sensors is not built"
	cd "$BATS_TEST_TMPDIR"
	mkdir -p include/asterism
	cp "$build/include/asterism/sensor.h" include/asterism/
	export ASTERISM_SENSORS=$PWD/sensors LD_LIBRARY_PATH=$library
	started=()
	ccache=$(command -v ccache) || true # compiles what has not changed only once
	sanitised=()
	! nm -D "$library/libasterism-sensor.so.0" | grep -q __asan || sanitised=(-fsanitize=address,undefined)
}

teardown() {
	for pid in "${started[@]}"; do
		kill "$pid" 2>/dev/null && wait "$pid" || true
	done
}

# `build PROGRAM SOURCE [OPTION...]`: against the library.
build() {
	$ccache gcc -Wall -Werror -O2 -Iinclude -pthread "${sanitised[@]}" "${@:3}" -c -o "$1.o" "$2"
	gcc -pthread "${sanitised[@]}" -o "$1" "$1.o" -L"$library" -lasterism-sensor
}

serve() {
	"$ASTERISM" sensors --serve "$@" 2>serve.log &
	started=($! "${started[@]}")
	for ((i = 0; i < 100; i++)); do
		[ -S sensors ] && return
		sleep 0.05
	done
	false
}

# `await PATTERN COMMAND...`: until what the command says has it.
await() {
	local pattern=$1
	shift
	for ((i = 0; i < 100; i++)); do
		output=$("$@" 2>&1) || true
		grep -q -- "$pattern" <<<"$output" && return
		sleep 0.05
	done
	echo "$output"
	false
}

@test "the installed header suits C11 and C++11, alone and with its implementation" {
	printf '%s\n' '#include "asterism/sensor.h"' '#define FIELDS(F) F(u64, id, "", "a \"number\"") F(text16, word, "", "")' \
		'ASTERISM_SENSOR(something, "happens", FIELDS)' 'ASTERISM_SENSOR_BARE(nothing, "")' \
		'int main(void)' '{' 'ASTERISM_SENSE(something, 1, "x");' 'ASTERISM_SENSE(nothing);' \
		'ASTERISM_SENSE_ORDERED(something, 2, "y");' 'return 0;' '}' >plain.c
	sed '1i #define ASTERISM_SENSOR_IMPLEMENTATION' plain.c >whole.c
	for file in plain whole; do
		$ccache gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -O2 -Iinclude -c "$file.c" -o "$file.o"
		command -v g++ >/dev/null || continue
		$ccache g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -O2 -Iinclude -x c++ -c "$file.c" -o "$file++.o"
	done
	gcc -pthread whole.o -o whole
	./whole
	# Where other headers come first, as in most programs.
	sed '1i #include <stdio.h>' whole.c >second.c
	gcc -Wall -Wextra -Wpedantic -Werror -Iinclude -pthread second.c -o second
	./second
	run ! gcc -std=c11 -Iinclude -pthread second.c -o second
	[[ $output == *"#error"*"before other headers"* ]]
	run ! grep -E '(^|[^a-zA-Z_])(ring|sensor)_[a-z]+ *\(' include/asterism/sensor.h
}

@test "the installed header suits arm64, and a program with it runs there as if no reader looked" {
	local compiler=$(command -v aarch64-linux-gnu-gcc) emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static)
	[ -n "$compiler" ] || skip "aarch64-linux-gnu-gcc is not installed (gcc-aarch64-linux-gnu, libc6-dev-arm64-cross)"
	"$compiler" -std=gnu11 -Wall -Wextra -Werror -O2 -Iinclude -pthread -DASTERISM_SENSOR_IMPLEMENTATION -static -o odd-arm64 "$BATS_TEST_DIRNAME/sensors/odd.c" 2>warnings ||
		grep -q dlopen warnings || { cat warnings; false; }
	"$compiler" -std=c11 -Wall -Wextra -Wpedantic -Werror -O2 -Iinclude -pthread -DASTERISM_SENSOR_IMPLEMENTATION -c -o plugin-arm64.o "$BATS_TEST_DIRNAME/sensors/plugin.c"
	[ -n "$emulator" ] && [ -e odd-arm64 ] || skip "compiled, not run: qemu-aarch64 is not installed (qemu-user)"
	run -0 timeout 60 "$emulator" ./odd-arm64 count 100
	run -0 timeout 60 "$emulator" ./odd-arm64 threads
	run -0 timeout 60 "$emulator" ./odd-arm64 longjmp # no forks: the emulator aborts where a child of several threads begins one
}

@test "a server's sensors are known before it runs, and while it does" {
	build server "$examples/sensor-server.c" -Wextra
	run -0 "$ASTERISM" events -v sensor:./server
	[[ $output == *"request_begin "*"a line has come"* && $output == *"bytes        "*"u32"*"bytes, of the line"* ]]
	printf '%s\n' "EVENTS \"sensor:$PWD/server\"" 'RULE slow' 'PATTERN { [request_begin:b, request_end:e] }' \
		'WHERE { [id], e.ts - b.ts > 10ms }' >slow.rule
	run -0 "$ASTERISM" check slow.rule
	sed -i s/request_end/request_ends/ slow.rule
	run -2 "$ASTERISM" check slow.rule
	[[ $output == *"request_end"* ]]
	serve
	./server 18642 &
	started+=($!)
	await connection_open "$ASTERISM" sensors
	grep -q "$PWD/server\[$!\], user $UID: 0 events, 0/s" <<<"$output"
	grep -q '    request_end(id: u64, word: string\[16\], fine: bool) - it is answered' <<<"$output"
	run -0 "$ASTERISM" sensors -f json server:request_end
	[[ $output == *'"sensor":"request_end"'*'"readers":0'* ]]
	run -0 "$ASTERISM" events sensor:server:request_end
	[[ $output == "request_end "*"it is answered" ]]
	run -0 --separate-stderr "$ASTERISM" sensors nosuch
	[[ -z $output && $stderr == *"no application has such a sensor"* ]]
}

@test "a C++ program, with the header alone" {
	command -v g++ >/dev/null || skip "g++ is not installed"
	$ccache g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -O2 -Iinclude -pthread -c -o jobs.o "$examples/sensor-jobs.cpp"
	g++ -pthread -o jobs jobs.o
	serve
	./jobs 100 &
	wait $!
	await job_taken "$ASTERISM" sensors
	[[ $output == *"(ended)"*"waited: time duration"* ]]
}

@test "a Python program" {
	command -v python3 >/dev/null || skip "python3 is not installed"
	[ ${#sanitised[@]} = 0 ] || skip "python3 does not load what is sanitised"
	ASTERISM_SENSOR_LIBRARY=$library/libasterism-sensor.so.0 python3 "$examples/asterism_sensor.py" 20 &
	started+=($!)
	serve
	await 'order(number: u32, price: f64, item: string\[32\]) - somebody orders' "$ASTERISM" sensors
}

@test "a Python program hears what is wrong with its events, whether anybody looks or not" {
	command -v python3 >/dev/null || skip "python3 is not installed"
	[ ${#sanitised[@]} = 0 ] || skip "python3 does not load what is sanitised"
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$examples ASTERISM_SENSOR_LIBRARY=$library/libasterism-sensor.so.0 run -0 python3 - <<-'END'
		from asterism_sensor import Sensor

		def refused(error, call, **values):
		    try:
		        call(**values)
		    except error as told:
		        print(told)
		    else:
		        print("nothing is said of", values)

		order = Sensor("order", number="u32", price="f64", item="text8")
		order(number=1, price=2, item="a text that is too long")
		refused(TypeError, order, number=1, price=2)
		refused(TypeError, order, number=1, price=2, item="tea", sugar=1)
		refused(TypeError, order, number="1", price=2, item="tea")
		refused(OverflowError, order, number=-1, price=2, item="tea")
		refused(OverflowError, order, number=1 << 32, price=2, item="tea")
		refused(TypeError, order, number=1, price=2, item=3)
		refused(ValueError, Sensor, name="other", number="u33")
		order.close()
		order.close()
		refused(ValueError, order, number=1, price=2, item="tea")
	END
	[ "${lines[0]}" = "sensor order has the fields number, price, item: item unknown or missing" ]
	[ "${lines[1]}" = "sensor order has the fields number, price, item: sugar unknown or missing" ]
	[[ ${lines[2]} == "sensor order: number: "* ]]
	[ "${lines[3]}" = "sensor order: number: -1 does not fit into u32" ]
	[ "${lines[4]}" = "sensor order: number: 4294967296 does not fit into u32" ]
	[ "${lines[5]}" = "sensor order: item: a text is needed, not 3" ]
	[[ ${lines[6]} == "sensor other: number is of no type 'u33'; there are u8, "* ]]
	[ "${lines[7]}" = "sensor order is closed" ]
	[ "${#lines[@]}" = 8 ]
}

@test "types that are registered while rules run: they are read, go, and come again" {
	build plugins "$examples/sensor-plugins.c" -Wextra
	cp "$examples/sensor-plugins.events" .
	cat >plugins.rule <<-'EOF'
		EVENTS "sensor:sensor-plugins.events"
		RULE answered PATTERN { answer:a } WHERE { a.question == 2 } RETURN { a.text AS text, a.seconds AS seconds }
		RULE came PATTERN { [sensor_registration:r, sensor_registration:g] } WHERE { [sensor], g.is_end == TRUE, r.is_end == FALSE } RETURN { g.sensor AS sensor }
	EOF
	run -0 --separate-stderr "$ASTERISM" run -f json plugins.rule -- ./plugins 3
	[ "$(grep -c '"match":"answered".*"text":"answer 2 of 3"' <<<"$output")" = 1 ]
	[ "$(grep -c '"match":"came".*"sensor":"answer"' <<<"$output")" = 3 ]
	[[ ${lines[-1]} == '{"stats":{"events":12,'*'"lost":0,'* ]]
	serve
	exec {hold}<> <(:)
	./plugins 1 stay <&$hold &
	started+=($!)
	await '    answer(question: u32, seconds: f64, text: string\[32\]) - somebody knows it' "$ASTERISM" sensors plugins:*
	kill -USR1 $!
	await '^other(' bash -c '"$ASTERISM" sensors | sed "s/^ *//"'
	run -0 "$ASTERISM" sensors
	[[ $output != *"answer("* ]]
	run -2 "$ASTERISM" events sensor:answer
}

@test "flight recorder: what was raised before anybody looked, by a process that has ended in the midst of an event" {
	build odd "$BATS_TEST_DIRNAME/sensors/odd.c"
	serve
	./odd count 5
	run -0 --separate-stderr "$ASTERISM" sensors --dump
	[[ -z $output && $stderr == *"0 events shown, 0 were overwritten before"* ]]
	kill "${started[0]}"
	wait "${started[0]}"
	serve --always
	./odd exec
	./odd count 100000
	run -0 --separate-stderr "$ASTERISM" sensors --dump -f json odd:step
	[[ ${lines[0]} == '{"event":"step",'*'"comm":"odd","number":0,"word":"odd"}' ]]
	[[ ${lines[-1]} == *'"number":99999,"word":"odd"}' ]]
	[[ $stderr == *"1 event was begun and never finished"* ]]
	local overwritten=$(sed -n 's/.*shown, \([0-9]*\) were overwritten.*/\1/p' <<<"$stderr")
	[ $((overwritten + ${#lines[@]})) = 100010 ]
	run -0 --separate-stderr "$ASTERISM" sensors --dump odd:other
	[ -z "$output" ]
	run -2 "$ASTERISM" sensors --always
	run -2 "$ASTERISM" sensors --dump --serve
}

@test "flight recorder without a directory: the one that comes later reads what was raised before" {
	build odd "$BATS_TEST_DIRNAME/sensors/odd.c"
	exec {hold}<> <(:)
	ASTERISM_SENSORS=always:$PWD/sensors ./odd stay 1000 <&$hold >stay.log &
	started+=($!)
	local recorder=$!
	./odd stay 50 <&$hold >off.log &
	local idler=$!
	started+=($idler)
	await raised cat stay.log
	await raised cat off.log
	[ "$(ls -l /proc/$recorder/fd | grep -c memfd:asterism-sensors)" = 1 ]
	[ "$(ls -l /proc/$idler/fd | grep -c memfd:asterism-sensors)" = 0 ]
	ASTERISM_SENSORS=always:$PWD/sensors serve
	await "odd.$recorder" "$ASTERISM" sensors
	run -0 --separate-stderr "$ASTERISM" sensors --dump -f json odd:step
	[ "${#lines[@]}" = 1000 ]
	[[ ${lines[0]} == *'"number":0,"word":"odd"}' && ${lines[-1]} == *'"number":999,"word":"odd"}' ]]
	[[ $stderr == *"1000 events shown, 0 were overwritten before"* ]]
	# The directory keeps its gates open, and leaves it as it was.
	kill "${started[0]}"
	wait "${started[0]}"
	kill -USR1 $recorder
	await 2 grep -c raised stay.log
	serve
	await "odd.$recorder" "$ASTERISM" sensors
	for _ in {1..50}; do
		run -0 --separate-stderr "$ASTERISM" sensors --dump -f json odd:step
		[ "${#lines[@]}" != 2000 ] || break
		sleep 0.1
	done
	[ "${#lines[@]}" = 2000 ] || { echo "${#lines[@]} events: $stderr"; false; }
}

@test "flight recorder without a directory: nothing fails where there is no memory or calls are refused" {
	build odd "$BATS_TEST_DIRNAME/sensors/odd.c"
	export ASTERISM_SENSORS=always:$PWD/sensors
	for how in count vfork spawn daemon storm; do
		./odd "$how"
	done
	for call in 0 1 2 3 4 5 6 7; do
		./odd refused $call
	done
	[ ${#sanitised[@]} -gt 0 ] || (ulimit -v 8000; ./odd count 10)
	ASTERISM_SENSORS=always ./odd count 10
	run -2 "$ASTERISM" sensors
	[[ $output == *"is running at $PWD/sensors"* ]]
}

@test "a directory that has no descriptors left says so at its end" {
	(ulimit -n 40; exec "$ASTERISM" sensors --serve) 2>serve.log &
	local directory=$!
	started+=($directory)
	await sensors ls
	[ "$(stat -c %a sensors)" = "$([ "$UID" = 0 ] && echo 666 || echo 600)" ]
	for ((i = 0; i < 25; i++)); do
		"$build/tests/unit/sensor/sensor-app" go-on >/dev/null &
		started+=($!)
	done
	await '^\(3[7-9]\|40\)$' bash -c 'ls "/proc/$0/fd" | wc -l' $directory
	for ((i = 0; i < 4; i++)); do
		"$ASTERISM" sensors >/dev/null 2>&1 || true
	done
	kill -INT $directory
	wait $directory
	grep -q "clients were disconnected: Too many open files" serve.log
	grep -q " 0 clients sent invalid messages" serve.log
	grep -q "raise 'ulimit -n'" serve.log
}

@test "what cannot be is said, with what to do" {
	run -2 "$ASTERISM" sensors
	[[ $output == *"no sensor registry is running at $PWD/sensors"*"asterism sensors --serve"* ]]
	run -2 "$ASTERISM" events sensor:/bin/true
	[[ $output == *"/bin/true declares no sensors"* ]]
	echo x >file
	run -2 "$ASTERISM" events sensor:./file
	[[ $output == *"is not an ELF file"* ]]
	serve
	run -2 "$ASTERISM" sensors --serve
	[[ $output == *"is already running at $PWD/sensors"* ]]
	run -2 "$ASTERISM" events sensor:nosuch
	[[ $output == *"no running application has the sensor nosuch"* ]]
	run -0 --separate-stderr "$ASTERISM" sensors
	[[ $stderr == *"no application with sensors is running"* ]]
}
