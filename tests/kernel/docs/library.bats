#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# libasterism as its users get it: installed, found by pkg-config, the examples built with it. Needs root.

bats_require_minimum_version 1.5.0

setup_file() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	build=$(cd "$(dirname "$ASTERISM")/../.." && pwd)
	export PREFIX=$BATS_FILE_TMPDIR/installed
	DESTDIR=$PREFIX meson install -C "$build" --no-rebuild --quiet
	pc=$(find "$PREFIX" -name asterism.pc)
	export LIBS=$(dirname "$(dirname "$pc")")
	export PKG_CONFIG_PATH=$(dirname "$pc") PKG_CONFIG_SYSROOT_DIR=$PREFIX
	export ASTERISM_CATALOGS=$(dirname "$(find "$PREFIX" -name linux.events)")
	export ASTERISM=$(find "$PREFIX" -path '*/bin/asterism') LD_LIBRARY_PATH=$LIBS
}

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	cp -r "$BATS_TEST_DIRNAME/../../../examples" "$BATS_TEST_TMPDIR/"
	cd "$BATS_TEST_TMPDIR/examples"
}

@test "each installed header stands alone, in C99, C11 and C++" {
	for header in $(cd "$PREFIX" && find . -name '*.h' -path '*/include/asterism/*' -printf 'asterism/%f\n'); do
		printf '#include <%s>\nint nothing;\n' "$header" >alone.c
		for standard in c99 c11; do
			gcc -std=$standard -pedantic -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags asterism) alone.c
		done
		command -v g++ >/dev/null || continue
		for standard in c++11 c++20; do
			g++ -x c++ -std=$standard -pedantic -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags asterism) alone.c
		done
	done
	[ -n "$header" ]
}

# asterism/sensor.h is of a library of its own.
shopt -s extglob

@test "what asterism.h says is all declared, exported, and nothing else is" {
	sed -n 's/.*\b\(asterism_[a-z_0-9]*\)(.*/\1/p' "$PREFIX"/*/*/include/asterism/!(sensor).h | grep -v '_fn$' | sort -u >declared
	nm -D --defined-only "$LIBS/libasterism.so" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort -u >exported
	nm -g --defined-only "$LIBS/libasterism.a" | awk 'NF == 3 { print $3 }' | sort -u >archived
	diff declared exported
	diff declared archived
	[ "$(wc -l <declared)" -gt 30 ]
}

@test "what the library of sensors exports is called so, and in its header" {
	nm -D --defined-only "$LIBS/libasterism-sensor.so" | awk '$2 != "A" { print $3 }' >exported
	[ -s exported ]
	run ! grep -v '^asterism_' exported
	while read -r name; do
		grep -q "\b$name\b" "$PREFIX"/*/*/include/asterism/sensor.h || { echo "$name"; false; }
	done <exported
}

@test "the soname, and what the library needs" {
	run -0 readelf -d "$LIBS/libasterism.so"
	[[ $output == *'soname: [libasterism.so.0]'* ]]
	[[ $output != *jansson* && $output != *babeltrace* ]]
	[ "$(pkg-config --modversion asterism)" = "$("$ASTERISM" --version | sed 's/[^0-9]*//')" ]
}

@test "the library has no state of its own, but the switch of the tests" {
	objdump -t "$LIBS/libasterism.so" | awk '$3 == "O" && ($4 == ".data" || $4 == ".bss") { print $NF }' | grep -v '^completed' | sort >state
	printf 'fail_armed\nfail_countdown\n__TMC_END__\n__dso_handle\n' | grep -Fvxf - state | tee more
	[ ! -s more ]
	grep -q fail_armed state
}

@test "without a debugger's tables, all that is installed takes at most 8 MiB" {
	cp -a "$PREFIX" stripped
	find stripped -type f \( -path '*/bin/*' -o -name '*.so*' \) -exec strip {} +
	kib=$(du -sk --apparent-size stripped | cut -f1)
	echo "$kib KiB"
	[ "$kib" -gt 2048 ] && [ "$kib" -le 8192 ]
}

@test "the manual page has every function, and no mistake in its form" {
	for function in $(sed -n 's/.*\b\(asterism_[a-z_0-9]*\)(.*/\1/p' "$PREFIX"/*/*/include/asterism/!(sensor).h | grep -v '_fn$' | sort -u); do
		grep -q "\b$function(" "$BATS_TEST_DIRNAME/../../../man/asterism.3" || { echo "$function"; false; }
	done
	[ -f "$PREFIX"/*/*/share/man/man3/asterism.3 ]
	if command -v groff; then
		run -0 groff -man -ww -z "$BATS_TEST_DIRNAME/../../../man/asterism.3"
		[ "$output" = "" ] || { echo "$output"; false; }
	fi
}

@test "a C++ program" {
	command -v g++ >/dev/null || skip "g++ is not installed"
	make -s pool.rule.h
	cat >program.cc <<-'END'
		#include "pool.rule.h"
		#include <asterism/asterism.h>
		#include <cstdio>

		static int on_match(void *, const asterism_match *match)
		{
			job_waits_values values;

			return job_waits_values_get(match, &values) ? ASTERISM_ABORT : ASTERISM_CONTINUE;
		}

		int main()
		{
			asterism_session_options options = asterism_session_options();
			asterism_session *session;

			options.size = sizeof options;
			options.on_match = on_match;
			if (asterism_session_open(&options, nullptr, &session))
				return 1;
			std::printf("%s\n", asterism_version());
			asterism_session_free(session);
		}
	END
	g++ -std=c++11 -pedantic -Wall -Wextra -Werror $(pkg-config --cflags asterism) -o program program.cc $(pkg-config --libs asterism)
	run -0 ./program
	[ "$output" = "$(pkg-config --modversion asterism)" ]
}

@test "docs: the complete program of library.md is one" {
	sed -n '/^```c$/,/^```$/p' "$BATS_TEST_DIRNAME/../../../docs/library.md" | sed '/^```c$/d; /^```$/,$d' >missing.c
	gcc -Wall -Wextra -Werror $(pkg-config --cflags asterism) -o missing missing.c $(pkg-config --libs asterism)
	mkdir work
	printf 'all:\n\t@cat /nowhere/at/all || true\n' >work/Makefile
	cd work
	run -0 ../missing
	[[ $output == *'cat: /nowhere/at/all: No such file or directory'* ]]
	# Nor does it need catalogs beside it.
	run -0 env -u ASTERISM_CATALOGS ../missing
	[[ $output == *'cat: /nowhere/at/all: No such file or directory'* ]]
}

@test "docs: the program of library.md that reads counters is one" {
	sed -n '/^## Counters$/,/^## /p' "$BATS_TEST_DIRNAME/../../../docs/library.md" | sed -n '/^```c$/,/^```$/p' | sed '/^```/d' >faults.c
	gcc -Wall -Wextra -Werror $(pkg-config --cflags asterism) -o faults faults.c $(pkg-config --libs asterism)
	run -0 env -u ASTERISM_CATALOGS -u ASTERISM_COUNTERS ./faults
	[[ ${lines[0]} =~ ^PROCESS_THREAD_PAGE_FAULTS:\ ([0-9]+)\ count,\ [0-9]+/s ]]
	[ "${BASH_REMATCH[1]}" -ge 400 ] # fewer than pages where memory comes in huge ones
	[ "${BASH_REMATCH[1]}" -lt 3500 ]
	[[ ${lines[1]} == "PROCESS_THREAD_CONTEXT_SWITCHES: "*" count, "*/s* ]]
}

@test "docs: the complete program of library.md reports each file that could not be opened once, and no other" {
	sed -n '/^```c$/,/^```$/p' "$BATS_TEST_DIRNAME/../../../docs/library.md" | sed '/^```c$/d; /^```$/,$d' >missing.c
	gcc -Wall -Wextra -Werror $(pkg-config --cflags asterism) -o missing missing.c $(pkg-config --libs asterism)
	mkdir work
	echo here >work/here
	printf 'all:\n\t@unset LD_LIBRARY_PATH; LC_ALL=C cat $(foreach i,1 2 3 4 5 6 7 8 9 10,here /nowhere/$i /nowhere/$i here /nowhere/$i) >/dev/null || true\n' >work/Makefile
	cd work
	run -0 --separate-stderr ../missing
	[ "$(grep -c '^cat: ' <<<"$stderr")" = 30 ] # as cat says
	[ "$(grep -c '^cat: /nowhere/[0-9]*: No such file or directory$' <<<"$output")" = 30 ]
	[ "$(grep -c '^cat: ' <<<"$output")" = 30 ]
}

@test "examples: a pool grows when its own jobs wait" {
	make -s pool
	run -0 ./pool 80 20
	[[ $output =~ ^80\ jobs\ done\ by\ ([0-9]+)\ threads$ ]]
	[ "${BASH_REMATCH[1]}" -ge 3 ]
	run -0 ./pool --fixed 10 5
	[ "$output" = "10 jobs done by 1 thread" ]
}

@test "a session of another program has rules over sensors" {
	: "${ASTERISM_TEST_PROGRAMS:=$BATS_TEST_DIRNAME/../../../build/tests/kernel}"
	export ASTERISM_SENSORS=$BATS_TEST_TMPDIR/socket
	make -s supervise
	echo 'EVENT request_begin "a request arrives" { id: u64 "number", bytes: u32 bytes, path: string[16] }' >shop.events
	echo 'EVENTS "sensor:shop.events" RULE third PATTERN { request_begin:b } WHERE { b.id == 3 } RETURN { b.path AS path }' >sensor.rule
	run -100 timeout 60 ./supervise sensor.rule "$ASTERISM_TEST_PROGRAMS/plant-sensors" requests 1 60000 0
	[[ $output == *'supervise: {"match":"third",'*'"cpu":null,'*'"path":"/index"'* ]]
	run -0 timeout 60 ./supervise sensor.rule "$ASTERISM_TEST_PROGRAMS/plant-sensors" requests 1 3 0
	[ "$output" = "" ]
}

@test "examples: rules within a promise find slow requests" {
	plant=$BATS_TEST_DIRNAME/../../../build/tests/kernel/plant-sensors
	[ -z "${ASTERISM_TEST_PROGRAMS:-}" ] || plant=$ASTERISM_TEST_PROGRAMS/plant-sensors
	make -s monitor-rules
	export ASTERISM_SENSORS=$BATS_TEST_TMPDIR/socket
	run -0 --separate-stderr timeout 60 ./monitor-rules "sensor:$plant" "$plant" requests 2 20 5
	[[ $output == *"request 4 took "*" ms"* ]]
	[[ $output == *"80 elements, 0 lost"* ]]
	[[ $stderr == *"every request is judged within "* ]]
	run -1 timeout 60 ./monitor-rules sensor:none.events "$plant" requests 1 3 0
}

@test "examples: functions of a program get every element of sensors" {
	: "${ASTERISM_TEST_PROGRAMS:=$BATS_TEST_DIRNAME/../../../build/tests/kernel}"
	export ASTERISM_SENSORS=$BATS_TEST_TMPDIR/socket
	plant=$ASTERISM_TEST_PROGRAMS/plant-sensors
	make -s monitor
	run -0 --separate-stderr timeout 60 ./monitor "sensor:$plant" "$plant" requests 2 300 0
	[[ ${lines[0]} == "600 requests, "*" ms at most" ]]
	[ "${lines[1]}" = "1200 elements, 0 lost" ]
	[[ $stderr == *"no guarantee: no sensor has a declared rate"* ]]
	echo 'EVENT request_begin { id: u64 }' >half.events
	run -1 timeout 60 ./monitor sensor:half.events "$plant" requests 1 3 0
	[[ $output == *"the monitor does not read a sensor request_end"* ]]
	run -1 timeout 60 ./monitor sensor:none.events "$plant" requests 1 3 0
	[[ $output == *"none.events"* ]]
}

@test "examples: a supervised command ends where it does what it must not" {
	make -s supervise
	run -100 timeout 60 ./supervise supervise.rule sh -c 'cat /etc/shadow >/dev/null; exec sleep 20'
	[[ $output == *'supervise: cat (process '*') opened /etc/shadow'* ]]
	run -3 ./supervise supervise.rule sh -c 'cat /etc/passwd >/dev/null; exit 3'
	[ "$output" = "" ]
	printf 'RULE other PATTERN { [sys_enter_openat:o] } WHERE { o.filename LIKE "/etc/shadow*" }\n' >other.rule
	run -100 ./supervise other.rule sh -c 'cat /etc/shadow >/dev/null; exec sleep 20'
	[[ $output == *'supervise: {"match":"other",'* ]]
	run -101 ./supervise supervise.rule /nowhere/at/all
	[[ $output == *'command not found'* ]]
}

@test "examples: traces are read from C and from Python" {
	make -s trace-top
	run -0 "$ASTERISM" record -q -e sys_enter,sys_exit -o t -- sh -c 'cat /dev/null; cat /nowhere/at/all; true'
	"$ASTERISM" dump -f json -e sys_exit t >exits
	run -0 --separate-stderr ./trace-top t
	[ "$stderr" = "" ]
	[ "$(awk '$2 == "calls" { sum += $1 } END { print sum }' <<<"$output")" = "$(wc -l <exits)" ]
	[ "$(awk '$2 == "calls" { sum += $3 } END { print sum }' <<<"$output")" = "$(grep -c '"ret":-' exits)" ]
	[[ $output == *" failed  cat"* && ${lines[-1]} == *" events read, 0 lost" ]]
	run -1 ./trace-top nowhere
	[ "$output" = "no such file" ]

	command -v python3 >/dev/null || skip "python3 is not installed"
	export ASTERISM_LIBRARY=$LIBS/libasterism.so.0
	run -0 python3 trace_latency.py t
	[[ $output == *"openat "*" calls "*" median "* ]]
	run -1 python3 trace_latency.py nowhere
	[[ $output == *"no such file"*"nowhere"* ]]
	"$ASTERISM" dump -f json t >all
	python3 -c 'import asterism_trace, sys
for event in asterism_trace.Trace(["t"]): print(event.json())' >read
	cmp all read
}

@test "examples: the archive does for a program without the shared library" {
	make -s supervise.rule.h
	gcc $(pkg-config --cflags asterism) -o static supervise.c "$LIBS/libasterism.a" -lbpf -lelf -ldw -lz -ljansson -lm -pthread
	run -0 ldd ./static
	[[ $output != *libasterism* ]]
	run -3 env -u LD_LIBRARY_PATH ./static supervise.rule sh -c 'exit 3'
}
