#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Recordings that cannot be made: a clear sentence, the right status, the command does not run, nothing is left behind.

bats_require_minimum_version 1.5.0
load ../rig/recording

setup() {
	recording_setup
	echo 'RULE r PATTERN { sys_enter:a }' >r.rule
}

# `refused STATUS ARG...`: record fails like this, and neither ran the command nor left a trace.
refused() {
	run --separate-stderr -"$1" "$ASTERISM" record "${@:2}"
	[ -z "$output" ]
	[ ! -e ran ] && [ ! -e new ]
}

@test "no -o, nobody to observe, more than one" {
	refused 2 -- touch ran
	[ "${stderr_lines[0]}" = "asterism: error: no path was given for the trace" ]
	[ "${stderr_lines[1]}" = "help: -o DIR names a new directory" ]
	refused 2 -o new
	[ "${stderr_lines[0]}" = "asterism: error: no processes to observe were named" ]
	refused 2 -o new -a -- touch ran
	[ "${stderr_lines[0]}" = "asterism: error: '-- CMD', -p PID and -a exclude each other" ]
}

@test "a place that is taken, or is no directory, or has none around it" {
	mkdir taken
	: >taken/mine
	refused 2 -o taken -- touch ran
	[ "${stderr_lines[0]}" = "taken: error: the directory is not empty: a trace never overwrites files" ]
	[ "${stderr_lines[1]}" = "help: name a directory that does not exist, or empty it" ]
	[ "$(ls taken)" = mine ]
	: >file
	refused 2 -o file -- touch ran
	[[ $stderr == "file: error: "*"Not a directory" ]]
	[ -f file ]
	refused 2 -o missing/new -- touch ran
	[ "$stderr" = "missing/new: error: cannot create the directory: No such file or directory" ]
	refused 2 -o missing/new --flight -- touch ran
	[ "$stderr" = "missing/new: error: cannot create the directory: No such file or directory" ]
}

@test "unknown events and fields: the nearest name" {
	refused 2 -o new -e sys_entr -- touch ran
	[ "${stderr_lines[0]}" = "asterism: error: unknown event 'sys_entr'" ]
	[ "${stderr_lines[1]}" = "help: did you mean sys_enter?" ]
	refused 2 -o new -e sched_switch:prev_pidd -- touch ran
	[ "${stderr_lines[0]}" = "asterism: error: sched_switch has no field prev_pidd" ]
	[ "${stderr_lines[1]}" = "help: did you mean prev_pid?" ]
	refused 2 -o new -e 'nothing_*' -- touch ran
	[ "$stderr" = "asterism: error: no event matches 'nothing_*'" ]
	for text in "" , sys_enter, sys_enter: ,sys_enter :id sys_enter:id:arg0 sys_enter:id+ sys_enter:+id; do
		refused 2 -o new -e "$text" -- touch ran
		[[ $stderr == "asterism: error: "* ]]
	done
}

@test "options that do not go together, or have no effect" {
	refused 2 -o new --flight --max-size 1M -- touch ran
	[ "$stderr" = "asterism: error: --max-size does not apply to --flight, which keeps events in memory: use --ring" ]
	refused 2 -o new --last 1s -- touch ran
	[ "$stderr" = "asterism: error: --last needs snapshots: add --flight" ]
	refused 2 -o new --fail-on-match -- touch ran
	[ "$stderr" = "asterism: error: --fail-on-match needs rules that run: add --rules FILE" ]
	refused 2 -o new -f json -- touch ran
	[ "$stderr" = "asterism: error: -f needs rules that run, as it formats their matches: add --rules FILE" ]
	for option in "-e sys_enter" "--ring 1M" "--last 1s"; do
		run --separate-stderr -2 "$ASTERISM" run r.rule $option -- touch ran
		[ "$stderr" = "asterism: error: ${option% *} needs --snapshot DIR" ]
		[ ! -e ran ]
	done
}

@test "sizes of rings: the smallest is taken, the impossible refused" {
	run --separate-stderr -0 "$ASTERISM" record -o small --ring 1 -e sys_enter -- true
	[[ $stderr == "asterism: note: "*" events in "* ]]
	refused 2 -o new --ring 1T -- touch ran
	[ "$stderr" = "asterism: error: a ring may have at most 8 GiB per CPU" ]
	for size in 0 -1 x 1X 1e400; do
		refused 2 -o new --ring "$size" -- touch ran
		[[ ${stderr_lines[0]} == "asterism: error: --ring"* ]]
	done
}

@test "a command that does not exist, or cannot begin" {
	for how in "" --flight; do
		refused 2 -o new $how -- no-such-command
		[ "$stderr" = "asterism: error: command not found: 'no-such-command'" ]
		printf '#!/no/such/interpreter\n' >script
		chmod +x script
		refused 2 -o new $how -- ./script
		[ "$stderr" = "asterism: error: command not found: './script'" ]
	done
	# An empty directory that was there stays, and can be used again.
	mkdir mine
	run -2 "$ASTERISM" record -o mine -- ./script
	[ -z "$(ls mine)" ]
	run -0 "$ASTERISM" record -q -o mine -e sys_enter -- true
}

@test "processes that are gone, threads, asterism itself" {
	true &
	gone=$!
	wait $gone
	refused 2 -o new -p $gone
	[ "$stderr" = "asterism: error: process $gone does not exist" ]
	run --separate-stderr -2 sh -c 'exec "$0" record -o new -p $$' "$ASTERISM"
	[[ $stderr == *"a session does not observe itself"* ]]
	[ ! -e new ]
}

@test "rules that are wrong" {
	refused 2 -o new --rules missing.rule -- touch ran
	[[ $stderr == "missing.rule: error: "* ]]
	echo 'RULE r PATTERN { sys_entr:a }' >typo.rule
	refused 2 -o new --rules typo.rule -- touch ran
	[[ $stderr == "typo.rule:1:18: error: unknown event type 'sys_entr'"* ]]
}

@test "without privilege: one sentence, status 4" {
	chmod 777 .
	cp "$ASTERISM" asterism
	for how in "" --flight; do
		run --separate-stderr -4 setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all \
			--bounding-set=-all ./asterism record -o new $how -- touch ran
		[ -z "$output" ]
		[ "$stderr" = "asterism: error: observing the kernel needs the capabilities CAP_BPF and CAP_PERFMON (or root)" ]
		[ ! -e ran ] && [ ! -e new ]
	done
}

@test "a default recording as JSON lines is the recording: it can be shown and replayed" {
	"$ASTERISM" record -q -o t -- sh -c 'cat /etc/hostname >out; exec true'
	"$ASTERISM" dump -f json t >t.jsonl
	grep -q '"event":"descriptor_made"' t.jsonl
	# The order of fields is that of the catalog there.
	"$ASTERISM" dump -f json t.jsonl >again.jsonl
	python3 -c 'import json, sys; a, b = [[json.loads(line) for line in open(name)] for name in sys.argv[1:]]; sys.exit(a != b)' t.jsonl again.jsonl
	for input in t t.jsonl; do
		"$ASTERISM" replay -q -f json -r 'RULE r PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid] } RETURN { a.id }' "$input" >"$input.found"
	done
	cmp <(grep '"match"' t.found) <(grep '"match"' t.jsonl.found)
}

@test "--for-report records what reports look at besides what rules, or -e, ask for" {
	echo 'RULE r PATTERN { sys_enter_openat:a } RETURN { a.filename }' >open.rule
	for more in '--rules open.rule' '-e sys_enter_openat' '--rules open.rule -e sched_stat_runtime'; do
		rm -rf t
		# shellcheck disable=SC2086 # several options
		"$ASTERISM" record -q --for-report $more -o t -- cat /etc/hostname >matches
		for type in sys_enter_openat sched_switch sched_waking irq_handler_entry block_rq_issue thread_state; do
			grep -q "name = \"$type\"" t/metadata
		done
	done
	grep -q 'a.filename=' matches
}
