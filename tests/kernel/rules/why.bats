#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What --why says of rules in the running kernel: of ordinary mistakes, each beside the rule that is right.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
}

# Observes sh: two processes that open files at the same time.
observe() {
	run --separate-stderr -0 "$ASTERISM" run -q "$@" -- sh -c '
		(for i in 1 2 3 4 5 6 7 8; do read -r line </etc/passwd; done) &
		for i in 1 2 3 4 5 6 7 8; do read -r line </etc/passwd; done; wait'
}

# count SECTION TEXT: the number of that line of the table, which has such a text.
count() {
	awk -v section="$1" -v text="$2" '
		/^  [a-z]/ { at = substr($0, 3, 11); sub(/ *$/, "", at) }
		/^  / && at == section && index($0, text) { number = substr($0, 14) + 0 }
		END { print number == "" ? "none" : number }' <<<"$stderr"
}

@test "a condition that no run meets is named, with what to try; met, it matches" {
	observe --why -r 'RULE slow PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid], b.ts - a.ts > 10s }'
	[ -z "$output" ]
	ended=$(count ended 'sys_exit:b: not b.ts - a.ts > 10s')
	[ "$ended" -gt 20 ]
	[ "$(count seen sys_exit)" -ge "$ended" ]
	[ "$(count opened sys_enter:a)" -ge "$ended" ]
	[ "$(count 'went on' sys_exit:b)" = 0 ]
	[[ "$stderr" == *"help: $ended of "[0-9]*" runs ended at sys_exit:b, where this was false: b.ts - a.ts > 10s"* ]]
	observe --why -r 'RULE fits PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid], b.ts - a.ts > 1ns }'
	[[ "$output" == *fits* && "$stderr" != *help:* ]]
	[ "$(count 'went on' sys_exit:b)" -gt 20 ]
	[ "$(count ended 'sys_exit:b: not')" = none ]
}

@test "a negation that another process's events fulfil asks for the join; with it the rule matches" {
	cat >lone.rule <<-'END'
		RULE lone PATTERN { [sys_enter:a, ~sys_enter_openat:x, sys_exit:b] } WHERE { a.id == clock_nanosleep, b.id == clock_nanosleep }
		RULE right PATTERN { [sys_enter:a, ~sys_enter_openat:x, sys_exit:b] } WHERE { [tid], a.id == clock_nanosleep, b.id == clock_nanosleep }
	END
	run --separate-stderr -0 "$ASTERISM" run -q --why -f json lone.rule -- sh -c '
		(while :; do read -r line </etc/passwd; done) & loop=$!
		sleep 0.3; kill $loop; exit 0'
	grep '^{"why"' <<<"$output" >whys
	python3 - <<-'END'
import json
lone, right = [json.loads(line) for line in open("whys")]
end = next(t for t in lone["transitions"] if t["event"] == "~sys_enter_openat:x")
assert end["by_other_process"] == end["taken"] == lone["runs_opened"] == 1 and lone["matches"] == 0, lone
assert any("at an event of another process: does WHERE lack [pid]" in hint for hint in lone["hints"]), lone
assert right["matches"] == right["runs_opened"] == 1 and "hints" not in right, right
	END
}

@test "a scope that excludes what is waited for shows: nothing was seen" {
	sleep 60 &
	sleeper=$!
	run --separate-stderr -0 "$ASTERISM" run -q --why -p "$sleeper" --for 300ms \
		-r 'RULE opens PATTERN { [sys_enter_openat:a, sys_exit_openat:b] } WHERE { [tid] }'
	[ "$(count seen sys_enter_openat)" = 0 ]
	[[ "$stderr" == *"help: no sys_enter_openat was seen: is the process that makes the call observed (-a observes the whole machine), and does it make this call"* ]]
	kill "$sleeper"
	observe --why -r 'RULE opens PATTERN { [sys_enter_openat:a, sys_exit_openat:b] } WHERE { [tid] }'
	[ "$(count seen sys_enter_openat)" -ge 16 ]
	[[ "$output" == *opens* && "$stderr" != *"was seen"* ]]
}

@test "without --why a rule without a match is named, and how to ask; not with -q, and not where it matched" {
	run --separate-stderr -0 "$ASTERISM" run -r 'RULE slow PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid], b.ts - a.ts > 10s }' -- true
	[[ "$stderr" == *"asterism: note: rule slow: 0 matches; "*" runs were opened, none completed"*"help: --why shows which conditions failed"* ]]
	run --separate-stderr -0 "$ASTERISM" run -q -r 'RULE slow PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid], b.ts - a.ts > 10s }' -- true
	[ -z "$stderr" ]
	run --separate-stderr -0 "$ASTERISM" run -r 'RULE any PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid] }' -- true
	[[ "$stderr" != *why* ]]
}

@test "rules in user space and machines are counted beside those in the kernel" {
	cat >both.rule <<-'END'
		RULE kernel PATTERN { [sys_enter_openat:a, sys_exit_openat:b] } WHERE { [tid] }
		RULE user PATTERN { [sys_enter_openat[]:a, sched_process_exit:b] } WHERE { [pid], a.len > 0.5 } RETURN SEQUENCE
		MACHINE opens KEY { tid }
		STATE Out { ON sys_enter_openat -> In }
		STATE In { ON sys_exit_openat -> Out }
	END
	observe --why -f json both.rule
	grep '^{"why"' <<<"$output" >whys
	python3 - <<-'END'
import json
kernel, user, machine = [json.loads(line) for line in open("whys")]
seen = {row["event"]: row["seen"] for why in (kernel, user, machine) for row in why["events"]}
assert seen["sys_enter_openat"] >= 16, seen
for why in (kernel, user, machine):
    assert all(row["seen"] == seen[row["event"]] for row in why["events"]), why
taken = [t["taken"] for t in machine["transitions"] if t["event"] == "sys_enter_openat"]
assert sum(taken) == seen["sys_enter_openat"] == kernel["runs_opened"], (taken, seen, kernel)
	END
}

# A planted program: gid opens a run that the end of its own call does not fit, so the end of the first pid meets two.
planted='RULE planted PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid],
	a.id IN { getpid, getuid, getgid }, a.id != getuid, b.id == getpid, b.ret > 0, b.ts - a.ts < 10s }'

# The transitions of the rule in the file of JSON lines: without who they are by, and without what was seen beside.
counted() {
	python3 - "$1" <<-'END'
import json, sys
for line in open(sys.argv[1]):
    if line.startswith('{"why"'):
        for row in json.loads(line)["transitions"][:2]: # behind them: the thread has ended
            print(row["event"], row["taken"], row["failed"], [(one["of"], one["asked"], one["true"]) for one in row["conditions"]][1:])
	END
}

@test "each condition is counted: live, recorded, and by the model, the same" {
	plant="${ASTERISM_TEST_PROGRAMS:-$BATS_TEST_DIRNAME/../../../build/tests/kernel}/plant"
	run --separate-stderr -0 "$ASTERISM" run --why -f json --order-by written -r "$planted" -- "$plant" calls gid pid pid uid pid
	echo "$output" >live
	[ "$(counted live)" = "sys_enter:a 4 0 [('fit', 5, 4)]
sys_exit:b 4 0 [('fit', 4, 4), ('hold', 4, 4)]" ]
	run --separate-stderr -0 "$ASTERISM" record -o trace -r "$planted" -- "$plant" calls gid pid pid uid pid
	run --separate-stderr -0 "$ASTERISM" replay --why -f json --order-by written -r "$planted" trace
	echo "$output" >recorded
	[ "$(counted recorded)" = "$(counted live)" ]
	python3 - <<-'END'
import json
def why(name): return next(json.loads(line) for line in open(name) if line.startswith('{"why"'))
live, recorded = why("live"), why("recorded")
assert live["events"] == recorded["events"] and live["transitions"] == recorded["transitions"], (live, recorded)
end = live["transitions"][1]
assert end["tried"] == 5 and end["conditions"][0] == {"of": "fit", "condition": "b.id == getpid", "asked": 5, "true": 4}, end
	END
	run --separate-stderr -0 "$ASTERISM" explain --trace trace -f json --order-by written -r "$planted"
	echo "$output" >model
	python3 - <<-'END'
import json
live = next(json.loads(line) for line in open("live") if line.startswith('{"why"'))["transitions"]
model = json.loads(open("model").readline())["transitions"]
names = "tried", "taken", "failed"
assert [[row[name] for name in names] for row in live] == [[row[name] for name in names] for row in model], (live, model)
	END
	run --separate-stderr -0 "$ASTERISM" run -v --order-by written -r "$planted" -- "$plant" calls gid pid pid uid pid
	[[ "$stderr" =~ 5\ +4\ +80\ %\ +a.id\ !=\ getuid ]]
	[[ "$stderr" =~ 5\ +4\ +4\ \ after\ a:\ sys_exit:b\ -\>\ match ]]
}
