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
