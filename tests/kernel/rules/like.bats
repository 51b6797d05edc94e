#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# LIKE with something behind a star, in the kernel: what it says of strings, also of those that were cut.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
}

in_kernel() {
	run -0 "$ASTERISM" check "$@"
	[[ "$output" != *"user space"* ]]
}

@test "cat opens a file with a certain ending: the kernel finds it, and no other" {
	rule='[sys_enter_openat:o, sys_exit_openat:e] WHERE { [tid], o.filename LIKE "*/want*.txt", e.ret >= 0 } RETURN { o.filename AS file }'
	in_kernel -r "$rule"
	touch wanted.txt wanted.txt.old unwanted
	run --separate-stderr -0 "$ASTERISM" run -f json -r "$rule" -- cat "$PWD/wanted.txt" "$PWD/wanted.txt.old" "$PWD/unwanted"
	[ "$(grep -c '"match"' <<<"$output")" = 1 ]
	[[ "$output" == *"\"file\":\"$PWD/wanted.txt\""* ]]
}

@test "a process is ended by the kernel for how a path ends" {
	echo text >secret
	echo 'SYNCHRONOUS RULE r PATTERN { sys_enter_openat:o } WHERE { o.filename LIKE "*/secret" } DO { CALL Kill(#PID) }' >kill.rule
	in_kernel kill.rule
	run --separate-stderr "$ASTERISM" run -q --allow-actions kill.rule -- cat "$PWD/secret"
	[ "$status" = 137 ]
	[ -z "$(grep text <<<"$output")" ]
	run --separate-stderr -0 "$ASTERISM" run -q --allow-actions kill.rule -- cat "$PWD/kill.rule"
}

# Rules of all semantics and kinds over strings of which some were cut, with and without the pattern's end.
@test "cut strings: the kernel marks, counts and discards what the engine does" {
	cat >cut.rule <<-'END'
		EVENT E { f: string, n: u32 }
		RULE ends PATTERN { E:e } WHERE { e.f LIKE "*/x" } RETURN { e.ts AS t }
		RULE inner PATTERN { E:e } WHERE { e.f LIKE "/no*/z*z" } RETURN { e.ts AS t }
		RULE other PATTERN { E:e } WHERE { NOT e.f LIKE "*/x" } RETURN { e.ts AS t }
		RULE begins PATTERN { E:e } WHERE { e.f LIKE "/nowhere/*" } RETURN { e.ts AS t }
		RULE later PATTERN { [E:a, E:b] } WHERE { b.n == 2 OR a.f LIKE "*/x" } RETURN { a.ts AS t, b.ts AS u }
		RULE value PATTERN { [E:a, E:b] } WHERE { (a.f LIKE "*/x") == (b.f LIKE "*x*") } RETURN { a.ts AS t, b.ts AS u }
		RULE keyed PATTERN { [E:a, E:b] } WHERE { [tid], NOT b.f LIKE "*/x" } RETURN { a.ts AS t, b.ts AS u }
		RULE any SKIPTILLANY PATTERN { [E:a, E:b] } WHERE { [tid], NOT b.f LIKE "*/x" } RETURN { a.ts AS t, b.ts AS u }
		RULE drops PATTERN { E:e } WHERE { NOT e.f LIKE "*/x" } RETURN { e.ts AS t } ON LOSS DISCARD
		RULE drops_two PATTERN { [E:a, E:b] } WHERE { [tid], NOT b.f LIKE "*/x" } RETURN { a.ts AS t, b.ts AS u } ON LOSS DISCARD
		RULE drops_any SKIPTILLANY PATTERN { [E:a, E:b] } WHERE { [tid], NOT b.f LIKE "*/x" } RETURN { a.ts AS t } ON LOSS DISCARD
		RULE keeps PATTERN { [E:a, E:b] } WHERE { [tid], NOT b.f LIKE "*/x" } RETURN { a.ts AS t, b.ts AS u } ON LOSS KEEP
		RULE dropping PATTERN { [E:a, E:b] } WHERE { [tid], NOT b.f LIKE "*/x" } RETURN { a.ts AS t } AFTER MATCH DROP
		RULE strict STRICTPARTITION PATTERN { [E:a, E:b] } WHERE { [tid], NOT b.f LIKE "*/x*" } RETURN { a.ts AS t }
		RULE absent PATTERN { [E:a, ~E:c, E:b] } WHERE { [tid], c.f LIKE "*/x", b.n == 1 } RETURN { a.ts AS t, b.ts AS u }
		MACHINE m KEY { tid } STATE S { ON E:e WHERE e.f LIKE "*/x" -> T ON E -> S } STATE T { ON E:e WHERE NOT e.f LIKE "*z" { WARN "{e.n}" } }
	END
	in_kernel cut.rule
	python3 - >events.jsonl <<-'END'
		import json, random
		pick = random.Random(3)
		texts = ["/nowhere/x", "/nowhere/y", "/nowhere/" + "./" * 125 + "x", "/nowhere/zz", "", "x", "/x", "/nowhere/zaz"]
		for number in range(300):
		    text = pick.choice(texts + ["/nowhere/" + "z" * pick.randint(240, 250)])
		    print(json.dumps({"event": "E", "ts": number + 1, "cpu": 0, "pid": 1, "tid": pick.randint(1, 3), "f": text, "n": pick.randint(0, 3)}))
	END
	for engine in user kernel; do
		run --separate-stderr -3 "$ASTERISM" replay --engine $engine -f json cut.rule events.jsonl
		sed 's/"seconds":[^,]*,"events_per_second":[^,]*,//; s/"unread_pid":[0-9]*,//g' <<<"$output" >$engine # the kernel keeps no process
	done
	grep -q '"unread":' user
	grep -q '"tainted":true' user
	cmp user kernel
}

# What is raised carries a cut string on, and a raised event of its own is not judged by the one that led to it.
@test "cut strings of raised events: kernel and engine agree, and mark no more than that" {
	cat >raised.rule <<-'END'
		EVENT E { f: string, n: u32 }
		EVENT P { g: string, n: u32 }
		EVENT Q { g: string, n: u32 }
		RULE carries PATTERN { E:e } WHERE { NOT e.f LIKE "*/x" } DO { EMIT P(g = e.f, n = e.n); EMIT Q(g = "short", n = e.n) }
		RULE long PATTERN { P:p } WHERE { NOT p.g LIKE "*/x" } RETURN { p.n AS n } DO { EMIT Q(g = p.g, n = 9) }
		RULE discards PATTERN { P:p } WHERE { NOT p.g LIKE "*/x" } RETURN { p.n AS n } ON LOSS DISCARD
		RULE two PATTERN { [P:p, P:q] } WHERE { NOT q.g LIKE "*/x" } RETURN { q.n AS n }
		RULE short PATTERN { Q:q } WHERE { NOT q.g LIKE "*/x" } RETURN { q.n AS n }
		MACHINE m KEY { } STATE S { ON Q:q -> STAY { WARN "{q.n}" } ON Q:q WHERE q.g LIKE "*/x" -> T } STATE T { ON Q -> S }
	END
	for text in a $(printf 'b%.0s' {1..300}) c $(printf 'd%.0s' {1..254}) $(printf 'e%.0s' {1..255}); do
		echo "{\"event\":\"E\",\"ts\":$((++number)),\"cpu\":0,\"pid\":1,\"tid\":1,\"f\":\"$text\",\"n\":$number}"
	done >events.jsonl
	for engine in user kernel; do
		run --separate-stderr -3 "$ASTERISM" replay --engine $engine -f json raised.rule events.jsonl
		sed 's/"seconds":[^,]*,"events_per_second":[^,]*,//; s/"unread_pid":[0-9]*,//g' <<<"$output" >$engine # the kernel keeps no process
	done
	diff user kernel
	grep '"match":"long"' user | grep '"n":2}' | grep -q '"tainted":true'
	grep '"match":"long"' user | grep '"n":3}' | grep -q '"tainted":false'
	grep '"match":"short"' user | grep '"n":2}' | grep -q '"tainted":false'
	[ "$(grep '"match":"discards"' user | grep -o '"n":[0-9]*' | tr '\n' ' ')" = '"n":1 "n":3 "n":4 ' ]
}
