#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Queries: what is shipped against `asterism profile`, large files, files from elsewhere, damaged ones.

bats_require_minimum_version 1.5.0

load ../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	make_trace=$(dirname "$ASTERISM")/../../tests/trace/make-trace
	cd "$BATS_TEST_TMPDIR"
}

# A program without circles: functions call those of higher numbers, some of which were not sampled.
generate() {
	python3 - "$1" <<-'END'
		import random, sys
		random.seed(int(sys.argv[1]))
		count = 60
		edges = {f: {random.randrange(f + 1, count): random.randint(1, 9) for _ in range(random.randint(1, 4))}
		         for f in range(count - 1)}
		costs = [random.randint(1, 1000) for _ in range(count)]
		inclusive, called = costs[:], [0] * count
		for calls in edges.values():
		    for g, times in calls.items():
		        called[g] += times
		share = {}
		for f in reversed(range(count - 1)):
		    for g, times in edges[f].items():
		        share[f, g] = inclusive[g] * times // called[g]
		        inclusive[f] += share[f, g]
		with open("simulation", "w") as out:
		    out.write("# callgrind format\nevents: Ir\n")
		    for f in range(count):
		        out.write(f"\nfn=f{f}\n1 {costs[f]}\n")
		        for g, times in edges.get(f, {}).items():
		            out.write(f"cfn=f{g}\ncalls={times} 1\n1 {share[f, g]}\n")
		with open("samples", "w") as out:
		    out.write("fct,cost\n")
		    for f in range(count):
		        if random.random() < 0.9:
		            out.write(f"f{f},{random.randint(1, 500)}\n")
	END
}

compare() {
	tail -n +2 samples >flat
	"$ASTERISM" profile complete --by "$1" flat simulation -o completed 2>/dev/null
	cat >native.desl <<-'END'
		input { eventtype native { File f = "completed"; Line fct; Number incl; } }
		output { native; }
	END
	"$ASTERISM" query --strict -f json native.desl >native
	"$ASTERISM" query --strict -f json "${@:2}" functions=simulation sampling=samples >derived
	python3 - <<-'END'
		import json
		native = {row["fct"]: row["incl"] for row in map(json.loads, open("native"))}
		derived = {row["fct"]: row["incl"] for row in map(json.loads, open("derived"))}
		assert native.keys() == derived.keys(), native.keys() ^ derived.keys()
		worst = max(abs(derived[name] - value) / max(value, 1) for name, value in native.items())
		print("worst", worst, "of", len(native))
		assert len(native) > 50 and worst < 1e-12
	END
}

@test "the shipped heuristics come to what 'asterism profile complete' does" {
	for seed in 1 2 3; do
		generate $seed
		compare quotient @quotient simulation=simulation
		compare calls @calls calls=simulation
	done
}

@test "records that depend on each other in a cycle are an error that names them" {
	printf '# callgrind format\nevents: Ir\nfn=a\n1 5\ncfn=b\ncalls=1 1\n1 9\nfn=b\n1 3\ncfn=c\ncalls=1 1\n1 5\nfn=c\n1 3\ncfn=b\ncalls=1 1\n1 2\n' >simulation
	printf 'fct,cost\na,1\n' >samples
	run -2 "$ASTERISM" query @quotient simulation=simulation functions=simulation sampling=samples
	[[ $output == *"in a cycle: "*"b <- c <- b"* || $output == *"in a cycle: "*"c <- b <- c"* ]]
}

@test "events and matches as JSON lines" {
	printf '{"event":"A","ts":1,"x":2}\n{"event":"B","ts":2,"x":9}\n{"event":"A","ts":3,"x":5}\n' >events.jsonl
	printf '{"match":"slow","ts":1,"return":{"a.nr":3,"took":7}}\n{"stats":{}}\n' >matches.jsonl
	cat >q.desl <<-'END'
		input { eventtype A { File f = "events.jsonl"; Number x; } eventtype slow { File f = "matches.jsonl"; Number a_nr; Number took; } }
		heuristics { eventtype s { Number x = sum(A.x); Number n = num(A.x); } eventtype m { Number t = slow.took - slow.a_nr; } }
		output { s; m; }
	END
	run -0 --separate-stderr "$ASTERISM" query -f json q.desl
	[ "${lines[0]}" = '{"eventtype":"s","x":7,"n":2}' ]
	[ "${lines[1]}" = '{"eventtype":"m","t":4}' ]
}

@test "the program in SQL comes to the same in SQLite" {
	local ratio=$BATS_TEST_DIRNAME/../golden/query/ratio
	cp "$ratio"/* .
	"$ASTERISM" query -f csv good.desl >expected
	"$ASTERISM" query -f sql good.desl >program.sql
	run -0 python3 - <<-'END'
		import csv, re, sqlite3
		statements = open("program.sql").read().split(";\n")
		files = {"l3_load_misses": "L3_LOAD.out", "l3_store_misses": "L3_STORE.out", "l3_data_references": "L3_REF.out"}
		database = sqlite3.connect(":memory:")
		for statement in statements[:3]:
		    database.execute(statement)
		for table, file in files.items():
		    for line in open(file).read().split()[1:]:
		        database.execute(f"INSERT INTO {table} VALUES (?)", (int(line, 0),))
		database.execute(statements[3])
		got = sorted(database.execute(statements[4]).fetchall())
		expected = sorted((int(a, 0), float(r)) for a, r in list(csv.reader(open("expected")))[1:])
		assert got == expected and len(got) == 2, got
	END
}

# Whatever is done to programs and files, there is an answer within memory: a status of 0 or 2.
@test "system calls are those of the functions that make them" {
	cat >program.c <<-'END'
		#include <fcntl.h>
		#include <unistd.h>
		__attribute__((noinline)) void often(int fd) { for (int i = 0; i < 3000; i++) if (write(fd, "x", 1) != 1) _exit(1); }
		__attribute__((noinline)) void seldom(int fd) { for (int i = 0; i < 500; i++) if (lseek(fd, 0, SEEK_SET)) _exit(1); }
		int main(void)
		{
			int fd = open("out", O_CREAT | O_RDWR, 0600);
			often(fd);
			seldom(fd);
			return 0;
		}
	END
	gcc -g -O1 -o program program.c
	# Probes of other sessions in libc end a simulated program.
	wait_for valgrind --tool=callgrind --collect-systime=yes --callgrind-out-file=callgrind.out ./program
	run --separate-stderr -0 "$ASTERISM" query @syscall-share functions=callgrind.out calls=callgrind.out -f json
	count() { jq -r "select(.fct == \"$1\") | .count" <<<"$output"; }
	[ "$(count often)" = 3000 ]
	[ "$(count seldom)" = 500 ]
	[ "$(count main)" = 3501 ]
	[ "$(jq -r 'select(.advice != []) | .fct' <<<"$output")" = write ]
}

@test "damaged programs and files are refused, within 512 MiB" {
	local golden=$BATS_TEST_DIRNAME/../golden/query
	for program in "$golden"/*/*.desl; do
		cp "$program" "$(basename "$(dirname "$program")")-$(basename "$program")"
	done
	cp "$golden"/{worked,printed,inputs}/*.csv "$golden"/{misses,ratio,calls}/*.out .
	cat >damage.py <<-'END'
		import glob, random, resource, subprocess, sys
		random.seed(7)
		if b"__asan_init" not in open(sys.argv[1], "rb").read():  # which reserves addresses by the terabyte
		    resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))
		programs, files = sorted(glob.glob("*.desl")), sorted(glob.glob("*.csv") + glob.glob("*.out"))
		words = [b"(", b")", b"{", b"}", b";", b"eq(", b"sum(", b"@", b",", b".", b"=", b"none", b"1e999", b"\"", b"\0", b"\xff",
		         b"selfreference r", b"group by", b"-1", b"99999999999999999999", b"run(x)=top_down", b"\xc2\xb7"]
		def damage(data):
		    data = bytearray(data)
		    for _ in range(random.randint(1, 4)):
		        at = random.randrange(len(data) + 1)
		        kind = random.randrange(3)
		        if kind == 0:
		            data[at:at + random.randint(1, 20)] = b""
		        elif kind == 1:
		            data[at:at] = random.choice(words)
		        elif data:
		            data[at:at] = data[random.randrange(len(data)):][:30]
		    return bytes(data)
		for i in range(int(sys.argv[2])):
		    name = random.choice(programs if i % 2 else files)
		    whole = open(name, "rb").read()
		    open(name, "wb").write(damage(whole))
		    program = name if i % 2 else random.choice(programs)
		    done = subprocess.run([sys.argv[1], "query", program], capture_output=True, timeout=20)
		    if done.returncode not in (0, 2) or (done.returncode == 2 and not done.stderr):
		        sys.exit(f"{open(name, 'rb').read()}\n{name} with {program}: {done.returncode} {done.stderr[-300:]}")
		    open(name, "wb").write(whole)
	END
	run -0 python3 damage.py "$ASTERISM" 400
}

# The commands of a section, and that the page shows what comes out.
session() {
	local top=$BATS_TEST_DIRNAME/../..
	"$top/tests/docs/session.py" commands "$top/docs/query.md" "$1" >commands
	PATH=$(cd "$(dirname "$ASTERISM")" && pwd):$PATH NO_COLOR=1 bash -e commands >output 2>&1 || { cat output; false; }
	"$top/tests/docs/session.py" compare "$top/docs/query.md" "$1" output
}

@test "the program that docs/query.md begins with" {
	session "Queries: derived event types"
	diff output - <<-'END'
		miss_ratio (2 records)
		  addr      ratio
		  0x401136   0.75
		  0x401150    0.5
		advice: 0x401136 misses 0.75 of its loads
	END
}

@test "what docs/query.md shows of costs along a call graph" {
	session "Costs along a call graph"
	grep -Eq '^  main +parse +55$' output
}

@test "what docs/query.md shows of records as events" {
	session "Records as events"
	# And exactly these matches.
	"$ASTERISM" replay -f json misses.rule misses.jsonl | grep -o '"match":"[a-z]*","ts":[0-9]*' |
		diff - <(printf '"match":"%s","ts":%s\n' high 1000000 high 4000000 again 4000000 high 5000000)
	# Where there is nothing, nothing fires.
	sed -n 1p misses.csv >none.csv
	"$ASTERISM" query misses.desl sample=none.csv -f events >none.jsonl
	[ ! -s none.jsonl ]
	run -0 --separate-stderr "$ASTERISM" replay -f json misses.rule none.jsonl
	[[ $output != *'"match"'* ]]
}

# The inputs are called like the events of make-trace.
write_trace_program() {
	cat >trace.desl <<-'END'
		input {
			eventtype tick { File f = "t"; Number n; Number part; Number ts; Line tid; String comm; Number cpu; Line pid; }
			eventtype call { File f = "t"; Line arg; Number load; Number nr; Number fd; Number ok; String name; }
		}
		heuristics {
			eventtype ticks {
				Line tid = tick.tid; Number count = num(tick.n); Number sum = sum(tick.n); Number last = max(tick.ts);
				group by tick.tid;
			}
			eventtype calls {
				String name = call.name; Number count = num(call.nr); Number load = sum(call.load); Number ok = sum(call.ok);
				group by call.name;
			}
			eventtype each { Line arg = call.arg; Number nr = call.nr; Number fd = call.fd; }
			eventtype who { String comm = tick.comm; Line pid = tick.pid; Number cpu = tick.cpu; Number part = tick.part; }
		}
		output { ticks; calls; each; who; }
	END
}

@test "events of a recording are records, the same as of its JSON lines" {
	"$make_trace" -n 20000 -c 3 -j t >made.jsonl
	"$ASTERISM" dump -f json t >dumped.jsonl
	write_trace_program
	sed 's/Line arg; //; s/Line arg = call.arg; //' trace.desl >lines.desl
	"$ASTERISM" query lines.desl -f csv >of_trace
	"$ASTERISM" query lines.desl -f csv tick=dumped.jsonl call=dumped.jsonl | diff of_trace -
	[ "$(wc -l <of_trace)" -gt 1000 ]
	# An address of 64 bits is exact in a Line; JSON lines of dump write it as a number.
	"$ASTERISM" query trace.desl -f csv | grep -q '^0xfffffffffffffffd,-2,-2$'
}

@test "a recording without such events, with other fields, or with damage is told" {
	"$make_trace" -n 2000 t >made.jsonl
	write_trace_program
	sed 's/eventtype call /eventtype cal /; s/call\./cal./g' trace.desl >name.desl
	run --separate-stderr -2 "$ASTERISM" query name.desl
	[[ $stderr == *"t has no events 'cal'"*"asterism stat t lists them"* ]]
	sed 's/Number fd;/Number fdd;/; s/call.fd;/call.fdd;/' trace.desl >field.desl
	run --separate-stderr -2 "$ASTERISM" query field.desl
	[[ $stderr == *"t has no field 'fdd'"*"did you mean 'fd'?"* ]]
	sed 's/String name;/Number name;/; s/String name =/Number name =/' trace.desl >kind.desl
	run --separate-stderr -2 "$ASTERISM" query kind.desl
	[[ $stderr == *"the field 'name' of call is a text: declare it as String or Line"* ]]
	mkdir empty
	run --separate-stderr -2 "$ASTERISM" query trace.desl tick=empty
	[[ $stderr == *empty* ]]
	for file in t/stream_*; do
		python3 -c 'import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[len(data) // 2:len(data) // 2 + 64] = b"\xff" * 64
open(sys.argv[1], "wb").write(data)' "$file"
	done
	run --separate-stderr "$ASTERISM" query trace.desl
	[ "$status" = 2 ] && [[ $stderr == *stream_* ]]
}

@test "profiles of perf script, pprof and gmon.out are records" {
	cat >perf.txt <<-'END'
		work  10/10  1.000000:     100 task-clock: 	    401136 spin+0x6 (/bin/work)
		work  10/10  1.001000:     100 task-clock: 	    401137 spin+0x7 (/bin/work)
		work  10/10  1.002000:      50 task-clock: 	    401200 other+0x0 (/bin/work)
	END
	cat >self.desl <<-'END'
		input { eventtype fn { File f = "perf.txt"; Line fct; Number self; } }
		heuristics { eventtype hot { Line fct = fn.fct; Number self = fn.self; constraint(g(0, fn.self)); } }
		output { hot; }
	END
	"$ASTERISM" query self.desl -f csv | sort >of_perf
	diff of_perf <(printf 'fct,self\nother,50\nspin,200\n')
	printf 'events: Ir\nfn=main\n1 50\ncfn=spin\ncalls=1 1\n1 200\nfn=spin\n1 200\n' >callgrind.out
	"$ASTERISM" profile export -t pprof -o packed callgrind.out
	"$ASTERISM" query self.desl fn=packed -f csv | sort | diff - <(printf 'fct,self\nmain,50\nspin,200\n')
	head -c 40 packed >half
	run --separate-stderr -2 "$ASTERISM" query self.desl fn=half
	[[ $stderr == *half* ]]

	cat >work.c <<-'END'
		__attribute__((noinline)) void leaf(void) { for (volatile long i = 0; i < 200000; i++) ; }
		__attribute__((noinline)) void twice(void) { leaf(); leaf(); }
		int main(void) { for (int i = 0; i < 50; i++) twice(); leaf(); return 0; }
	END
	cc -pg -O1 -fno-optimize-sibling-calls -o work work.c
	./work
	cat >calls.desl <<-'END'
		input { eventtype calls { File f = "gmon.out:./work"; Line caller; Line callee; Number times; } }
		heuristics { eventtype of_leaf { Line caller = calls.caller; Number times = calls.times; constraint(eq(calls.callee, "leaf")); } }
		output { of_leaf; }
	END
	"$ASTERISM" query calls.desl -f csv | sort | diff - <(printf 'caller,times\nmain,1\ntwice,100\n')
	run --separate-stderr -2 "$ASTERISM" query calls.desl calls=gmon.out
	[[ $stderr == *"gmon.out has no names of functions: they are in its program"*"calls=gmon.out:PROGRAM"* ]]
	run --separate-stderr -2 "$ASTERISM" query calls.desl calls=gmon.out:./missing
	[[ $stderr == *"cannot read ./missing"* ]]
	run --separate-stderr -2 "$ASTERISM" query calls.desl calls=perf.txt:./work
	[[ $stderr == *"perf.txt is not what a program built with -pg writes"* ]]
	head -c 30 gmon.out >cut.out
	run --separate-stderr -2 "$ASTERISM" query calls.desl calls=cut.out:./work
	[[ $stderr == *cut.out* ]]
}

@test "what docs/query.md shows of a recording" {
	"$ASTERISM" record -e sys_enter_write -o recording -- sh -c 'echo 123; echo 12345' >/dev/null 2>why || skip "nothing is being recorded here: $(cat why)"
	sed -n '/^input { eventtype sys_enter_write/,/^output/p' "$BATS_TEST_DIRNAME/../../docs/query.md" >written.desl
	"$ASTERISM" query written.desl -f csv | sed 's/^[0-9]*,//' | diff - <(printf 'tid,comm,calls,bytes\nsh,2,10\n')
}

@test "a program that is too large is told the limit of programs, not of rules" {
	head -c 1048577 /dev/zero | tr '\0' ' ' >large.desl
	run -2 "$ASTERISM" query large.desl
	[ "$output" = "large.desl: error: this file is too large: the limit is 1 MiB" ]
}

@test "a NUL in a value or a name is told, also that of UTF-16" {
	printf 'input { eventtype t { File f = "t.csv"; Line k; } }\nheuristics { eventtype a { Line k = t.k; } }\noutput { a; }\n' >t.desl
	printf 'k\nx\0y\n' >t.csv
	run -2 "$ASTERISM" query t.desl
	[[ $output == *"t.csv:2:1: error: the value contains a NUL"*"write the file as UTF-8 text"* ]]
	printf 'k\nx\n' | iconv -t UTF-16 >t.csv
	run -2 "$ASTERISM" query t.desl
	[[ $output == *"t.csv:1:1: error: the value contains a NUL"* ]]
}
