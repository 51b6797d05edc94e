#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Programs whose shares are known are sampled, simulated, and both in one go.

bats_require_minimum_version 1.5.0

load ../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	cd "$BATS_TEST_TMPDIR"
	# In units of work: main 1, once 3, thrice 12 (of which 9 are in the shared function), and 9 + 2 in that.
	cat >work.c <<-'END'
		#include <stdlib.h>
		#define PLACE __attribute__((noinline, noclone))
		static long unit;
		static PLACE void spin(long n) { for (volatile long i = 0; i < n * unit; i++) ; }
		PLACE void shared(long n) { spin(n); }
		PLACE void once(void) { for (volatile long i = 0; i < unit; i++) ; shared(2); }
		PLACE void thrice(void) { for (volatile long i = 0; i < 3 * unit; i++) ; shared(9); }
		int main(int n, char **v) { unit = n > 1 ? atol(v[1]) : 20000; once(); thrice(); return n > 2 ? atoi(v[2]) : 0; }
	END
	cc -O1 -o work work.c
	"$ASTERISM" profile record -o probe -- true 2>why || skip "nothing is sampled here: $(cat why)"
}

# Inclusive share of a function, in percent, from JSON on standard input.
share() {
	python3 -c 'import json, sys
profile = json.load(sys.stdin)
row = next(row for row in profile["functions"] if row["function"] == sys.argv[1])
print(round(100 * row[sys.argv[2]] / profile["total"]))' "$@"
}

near() {
	[ "$1" -ge $(($2 - $3)) ] && [ "$1" -le $(($2 + $3)) ] || { echo "$1 is not near $2"; false; }
}

# valgrind ends at somebody else's probe in libc, which is told; such a probe is gone soon.
simulated() {
	"$ASTERISM" profile "$@" 2>said >output || { grep -v breakpoint said >&2; false; }
}

simulated_from() {
	local file=$1
	shift
	simulated "$@" <"$file"
}

@test "self costs are what functions do, in two event types, by time and by count" {
	for how in "-F 2000" "-c 400000" "-F 2000 --jitter"; do
		"$ASTERISM" profile record $how -e task-clock -o samples -- ./work 20000000 2>said
		"$ASTERISM" profile report -f json samples >report
		near "$(share spin self <report)" 73 8
		near "$(share thrice self <report)" 20 8
		near "$(share once self <report)" 7 6
		! grep -q lost said
	done
	"$ASTERISM" profile record -e page-faults -c 1 -o samples -- ./work 2>said
	[ "$("$ASTERISM" profile report samples 2>/dev/null | grep -c page-faults)" = 1 ]
}

@test "threads, children and programs that are begun are part of it" {
	cat >family.c <<-'END'
		#include <pthread.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#define SPIN(name) __attribute__((noinline, noclone)) void name(void) { for (volatile long i = 0; i < 60000000; i++) ; }
		SPIN(in_thread) SPIN(in_child) SPIN(in_program)
		static void *thread(void *nothing) { in_thread(); return nothing; }
		int main(int n, char **v)
		{
			pthread_t made;
			if (n > 1) { in_program(); return 0; }
			pthread_create(&made, 0, thread, 0);
			if (!fork()) { in_child(); if (!fork()) execl(v[0], v[0], "x", (char *)0); wait(0); _exit(0); }
			wait(0);
			return pthread_join(made, 0);
		}
	END
	cc -O1 -pthread -o family family.c
	"$ASTERISM" profile record -F 2000 -e task-clock -o samples -- ./family 2>said
	"$ASTERISM" profile report -f json samples >report
	for function in in_thread in_child in_program; do
		near "$(share $function self <report)" 33 14 # two of them run side by side, and are slower then
	done
}

@test "a stripped program has addresses, which a simulation of it knows" {
	command -v valgrind >/dev/null || skip "valgrind is missing"
	strip -o bare work
	"$ASTERISM" profile record -F 4000 -e task-clock -o samples -- ./bare 20000000 2>said
	[ "$("$ASTERISM" profile report samples 2>/dev/null | grep -c ' 0x[0-9a-f]*  \[bare\]')" -gt 3 ]
	wait_for simulated simulate -o simulation -- ./bare
	"$ASTERISM" profile complete -o completed samples simulation 2>said
	"$ASTERISM" profile report -f json completed >report
	python3 -c 'import json
profile = json.load(open("report"))
assert profile["unattached"] < 0.02, profile["unattached"]
costs = sorted((row["self"] for row in profile["functions"]), reverse=True)
assert 0.65 < costs[0] / profile["total"] < 0.81, costs[:4]'
}

@test "run: sampled, simulated, joined and reported; -o keeps it" {
	command -v valgrind >/dev/null || skip "valgrind is missing"
	wait_for simulated run -e task-clock -f json -o completed -- ./work 8000000
	# The run is short, as it is simulated: what a host takes away meanwhile counts. By the calls alone it were 57 and 43.
	near "$(share thrice inclusive <output)" 80 15
	near "$(share once inclusive <output)" 20 15
	near "$(share main inclusive <output)" 100 15
	[[ $("$ASTERISM" profile callers shared completed 2>/dev/null) == *"from thrice"* ]]
	run -2 "$ASTERISM" profile run --by contexts -- touch touched
	[[ $output == *"--by contexts needs a simulation that has contexts"*"--contexts 30"* ]]
	[ ! -e touched ]
	mkdir -p folders
	for child in sleep callgrind; do
		TMPDIR=folders "$ASTERISM" profile run -- sleep 3 2>said >output &
		local pid=$! status=0
		wait_for pgrep -P "$pid" -f "$child"
		[ "$child" = callgrind ] || sleep 0.5
		kill "$pid"
		wait "$pid" || status=$?
		[ "$status" = 143 ]
		[ -z "$(ls folders)" ]
		grep interrupted said
	done
}

@test "simulations are judged: twice the same, forked, ended, replaced" {
	command -v valgrind >/dev/null || skip "valgrind is missing"
	wait_for simulated simulate --twice -o simulation -- ./work 200
	[[ $(cat said) == *"two simulated runs differ by 0.0"* ]]
	grep -q '^events: Ir' simulation
	wait_for simulated simulate --cache --contexts 3 -o simulation -- ./work 200
	grep -q "D1mr" simulation
	grep -q "^fn=.*'" simulation
	wait_for simulated simulate -o simulation -- sh -c 'true & wait; :'
	[[ $(cat said) == *"has forked: 1 of its processes are not in the simulation"* ]]
	run -2 "$ASTERISM" profile simulate -o simulation -- sh -c 'true & exec true'
	[[ $output == *"'sh' produced no simulation: it executed another program"* ]]
	mkdir -p folders
	for signal in TERM HUP; do
		# Under nohup the tests would hand on that SIGHUP is ignored.
		TMPDIR=folders env --default-signal="$signal" "$ASTERISM" profile simulate -o simulation -- sleep 60 2>said &
		local pid=$!
		wait_for pgrep -P "$pid" -f callgrind
		kill -s "$signal" "$pid"
		local status=0
		wait "$pid" || status=$?
		[ "$status" = $((128 + $(kill -l "$signal"))) ]
		[ -z "$(ls folders)" ]
	done
	wait_for simulated simulate -o simulation -- ./work 200 5
	[[ $(cat said) == *"the simulated run ended with status 5"* ]]
	PATH=$PWD run -2 "$ASTERISM" profile simulate -o simulation -- ./work
	[[ $output == *"valgrind is not installed"*"apt install valgrind"* ]]
}

@test "the command's status and signals are its own; what was sampled until then is kept" {
	run -5 "$ASTERISM" profile record -o samples -- ./work 200 5
	run -124 timeout -s TERM 1 "$ASTERISM" profile record -e task-clock -o samples -- ./work 20000000000
	near "$("$ASTERISM" profile report -f json samples 2>/dev/null | share once self)" 100 3
	run -124 timeout --foreground -s HUP 1 "$ASTERISM" profile record -e task-clock -o samples -- ./work 20000000001
	near "$("$ASTERISM" profile report -f json samples 2>/dev/null | share once self)" 100 3
	! pgrep -f 'work 20000000001'
	run -141 "$ASTERISM" profile record -o samples -- sh -c 'kill -PIPE $$'
}

@test "wrong uses are told" {
	run -2 "$ASTERISM" profile record -- ./work
	[[ $output == *"name the profile with -o: standard output belongs to the command"* ]]
	run -2 "$ASTERISM" profile record -o samples
	[[ $output == *"needs a command after '--'"* ]]
	run -2 "$ASTERISM" profile report samples -- ./work
	run -2 "$ASTERISM" profile record -e nothing -o samples -- ./work
	[[ $output == *"unknown event to sample: 'nothing'"* ]]
	run -2 "$ASTERISM" profile record -F 1000000 -o samples -- ./work
	run -2 "$ASTERISM" profile record -o samples -- ./absent
	run -2 "$ASTERISM" profile record --by calls -o samples -- ./work
	[[ $output == *"does not take --by"* ]]
	[ "$(id -u)" != 0 ] || run -2 "$ASTERISM" profile record -o /proc/nowhere -- ./work
}

@test "a stripped program whose symbols are in a file of their own has names" {
	objcopy --only-keep-debug work work.debug
	objcopy --strip-all --add-gnu-debuglink=work.debug work stripped
	"$ASTERISM" profile record -F 2000 -e task-clock -o samples -- ./stripped 20000000 2>said
	"$ASTERISM" profile report -f json samples >report
	near "$(share spin self <report)" 73 8
	near "$(share thrice self <report)" 20 8
	rm work.debug
	"$ASTERISM" profile record -F 2000 -e task-clock -o samples -- ./stripped 20000000 2>said
	! "$ASTERISM" profile report -f json samples | grep -q '"spin"'
}

@test "a simulation of much less work is said to be one, though its shares are the same" {
	"$ASTERISM" profile record -F 2000 -e task-clock -o samples -- ./work 20000000
	simulated simulate -o simulation -- ./work 200000
	"$ASTERISM" profile complete -o completed samples simulation 2>said
	grep -q "the sampled run did more work" said
	"$ASTERISM" profile report completed 2>said | grep -q '^workload     different in amount'
	grep -q "the sampled run did more work" said
	[ "$("$ASTERISM" profile report -f json completed 2>&1 | grep -c '"workload": *"different in amount"')" = 1 ]

	"$ASTERISM" profile record -F 2000 -e task-clock -o samples -- ./work 2000000
	simulated simulate -o simulation -- ./work 2000000
	"$ASTERISM" profile complete -o completed samples simulation 2>said
	! grep -q "did more work" said
}

@test "runs in other environments, and with other input, are told" {
	command -v valgrind >/dev/null || skip "valgrind is missing"
	# Without libraries, in which others may have probes.
	cc -O1 -static -o work work.c
	export LANG=C OMP_NUM_THREADS=2 ANOTHER=1
	unset LC_ALL PYTHONHASHSEED
	printf 'some text' >text
	printf 'more text' >more
	"$ASTERISM" profile record -e task-clock -o samples -- ./work 2000000 <text 2>said
	wait_for simulated simulate -o simulation -- ./work 200000 <text
	grep -x 'desc: variable OMP_NUM_THREADS: 2' simulation
	grep -x 'desc: input: text, 9 bytes' simulation
	! grep ANOTHER simulation
	"$ASTERISM" profile complete -o completed samples simulation 2>said
	! grep -E "differ in (the variable|input)" said

	printf 'some more text' >text
	export PYTHONHASHSEED=0 OMP_NUM_THREADS=4 ANOTHER=2 GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F
	unset LANG
	wait_for simulated simulate -o simulation -- ./work 200000 <text
	"$ASTERISM" profile complete -o completed samples simulation 2>said
	grep "the runs differ in input: 'text, 9 bytes' was sampled, 'text, 14 bytes' was simulated" said
	grep "the runs differ in the variable OMP_NUM_THREADS: sampled with '2', simulated with '4'" said
	grep "the runs differ in the variable PYTHONHASHSEED: sampled without it, simulated with '0'" said
	grep "the runs differ in the variable LANG: sampled with 'C', simulated without it" said
	! grep -E "ANOTHER|GLIBC" said
}

@test "all runs of a command read the same file from standard input" {
	command -v valgrind >/dev/null || skip "valgrind is missing"
	cat >reader.c <<-'END'
		#include <unistd.h>
		static volatile long sum;
		__attribute__((noinline)) static void spin(long n) { for (long i = 0; i < n; i++) sum += i; }
		int main(void) { char bytes[4096]; long got = read(0, bytes, 4096); if (got) spin(got * 1000); return 0; }
	END
	cc -O1 -static -o reader reader.c
	head -c 4096 /dev/zero >text
	wait_for simulated_from text run --twice -e task-clock -o completed -- ./reader
	[[ $(cat said) == *"two simulated runs differ by 0.0"* ]]
	! grep "differ in input" said
	# Without the file it calls nothing.
	[[ $("$ASTERISM" profile callers spin completed 2>/dev/null) == *"from main"* ]]
	cat text | "$ASTERISM" profile run -e task-clock -- ./reader >output 2>said || true
	grep "standard input is a pipe" said
}

@test "threads and processes have their costs, and one thread's are completed" {
	command -v valgrind >/dev/null || skip "valgrind is missing"
	cat >threads.c <<-'END'
		#define _GNU_SOURCE
		#include <pthread.h>
		#include <stdlib.h>
		#include <sys/prctl.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#define PLACE __attribute__((noinline, noclone))
		static long unit;
		PLACE void spin(long n) { for (volatile long i = 0; i < n * unit; i++) ; }
		PLACE void heavy(void) { spin(6); }
		PLACE void light(void) { spin(2); }
		static void *run(void *name) { prctl(PR_SET_NAME, name); heavy(); return 0; }
		int main(int n, char **v)
		{
			pthread_t made;
			unit = atol(v[1]);
			pthread_create(&made, 0, run, "evil\n\033[2J");
			light();
			pthread_join(made, 0);
			if (n > 2 && !fork()) { prctl(PR_SET_NAME, "child"); light(); _exit(0); }
			wait(0);
			return 0;
		}
	END
	cc -O1 -static -pthread -o threads threads.c
	"$ASTERISM" profile record -F 2000 -e task-clock -o samples -- ./threads 30000000 x 2>said
	"$ASTERISM" profile report --threads samples >shown
	! grep -q "$(printf '\033')" shown
	"$ASTERISM" profile report --threads -f json samples >report
	python3 - <<-'END' >heavy
		import json
		report = json.load(open("report"))
		threads = {row["name"]: row for row in report["threads"]}
		processes = {row["name"]: row for row in report["processes"]}
		share = lambda row: round(100 * row["self"] / report["total"])
		assert set(threads) == {"threads", "evil??[2J", "child"}, threads
		assert set(processes) == {"threads", "child"} and processes["threads"]["threads"] == 2, processes
		assert abs(share(threads["evil??[2J"]) - 60) < 8 and abs(share(threads["child"]) - 20) < 8, report
		assert abs(processes["threads"]["self"] - threads["threads"]["self"] - threads["evil??[2J"]["self"]) < 1
		assert processes["child"]["process"] == threads["child"]["thread"] != processes["threads"]["process"]
		print(threads["evil??[2J"]["thread"])
	END
	"$ASTERISM" profile report --thread "$(cat heavy)" -f json samples >one
	python3 -c 'import json
one, all = json.load(open("one")), json.load(open("report"))
assert abs(one["total"] / all["total"] - 0.6) < 0.08 and one["samples"] < 0.7 * all["samples"], (one, all)'
	# Of all samples, 2 of 5 are under light; of this thread's, none should be.
	wait_for simulated simulate -o simulation -- ./threads 20000
	"$ASTERISM" profile complete --thread "$(cat heavy)" -o completed samples simulation 2>said
	grep "be others within the thread" said
	"$ASTERISM" profile report completed 2>/dev/null | grep -E "^thread +$(cat heavy) evil"
	"$ASTERISM" profile report completed 2>/dev/null | grep "^workload     not judged"

	run -2 "$ASTERISM" profile report --thread 1 samples
	[[ "$output" == *"no thread 1 was sampled"* ]]
	printf 'f,1\n' >flat
	run -2 "$ASTERISM" profile report --threads flat
	[[ "$output" == *"does not say which thread its samples are of"* ]]
	printf '# asterism profile\nevents: a\nthread: 1 1 x\nfn=f\n1 1\nby=1 3\n' >wrong
	run -2 "$ASTERISM" profile report --threads wrong
	[[ "$output" == *"the head has no thread of this number"* ]]
}

@test "each sample is a line of CSV, with registers, which queries read" {
	"$ASTERISM" profile record -F 2000 -e task-clock --samples each.csv --registers -o samples -- ./work 20000000 2>said
	"$ASTERISM" profile report -f json samples >report
	python3 - <<-'END'
		import csv, json, platform
		rows, report = list(csv.DictReader(open("each.csv"))), json.load(open("report"))
		assert len(rows) == report["samples"] > 20, (len(rows), report["samples"])
		assert list(rows[0])[:8] == ["time", "process", "thread", "cpu", "function", "object", "address", "weight"]
		assert abs(sum(float(row["weight"]) for row in rows) - report["total"]) < 1
		own = sum(float(row["weight"]) for row in rows if row["function"] == "spin")
		assert own == next(row["self"] for row in report["functions"] if row["function"] == "spin")
		ip = {"x86_64": "ip", "aarch64": "pc"}.get(platform.machine())
		assert not ip or all(row[ip] == row["address"] for row in rows), rows[0]
	END
	cat >threads.desl <<-'END'
		input { eventtype each { File f = "each.csv"; Number thread; Number weight; } }
		heuristics { eventtype threads { Number thread = each.thread; Number cost = sum(each.weight); group by each.thread; } }
		output { threads; }
	END
	"$ASTERISM" query threads.desl -f csv >queried
	[ "$(wc -l <queried)" = 2 ]
	run -2 "$ASTERISM" profile record --registers -o samples -- ./work
	[[ $output == *"--registers needs a file for the samples"* ]]
}

@test "what cannot be sampled here is refused, with the reason" {
	"$ASTERISM" profile record -e task-clock:u -o samples -- ./work 2>said
	"$ASTERISM" profile report samples 2>/dev/null | grep -E '^cost .* task-clock:u'
	run -2 "$ASTERISM" profile record -e task-clock:k -o samples -- ./work
	[[ $output == *"time in the kernel or a hypervisor is not part of a profile"* ]]
	run -2 "$ASTERISM" profile record -e task-clock:x -o samples -- ./work
	[[ $output == *"modifiers are u"* ]]
	run -2 "$ASTERISM" profile record -e mem:0x1000:rw -o samples -- ./work
	[[ $output == *"not taken by address of data or code, or by instruction"* ]]
	# Only a processor's own records are precise.
	"$ASTERISM" profile record -e cycles:pp -o samples -- ./work 2>said && skip "this processor has them"
	grep "this machine cannot sample cycles precisely" said
}
