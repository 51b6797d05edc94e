#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# replay and compile: where output goes and how they end.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	cd "$BATS_TEST_TMPDIR"
	cat >pair.rule <<-'END'
		EVENT A { x: i64 }
		EVENT B { x: i64 }
		RULE pair PATTERN { [A:a, B:b] } WHERE { [x] } RETURN { a.x AS x }
	END
	cat >pair.jsonl <<-'END'
		{"event":"A","ts":1,"x":7}
		{"event":"B","ts":2,"x":8}
		{"event":"B","ts":3,"x":7}
	END
	match='{"match":"pair","ts":3,"cpu":0,"pid":0,"tid":0,"comm":"","return":{"x":7},"tainted":false}'
}

@test "json: matches, then the statistics, on standard output; nothing else" {
	run --separate-stderr -0 "$ASTERISM" replay -f json pair.rule pair.jsonl
	[ "${lines[0]}" = "$match" ]
	[[ ${lines[1]} == '{"stats":{"events":3,"seconds":'*',"lost":0,"rules":{"pair":{"matches":1,"runs_opened":1,"runs_live_max":1,"pool_exhausted":0,"replaced":0,"lost":0}}}}' ]]
	[ ${#lines[@]} = 2 ]
	[ -z "$stderr" ]
}

@test "text: the match on standard output, a summary on standard error" {
	run --separate-stderr -0 "$ASTERISM" replay pair.rule pair.jsonl
	[ ${#lines[@]} = 1 ]
	[[ $output == *pair* && $output == *7* ]]
	[[ $stderr == "asterism: note: 1 match, 3 events in "* ]]
	run --separate-stderr -0 "$ASTERISM" replay -q pair.rule pair.jsonl
	[ -z "$stderr" ]
}

@test "text: whose the matches are, where another rule has none" {
	run --separate-stderr -0 "$ASTERISM" replay pair.rule -r 'RULE all PATTERN { A }' -r 'RULE none PATTERN { A:a } WHERE { a.x > 7 }' pair.jsonl
	[[ ${stderr_lines[*]} == *"note: 2 matches of 2 rules, 3 events in "*"rule none: 0 matches"* ]]
	run --separate-stderr -0 "$ASTERISM" replay pair.rule -r 'RULE none PATTERN { A:a } WHERE { a.x > 7 }' pair.jsonl
	[[ ${stderr_lines[0]} == "asterism: note: 1 match of pair, 3 events in "* ]]
}

@test "events from standard input" {
	run --separate-stderr -0 "$ASTERISM" replay -f json pair.rule - <pair.jsonl
	[ "${lines[0]}" = "$match" ]
}

@test "-o writes a file and leaves standard output empty" {
	run --separate-stderr -0 "$ASTERISM" replay -f json -o out.jsonl pair.rule pair.jsonl
	[ -z "$output" ]
	[ "$(head -n 1 out.jsonl)" = "$match" ]
	[ "$(wc -l <out.jsonl)" = 2 ]
}

@test "output that cannot be written: status 2" {
	run --separate-stderr -2 "$ASTERISM" replay -o missing/out pair.rule pair.jsonl
	[[ $stderr == *"cannot write missing/out: No such file or directory" ]]
	if [ -e /dev/full ]; then
		run --separate-stderr -2 "$ASTERISM" replay -f json -o /dev/full pair.rule pair.jsonl
		[[ $stderr == *"cannot write /dev/full: No space left on device"* ]]
		[ -e /dev/full ]
	fi
}

@test "a reader that goes away ends the replay quietly" {
	seq 1 200000 | sed 's/.*/{"event":"A","ts":&,"x":&}/' >many.jsonl
	printf 'EVENT A { x: i64 }\nRULE all PATTERN { A:a } RETURN { a.x }\n' >all.rule
	run --separate-stderr bash -c '"$0" replay -q -f json all.rule many.jsonl | head -n 1; exit ${PIPESTATUS[0]}' "$ASTERISM"
	[ "$status" = 0 ]
	[ ${#lines[@]} = 1 ]
	[ -z "$stderr" ]
}

@test "RETURN NOTHING: a step that others build on, told to nobody" {
	cat >step.rule <<-'END'
		EVENT A { x: i64 } EVENT B { y: i64 }
		RULE step PATTERN { A:a } RETURN NOTHING DO { EMIT B(y = a.x) }
		RULE both PATTERN { [B:b, B:c] } RETURN { c.y - b.y AS d }
		RULE mute PATTERN { A:a } RETURN NOTHING
	END
	printf '{"event":"A","ts":1,"x":7}\n{"event":"A","ts":2,"x":20}\n' >step.jsonl
	for jobs in 1 4; do
		run --separate-stderr -0 "$ASTERISM" replay --jobs $jobs -f json step.rule step.jsonl
		[[ ${lines[0]} == '{"match":"both",'*'"return":{"d":13}'* ]]
		[[ ${lines[1]} == '{"stats":'*'"step":{"matches":2,'*'"both":{"matches":1,'*'"mute":{"matches":2,'* ]]
		[ ${#lines[@]} = 2 ]
	done
	"$ASTERISM" compile step.rule -o step.astc
	run --separate-stderr -1 "$ASTERISM" replay -q --fail-on-match step.astc step.jsonl
	[ ${#lines[@]} = 1 ]
	head -n 1 step.jsonl >one.jsonl
	run --separate-stderr -0 "$ASTERISM" replay --fail-on-match step.rule one.jsonl
	[ -z "$output" ]
	[[ $stderr == *"0 matches, 1 event"* ]]
	run -0 "$ASTERISM" explain step.rule
	[[ $output == *"is counted, but not reported"* ]]
	run -2 "$ASTERISM" check - <<<'EVENT A { x: i64 } RULE r PATTERN { A:a } RETURN NOTHING RETURN { a.x }'
}

@test "--fail-on-match: status 1 with a match, 0 without" {
	run -1 "$ASTERISM" replay -q --fail-on-match pair.rule pair.jsonl
	head -n 2 pair.jsonl >none.jsonl
	run -0 "$ASTERISM" replay -q --fail-on-match pair.rule none.jsonl
}

@test "a full pool: counted, told, status 3" {
	printf 'EVENT A { x: i64 }\nEVENT B { x: i64 }\nRULE pair PATTERN { [A:a, B:b] } WHERE { [x] } POOL 2\n' >small.rule
	seq 1 5 | sed 's/.*/{"event":"A","ts":&,"x":&}/' >five.jsonl
	run --separate-stderr -3 "$ASTERISM" replay -f json small.rule five.jsonl
	[ "${lines[0]}" = '{"notice":"pool","rule":"pair","refused":3,"replaced":0}' ]
	[[ ${lines[1]} == *'"pair":{"matches":0,"runs_opened":'*'"runs_live_max":2,"pool_exhausted":3,"replaced":0,"lost":3}'* ]]
	[[ $stderr == *"rule pair lost 3 runs"* ]]
	[[ $stderr == *"POOL n"* ]]
}

@test "wrong events: the line is named, status 2, no statistics" {
	while IFS='|' read -r line what; do
		{ head -n 1 pair.jsonl; echo "$line"; } >bad.jsonl
		run --separate-stderr -2 "$ASTERISM" replay -f json pair.rule bad.jsonl
		[[ $stderr == "bad.jsonl:2"*"error: "* ]] || { echo "$what: $stderr"; false; }
		[ -z "$output" ]
	done <<-'END'
		{"event":"C","ts":2,"x":1}|unknown type
		{"event":"A","ts":2}|missing field
		{"event":"A","ts":2,"x":"seven"}|wrong type
		{"event":"A","ts":0,"x":1}|time goes back
		{"event":"A","ts":2,"x":1|broken JSON
		[1,2]|not an object
	END
}

@test "a signal: a clean end with the statistics, and it is said that there may be more" {
	mkfifo pipe
	"$ASTERISM" replay -f json pair.rule pipe >out 2>err &
	local pid=$!
	exec 7>pipe
	cat pair.jsonl >&7
	sleep 0.3
	# A background job of a shell without job control ignores SIGINT; SIGTERM means the same here.
	kill -TERM $pid
	sleep 0.2
	exec 7>&-
	status=0
	wait $pid || status=$?
	[ "$status" = 143 ]
	[ "$(cat err)" = "asterism: note: interrupted before the end of the input" ]
	[ "$(head -n 1 out)" = "$match" ]
	[[ $(tail -n 1 out) == '{"stats":{"events":3,'* ]]
}

@test "a signal while stat reads: what came so far, and that it is not all" {
	local status=0
	head -n 2 pair.rule >pair.events
	mkfifo pipe
	"$ASTERISM" stat --catalog pair.events -f json pipe >out 2>err 3>&- &
	local pid=$!
	exec 7>pipe
	cat pair.jsonl >&7
	sleep 0.3
	kill -TERM $pid
	sleep 0.2
	exec 7>&-
	wait $pid || status=$?
	[ "$status" = 143 ]
	[ "$(cat err)" = "asterism: note: interrupted before the end of the input" ]
	[ -s out ]
}

@test "compile: the image does what the text does" {
	run --separate-stderr -0 "$ASTERISM" compile pair.rule -o pair.astc
	[ -z "$output$stderr" ]
	[ "$(head -c 4 pair.astc)" = ASTC ]
	run --separate-stderr -0 "$ASTERISM" replay -f json pair.astc pair.jsonl
	[ "${lines[0]}" = "$match" ]
	run -0 "$ASTERISM" check pair.astc
	"$ASTERISM" compile pair.rule -o - | cmp - pair.astc
}

@test "compile: no -o, damaged and combined images: status 2" {
	"$ASTERISM" compile pair.rule -o pair.astc
	run --separate-stderr -2 "$ASTERISM" compile pair.rule
	[[ $stderr == *"needs -o FILE"* ]]
	head -c 200 pair.astc >short.astc
	run --separate-stderr -2 "$ASTERISM" replay short.astc pair.jsonl
	[[ $stderr == "short.astc:"*"error: "* ]]
	run --separate-stderr -2 "$ASTERISM" check pair.astc pair.rule
	[[ $stderr == *"cannot be combined"* ]]
}

@test "rules of several files are one unit" {
	printf 'EVENT A { x: i64 }\nRULE one PATTERN { A:a } RETURN { a.x }\n' >one.rule
	printf 'RULE two PATTERN { A:a } RETURN { a.x AS y }\n' >two.rule
	head -n 1 pair.jsonl >a.jsonl
	run --separate-stderr -0 "$ASTERISM" replay -f json one.rule two.rule a.jsonl
	[[ ${lines[0]} == *'"match":"one"'* && ${lines[1]} == *'"match":"two"'* ]]
	run --separate-stderr -2 "$ASTERISM" check one.rule one.rule
}

@test "progress is shown on a terminal only, and is gone in the end" {
	command -v script >/dev/null || skip "script is not installed"
	printf 'EVENT A { x: i64 }\nRULE last PATTERN { A:a } WHERE { a.x == 2 } RETURN { a.x }\n' >last.rule
	{ yes '{"event":"A","ts":1,"x":1}' | head -n 2999999; echo '{"event":"A","ts":2,"x":2}'; } >many.jsonl
	run script -qec "$ASTERISM replay last.rule many.jsonl" /dev/null
	[[ $output == *" events, 0 matches, "*" %"* ]]
	[[ ${lines[-1]} == *"note: 1 match, 3000000 events in "* ]]
	# What is left on the line of the progress begins after the code that clears it.
	[[ ${lines[-2]} != *"%"*"last"* || ${lines[-2]} == *$'\r\033[K'*last* ]]
	run script -qec "$ASTERISM replay -q last.rule many.jsonl" /dev/null
	[[ $output != *" %"* ]]
}

@test "every --catalog counts, and one that is not there is named" {
	echo 'EVENT aa { x: u32 }' >a.events
	echo 'EVENT bb { x: u32 }' >b.events
	printf '{"event":"%s","ts":%s,"x":1}\n' aa 1 bb 2 >both.jsonl
	run --separate-stderr -0 "$ASTERISM" stat --catalog a.events --catalog b.events both.jsonl
	[[ $output == *$'\n'aa* && $output == *$'\n'bb* ]]
	run --separate-stderr -0 "$ASTERISM" events --catalog a.events --catalog b.events
	[[ $output == *aa* && $output == *bb* ]]
	run --separate-stderr -2 "$ASTERISM" stat --catalog none.events --catalog b.events both.jsonl
	[[ $stderr == *"catalog not found: 'none.events'"* ]]
}

@test "JSON lines of other programs: what is unknown is left out and told, and a field of another name is the time" {
	cat >log.jsonl <<-'END'
		{"time":"2026-11-24T10:00:00.1Z","event":"login","user":"bob","extra":{"x":[1]}}
		{"time":"2026-11-24T11:00:01+01:00","event":"other"}
		{"time":"2026-11-24T10:00:02.1Z","event":"logout","user":"bob"}
	END
	cat >log.rule <<-'END'
		EVENT login { user: string, host: string } EVENT logout { user: string }
		RULE session PATTERN { [login:a, logout:b] } WHERE { a.user == b.user } RETURN { b.ts - a.ts AS took }
	END
	run --separate-stderr -2 "$ASTERISM" replay log.rule log.jsonl
	[[ $stderr == *"event login has no field 'time'"* ]]
	run --separate-stderr -0 "$ASTERISM" replay -f json --lenient --time-field time log.rule log.jsonl
	[[ ${lines[0]} == '{"match":"session","ts":1795514402100000000,'*'"took":2000000000}'* ]]
	[ "${stderr_lines[0]}" = "asterism: warning: log.jsonl: left out 1 field that no type has, such as 'extra', and 1 event of unknown types, such as 'other'" ]
	echo 'EVENT login { user: string } EVENT logout { user: string }' >log.events
	for command in dump stat report; do
		run --separate-stderr -0 "$ASTERISM" $command --catalog ./log.events --lenient --time-field time log.jsonl
		[[ $stderr == *"left out 1 field that"* ]]
	done
}

@test "an event of a shipped catalog that no rule names is known in JSON lines, too" {
	echo '{"event":"descriptor_made","ts":1,"call":257,"fd":3}' >made.jsonl
	run --separate-stderr -0 "$ASTERISM" dump -f json made.jsonl
	[ "$output" = '{"event":"descriptor_made","ts":1,"cpu":0,"pid":0,"tid":0,"comm":"","fd":3,"call":257}' ]
}

@test "OVER { * }: which other rules are loaded changes nothing" {
	cat >calls.jsonl <<-'END'
		{"event":"sys_enter_write","ts":1,"fd":3,"buf":0,"count":0}
		{"event":"sys_enter_fsync","ts":2,"fd":3}
		{"event":"sys_enter_close","ts":3,"fd":3}
		{"event":"sys_enter_write","ts":4,"fd":3,"buf":0,"count":0}
		{"event":"sys_enter_fsync","ts":5,"fd":4}
		{"event":"sys_enter_close","ts":6,"fd":3}
	END
	echo 'RULE strict STRICTPARTITION PATTERN { [sys_enter_write:a, sys_enter_close:b] } WHERE { [fd] } OVER { * }' >strict.rule
	"$ASTERISM" replay -q strict.rule calls.jsonl | tee alone
	"$ASTERISM" replay -q strict.rule -r 'RULE other PATTERN { sys_enter_fsync }' calls.jsonl | grep strict >beside
	cmp alone beside
	[ "$(wc -l <alone)" = 1 ]
}
