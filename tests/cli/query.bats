#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Queries: what is shipped against `asterism profile`, large files, files from elsewhere, damaged ones.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
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

@test "records that ask for each other in a circle are an error that names them" {
	printf '# callgrind format\nevents: Ir\nfn=a\n1 5\ncfn=b\ncalls=1 1\n1 9\nfn=b\n1 3\ncfn=c\ncalls=1 1\n1 5\nfn=c\n1 3\ncfn=b\ncalls=1 1\n1 2\n' >simulation
	printf 'fct,cost\na,1\n' >samples
	run -2 "$ASTERISM" query @quotient simulation=simulation functions=simulation sampling=samples
	[[ $output == *"in a circle: "*"b <- c <- b"* || $output == *"in a circle: "*"c <- b <- c"* ]]
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
@test "damaged programs and files are refused, within 512 MiB" {
	local golden=$BATS_TEST_DIRNAME/../golden/query
	for program in "$golden"/*/*.desl; do
		cp "$program" "$(basename "$(dirname "$program")")-$(basename "$program")"
	done
	cp "$golden"/{worked,printed,inputs}/*.csv "$golden"/{misses,ratio,calls}/*.out .
	cat >damage.py <<-'END'
		import glob, random, resource, subprocess, sys
		random.seed(7)
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

@test "what docs/query.md shows of records as events" {
	top=$BATS_TEST_DIRNAME/../..
	export PATH=$(cd "$(dirname "$ASTERISM")" && pwd):$PATH
	"$top/tests/docs/session.py" commands "$top/docs/query.md" "Records as events" >commands
	NO_COLOR=1 bash -e commands >output 2>&1 || { cat output; false; }
	"$top/tests/docs/session.py" compare "$top/docs/query.md" "Records as events" output
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
