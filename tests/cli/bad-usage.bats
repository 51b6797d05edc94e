#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Command lines that are wrong, and what the commands say of themselves. Nothing here needs a privilege, because nothing
# wrong comes as far as the kernel.

bats_require_minimum_version 1.5.0

setup() {
	export ASTERISM_PRICES=table
	cd "$BATS_TEST_TMPDIR"
	cat >pair.rule <<-'END'
		EVENT A { x: i64 }
		EVENT B { x: i64 }
		RULE pair PATTERN { [A:a, B:b] } WHERE { [x] } RETURN { a.x AS x }
	END
	echo 'RULE slow PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid], b.ts - a.ts > 50ms } RETURN { a.id AS id }' >slow.rule
	: >events
}

# `refused FIRST-LINE ARG...`: status 2 and this first line of an error (a pattern).
refused() {
	run --separate-stderr -2 timeout $((10 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" "${@:2}"
	[ -z "$output" ]
	# shellcheck disable=SC2053
	[[ ${stderr_lines[0]} == $1 ]] || { echo "got: ${stderr_lines[0]}"; echo "not: $1"; false; }
}

@test "run: commands that cannot be run" {
	mkdir folder
	touch plain
	printf '#!/nonexistent/interpreter\n' >script
	chmod +x script
	refused "asterism: error: command not found: 'no-such-command'" run slow.rule -- no-such-command
	refused "asterism: error: command not found: './none'" run slow.rule -- ./none
	refused "asterism: error: command not found: ''" run slow.rule -- ''
	refused "asterism: error: cannot run './plain': permission denied" run slow.rule -- ./plain
	refused "asterism: error: './folder' is a directory, not a command" run slow.rule -- ./folder
	refused "asterism: error: a command must follow '--'" run slow.rule --
	refused "asterism: error: 'asterism run' needs *" run -- true
}

@test "run: processes that are none" {
	sleep 0 3>&- &
	wait $!
	refused "asterism: error: process $! does not exist" run slow.rule -p $!
	refused 'asterism: error: process 99999999 does not exist' run slow.rule -p 99999999
	for pid in 0 -1 abc 1e3 3.5 '' 4294967297 0x10; do
		refused "asterism: error: --pid: '$pid' is not a PID" run slow.rule -p "$pid"
	done
	run --separate-stderr -2 bash -c 'exec "$0" run slow.rule -p $$' "$ASTERISM"
	[[ $stderr == 'asterism: error: a session does not observe itself'* ]]
}

@test "run: what is observed, and for how long" {
	refused 'asterism: error: no processes to observe were named' run slow.rule
	for both in "-p 1 -- true" "-a -- true" "-a -p 1"; do
		refused "asterism: error: * exclude each other" run slow.rule $both
	done
	for time in 0 0s -1 abc 1d '' 10000000000h; do
		refused "asterism: error: --for: invalid duration '$time'" run slow.rule --for "$time" -- true
	done
}

@test "every command: unknown options, missing operands, wrong choices" {
	for command in run replay check compile explain events; do
		refused "asterism: error: 'asterism $command' has no option --nonsense" $command --nonsense
		refused "asterism: error: 'asterism $command' has no option -Z" $command -Z
		refused "asterism: error: --color cannot be 'blue'" $command --color=blue
		[[ $stderr == *"auto, always or never"* ]]
	done
	for command in run replay check compile explain; do
		refused "asterism: error: 'asterism $command' needs *" $command
		[[ ${stderr_lines[1]} == "help: try 'asterism $command --help'" ]]
	done
	refused "asterism: error: nothing to replay: the last argument, pair.rule, is a rule file" replay pair.rule
	refused "asterism: error: 'asterism compile' needs -o FILE*" compile pair.rule
	refused "asterism: error: 'asterism events' takes [[]PATTERN]; 'b' is one too many" events a b
	refused "asterism: error: --format cannot be 'svg'" explain -f svg pair.rule
	refused "asterism: error: --engine cannot be 'pair.rule'" replay --engine pair.rule events
	refused "asterism: error: --input cannot be 'xml'" replay --input xml pair.rule events
	for twice in "check - -" "explain - -" "replay - -" "run - - -- true"; do
		refused "asterism: error: standard input ('-') can be read only once" $twice
	done
}

@test "unknown commands: the nearest" {
	while read -r wrong right; do
		refused "asterism: error: unknown command '$wrong'" "$wrong"
		[ "${stderr_lines[1]}" = "help: did you mean 'asterism $right'?" ]
	done <<-'END'
		rn run
		reply replay
		event events
		explian explain
		compil compile
	END
	refused "asterism: error: unknown command 'frobnicate'" frobnicate
	[[ ${stderr_lines[1]} == "help: 'asterism --help' lists the commands" ]]
	refused "asterism: error: unknown option '--frobnicate'" --frobnicate
}

@test "output that cannot be written is status 2 for every command" {
	[ -c /dev/full ] || skip "there is no /dev/full"
	for words in "--help" "--version" "check pair.rule" "explain pair.rule" "events" "run --help" \
		"replay -f json pair.rule events"; do
		run --separate-stderr -2 bash -c '"$0" "$@" >/dev/full' "$ASTERISM" $words
		[[ $stderr == "asterism: error: cannot write standard output: No space left on device" ]]
		run --separate-stderr -2 bash -c '"$0" "$@" >&-' "$ASTERISM" $words
		[[ $stderr == "asterism: error: cannot write standard output: Bad file descriptor" ]]
	done
}

@test "help shows no option that the command does not take, and no example that is refused" {
	cp slow.rule slow-syscall.rule
	cp slow.rule deadlock.rule
	: >events.jsonl
	for command in run record replay check compile explain events dump stat; do
		help=$("$ASTERISM" $command --help)
		# Options of the help are known: what they lack is a value, an operand or a thing to observe, never a name.
		for option in $(grep -oE '^ +(-[a-z], )?--[a-z-]+' <<<"$help" | grep -oE -- '--[a-z-]+'); do
			[ "$option" = --help ] && continue
			timeout $((10 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" $command $option </dev/null >/dev/null 2>said || true
			said=$(<said)
			[[ $said != *"has no option"* ]] || { echo "$command $option: $said"; false; }
		done
		[[ $command != @(record|dump|stat) ]] || continue # their examples need a trace, or make one
		while read -r example; do
			[[ $example != *" run "* ]] || example="${example/ run / check }"
			example=${example%% -- *}
			example=${example%% -p *}
			example=${example%% -a *}
			example=${example/generate-events |/true |}
			[[ $example != *"dot -T"* ]] || example="${example%% | dot*}"
			example=${example/ --engine kernel/ --engine user}
			example=${example/sensor:.\/server/sensor:${ASTERISM%/src/cmd/asterism}/tests/unit/sensor/sensor-app}
			example=${example/own.events/$BATS_TEST_DIRNAME/../../catalogs/tcp.events}
			run bash -c "asterism() { \"$ASTERISM\" \"\$@\"; }; set -o pipefail; $example"
			[ "$status" = 0 ] || { echo "$command: $example: $output"; false; }
		done < <(sed -n '/^Examples:/,$p' <<<"$help" | grep -E '^  [^ ]')
	done
}

@test "explain: text, DOT that has a graph, JSON that is JSON" {
	run --separate-stderr -0 "$ASTERISM" explain slow.rule
	[[ ${lines[0]} == "rule slow (slow.rule:1)" ]]
	[[ $output == *"pool"*"16384 runs"*"MiB in the kernel"* ]]
	run --separate-stderr -0 "$ASTERISM" explain -f dot slow.rule pair.rule
	[ "$(grep -c '^digraph ' <<<"$output")" = 2 ]
	[ "$(grep -o '{' <<<"$output" | wc -l)" = "$(grep -o '}' <<<"$output" | wc -l)" ]
	[[ $output == *"s0 -> s1 "* && $output == *"s1 -> match "* ]]
	if command -v dot >/dev/null; then
		dot -Tsvg <<<"$output" >/dev/null
	fi
	"$ASTERISM" explain -f json slow.rule pair.rule | python3 -c 'import json, sys
rules = [json.loads(line) for line in sys.stdin]
assert [rule["rule"] for rule in rules] == ["slow", "pair"], rules
assert all(rule["pool"] == 16384 and rule["kernel_bytes"] > 16384 for rule in rules), rules'
}

@test "explain: what a pool takes in user space is told, too" {
	sed 's/$/ POOL 8388609/' slow.rule >large.rule
	"$ASTERISM" explain -f json large.rule | python3 -c 'import json, sys
rule = json.load(sys.stdin)
assert rule["kernel_bytes"] is None and "user space" in rule["where"], rule
# A run is its slots and some words of ours; chunks double, so no more than twice of that, and an index.
assert 8388609 * (rule["slot_bytes"] + 40) <= rule["user_space_bytes"] <= 8388609 * 400, rule'
	run -0 "$ASTERISM" explain large.rule
	[[ $output == *"executed   in user space"*"pool       8388609 runs, "*"GiB in user space"* ]]
}

@test "events: all, by part of a name, by glob, with fields; none is an error" {
	"$ASTERISM" events >all
	[ "$(wc -l <all)" -gt 700 ]
	grep -q '^sched_switch  ' all
	run -0 "$ASTERISM" events sys_enter
	[[ ${lines[0]} == "sys_enter "* ]]
	[ "$(printf '%s\n' "${lines[@]}" | grep -c '^sys_enter ')" = 1 ]
	run -0 "$ASTERISM" events 'sched_swit*'
	[ ${#lines[@]} = 1 ]
	run -0 "$ASTERISM" events enter_openat
	[[ ${lines[0]} == sys_enter_openat* ]]
	run -0 "$ASTERISM" events -v sched_switch
	[[ $output == *"from sched:sched_switch"*prev_comm*next_pid*i32*"thread id"* ]]
	# What is read only where a rule names it is shown, too.
	run -0 "$ASTERISM" events -v sys_enter_connect
	[[ $output == *$'\n    family '*$'\n    port '*$'\n    addr '*$'\n    fd.path '*$'\n    fd.peer '* ]]
	[[ $output != *v6_hi* ]]
	refused "asterism: error: unknown event type 'sched_swich'" events sched_swich
}
