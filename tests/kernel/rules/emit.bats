#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Raised events in the kernel are bounded: what goes beyond is counted with the rule that raised it, and is over then.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	cd "$BATS_TEST_TMPDIR"
	printf 'EVENT A { x: u32 }\nEVENT B { x: u32 }\nEVENT P { x: u32 }\nEVENT Q { x: u32 }\n' >types
	cat types - >probe.rule <<<'RULE r PATTERN { A }'
	echo '{"event": "A", "ts": 1, "x": 1}' >probe.jsonl
	needs_asterism replay -q probe.rule probe.jsonl --engine kernel
	many='RULE many PATTERN { [A:a, B] } DO { EMIT P(x = a.x) }'
}

# opened N: N events A, then B, which completes a run for each, then both once more.
opened() {
	for ((i = 0; i < $1; i++)); do
		echo "{\"event\": \"A\", \"ts\": 1, \"x\": $i}"
	done
	printf '{"event": "%s", "ts": 2, "x": 5000}\n' B A B
}

# in ENGINE RULES: the match lines to out, the statistics line to stats.
in_engine() {
	run --separate-stderr "$ASTERISM" replay "$2" events.jsonl --engine "$1" -f json
	grep '"match"' <<<"$output" >out || true
	tail -n 1 <<<"$output" >stats
}

counter() {
	python3 -c 'import json, sys
value = json.load(sys.stdin)["stats"]
for key in sys.argv[1:]:
    value = value[key]
print(value)' "$@" <stats
}

@test "more matches of one event than there is room for" {
	cat types - >r.rule <<<"$many
		RULE hears PATTERN { P:p } RETURN { p.x }"
	opened 300 >events.jsonl
	in_engine kernel r.rule
	[ "$status" = 3 ]
	told=$(counter rules many matches)
	[ "$told" -gt 16 ]
	[ "$told" -lt 301 ]
	[ "$(counter rules many lost)" = $((301 - told)) ]
	[ "$(counter rules hears matches)" = "$told" ]
	[ "$(counter lost)" = $((301 - told)) ]
	[ "$(wc -l <out)" = $((2 * told)) ]
	grep '"p.x":5000' out
	[[ $stderr == *"rule many did not raise $((301 - told)) events: one event raised more than there is room for"* ]]
	[[ $stderr != *"came faster"* ]]
}

@test "more to be done for one event than is bearable" {
	cat types - >r.rule <<<"$many
		RULE more SKIPTILLANY PATTERN { [A:a, P:p] } WHERE { a.x < 1000 } DO { EMIT Q(x = p.x) }
		RULE hears PATTERN { Q:q } RETURN { q.x }"
	opened 120 >events.jsonl
	in_engine kernel r.rule
	[ "$status" = 3 ]
	heard=$(counter rules hears matches)
	[ "$heard" -gt 128 ]
	[ "$heard" -lt 14520 ]
	[ "$(counter rules more matches)" = "$heard" ]
	# what is missing is accounted for: each event of rule many would have made 120 matches of rule more
	[ $((heard + $(counter rules more lost) + 120 * $(counter rules many lost))) -ge 14520 ]
	[ "$(grep -c '"match":"more"' out)" = "$heard" ]
	tail -n 121 out | grep '"q.x":5000'
}

# chain N: rules that each raise what the next one takes.
chain() {
	cat types
	for ((i = 0; i < $1; i++)); do
		echo "EVENT P$i { x: u32 }"
	done
	echo 'RULE r0 PATTERN { A:a } DO { EMIT P0(x = a.x) }'
	for ((i = 0; i < $1 - 1; i++)); do
		echo "RULE r$((i + 1)) PATTERN { P$i:p } RETURN { p.x } DO { EMIT P$((i + 1))(x = p.x + 1) }"
	done
}

@test "a chain of 32 rules is the longest" {
	chain 32 >r.rule
	echo '{"event": "A", "ts": 1, "x": 5}' >events.jsonl
	in_engine kernel r.rule
	[ "$status" = 0 ]
	[ "$(wc -l <out)" = 32 ]
	tail -n 1 out | grep '"p.x":35'
	chain 34 >r.rule
	in_engine kernel r.rule
	[ "$status" = 2 ]
	[[ "$stderr" == *"rule r33 cannot run in the kernel: EMIT connects it with more than 32 rules"* ]]
	in_engine user r.rule
	[ "$status" = 0 ]
	[ "$(wc -l <out)" = 34 ]
}

@test "a chain of more rules than a program takes ends where it ends, live as well" {
	chain 70 >r.rule
	echo '{"event": "A", "ts": 1, "x": 5}' >events.jsonl
	in_engine user r.rule
	[ "$status" = 0 ]
	[ "$(wc -l <out)" = 70 ]
	echo 'RULE begin PATTERN { sys_enter_getpgid:a } WHERE { a.target_pid == 1 } DO { EMIT A(x = 5) }' >>r.rule
	run --separate-stderr -0 "$ASTERISM" run -q r.rule -- python3 -c 'import os; os.getpgid(1)'
	[[ ${lines[-1]} == *"p.x=73"* || $output == *"p.x=73"* ]]
}

@test "what is too large for one program runs in user space" {
	{
		for ((i = 0; i < 30; i++)); do
			echo "EVENT P$i { x: u32, s: string }"
		done
		echo 'RULE r0 PATTERN { sys_enter_getcwd:a } DO { EMIT P0(x = a.tid) }'
		for ((i = 0; i < 29; i++)); do
			echo "RULE r$((i + 1)) SKIPTILLANY PATTERN { [P$i:p, P$i[]:r, P$i:q] } WHERE { [tid], q.x > 5 } WITHIN 1s"
			echo "DO { EMIT P$((i + 1))(x = p.x + q.x, s = p.s) }"
		done
	} >r.rule
	run --separate-stderr "$ASTERISM" run r.rule -f json -- python3 -c 'import os; os.getcwd(); os.getcwd(); os.getcwd()'
	[ "$status" = 0 ]
	grep '"match":"r1"' <<<"$output"
	[[ "$stderr" == *" in user space: "* ]] || skip "this kernel takes all of it as one program"
	[[ "$stderr" == *"note: 30 rules and machines run in user space: r0, r1, r2, r3, r4, r5, r6, r7 and 22 more; the reason for each: together with the rules that EMIT connects it to, it does not fit"* ]]
}
