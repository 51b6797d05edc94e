#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# RETURN SEQUENCE of matches of any length, in the kernel.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
	cat >loop.rule <<-'END'
		SYNCHRONOUS RULE loop
		PATTERN { [sys_enter_openat:o, sys_enter_read[]:r, sys_enter_close:c] }
		WHERE { [tid], o.filename LIKE "*/input", r.count == 7 }
		RETURN SEQUENCE
	END
}

# lengths: how many events each match has that OUTPUT tells.
lengths() {
	python3 -c 'import json, sys
for line in sys.stdin:
    match = json.loads(line)
    if "match" in match: print(len(match["sequence"]))'
}

@test "a file is read in a loop: the match has every read, in order" {
	head -c 700 /dev/zero >input
	run --separate-stderr -0 "$ASTERISM" run -f json loop.rule -- dd if="$PWD/input" of=/dev/null bs=7
	[[ "$stderr" != *"user space"* ]]
	python3 - <<-END
		import json
		lines = [json.loads(line) for line in '''$output'''.splitlines()]
		(match,) = [line for line in lines if "match" in line]
		events = match["sequence"]
		names = [event["event"] for event in events]
		assert names == ["sys_enter_openat"] + ["sys_enter_read"] * 101 + ["sys_enter_close"], names
		times = [event["ts"] for event in events]
		assert times == sorted(times) and len(set(times)) == len(times)
		assert {event["tid"] for event in events} == {match["tid"]} and not match["tainted"]
		assert events[0]["filename"].endswith("/input") and {event["count"] for event in events[1:-1]} == {7}
	END
}

@test "what is read in other steps is no part of the match, and a file that is not asked for makes none" {
	head -c 700 /dev/zero >input
	cp input other
	run --separate-stderr -0 "$ASTERISM" run -f json loop.rule -- dd if="$PWD/other" of=/dev/null bs=7
	[ -z "$(lengths <<<"$output")" ]
	run --separate-stderr -0 "$ASTERISM" run -f json loop.rule -- dd if="$PWD/input" of=/dev/null bs=70
	[ -z "$(lengths <<<"$output")" ]
}

# Reads beyond what there is room for end the run that they belong to, and only that: what was kept of it is there for others.
@test "a loop that is too long to be kept is not told short but as lost, and those after it are whole" {
	head -c 560000 /dev/zero >input
	head -c 70 /dev/zero >short
	mkdir long && mv input long/input && mv short input
	run --separate-stderr -3 "$ASTERISM" run -f json loop.rule -- sh -c '
		dd if="$0"/long/input of=/dev/null bs=7
		for i in 1 2 3; do dd if="$0"/input of=/dev/null bs=7; done' "$PWD"
	[ "$(lengths <<<"$output" | xargs)" = "13 13 13" ]
	[[ "$stderr" == *"rule loop lost 1 runs: there was no room to keep more events for RETURN SEQUENCE"* ]]
	[[ "$output" == *'"pool_exhausted":1,"replaced":0,"lost":1'* ]]
}

# Far more events than there is room for at once, of runs that match, end, are copied, dropped, refused, move and are due.
@test "room is given back whatever becomes of runs: the kernel tells what the engine does" {
	cat >ends.rule <<-'END'
		EVENT A { x: u32 }
		EVENT B { x: u32 }
		EVENT C { x: u32 }
		EVENT D { x: u32 }
		RULE next PATTERN { [A:a, B[]:b, C:c] } WHERE { [tid] } WITHIN 2us RETURN SEQUENCE
		RULE bounded PATTERN { [A:a, B[<=3]:b, C:c] } WHERE { [tid] } WITHIN 2us RETURN SEQUENCE
		RULE due PATTERN { [A:a, B[]:b, C:c, ~D:d] } WHERE { [tid], b.len > 1 } WITHIN 800ns RETURN SEQUENCE
		RULE drops PATTERN { [A:a, B[]:b, C:c] } WHERE { [tid], c.x > 1 } WITHIN 2us RETURN SEQUENCE AFTER MATCH DROP
		RULE copies SKIPTILLANY PATTERN { [A:a, B[]:b, C:c] } WHERE { [tid] } WITHIN 200ns RETURN SEQUENCE
		RULE dropped SKIPTILLANY PATTERN { [A:a, B[]:b, C:c] } WHERE { [tid], c.x > a.x } WITHIN 200ns RETURN SEQUENCE AFTER MATCH DROP
		RULE strict STRICTPARTITION PATTERN { [A:a, B[]:b, C:c] } WHERE { [tid] } RETURN SEQUENCE
		RULE moves PATTERN { [A:a, B[]:b, C:c] } WHERE { [tid], c.x == a.x } WITHIN 2us RETURN SEQUENCE
		RULE first PATTERN { [A[]:a, B:b] } WHERE { [tid], b.x - a.last.x > 1 } WITHIN 2us RETURN SEQUENCE
		RULE refused SKIPTILLANY PATTERN { [A:a, B[]:b, C:c] } WHERE { [tid] } WITHIN 200ns RETURN SEQUENCE POOL 7
		RULE excepted PATTERN { [A:a, B[]:b, C:c] } WHERE { [tid] } WITHIN 2us RETURN SEQUENCE EXCEPT { c.x == 0 }
		RULE raises PATTERN { [A:a, B[]:b, C:c] } WHERE { [tid] } WITHIN 2us RETURN SEQUENCE DO { EMIT E(x = c.x) }
		EVENT E { x: u32 }
		RULE raised PATTERN { [E[]:e, D:d] } WHERE { [tid] } WITHIN 4us RETURN SEQUENCE
		RULE both SKIPTILLANY PATTERN { [E:e, E[]:f, D:d] } WHERE { [tid] } WITHIN 500ns RETURN SEQUENCE DO { EMIT F(x = d.x) }
		EVENT F { x: u32 }
		RULE at_once PATTERN { F:f } RETURN SEQUENCE
	END
	python3 - >events.jsonl <<-'END'
		import json, random
		made, ts = random.Random(5), 0
		for i in range(150000):
		    ts += made.randint(1, 20)
		    name = made.choices("ABCD", [5, 60, 5, 1])[0]
		    print(json.dumps({"event": name, "ts": ts, "cpu": i % 2, "pid": 1, "tid": made.randint(1, 6), "x": made.randint(0, 3)}))
	END
	for engine in user kernel; do
		"$ASTERISM" replay -q -f json --engine $engine ends.rule events.jsonl >$engine.txt && status=0 || status=$?
		[ "$status" = 3 ] # of refused
	done
	for rule in next bounded due drops copies dropped strict moves first refused excepted raises raised both; do
		grep "^{\"match\":\"$rule\"" user.txt >want.txt || { echo "nothing of $rule"; false; }
		grep "^{\"match\":\"$rule\"" kernel.txt | cmp - want.txt || { echo "$rule differs"; false; }
	done
	[ "$(grep -o '"rules":.*' user.txt | sed 's/"runs_live_max":[0-9]*,//g')" = "$(grep -o '"rules":.*' kernel.txt | sed 's/"runs_live_max":[0-9]*,//g')" ]
}
