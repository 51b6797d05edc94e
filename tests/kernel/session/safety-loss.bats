#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What is lost in a live session is counted, told and marked.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	cd "$BATS_TEST_TMPDIR"
	echo 'RULE each PATTERN { sys_enter:a } RETURN { a.id AS id }' >each.rule
	needs_asterism run -q each.rule -- true
	cat >calls.py <<-'END'
		import os, sys
		for i in range(int(sys.argv[1])):
		    os.sched_get_priority_max(0)
		try:
		    os.close(987)
		except OSError:
		    pass
		sys.exit(int(sys.argv[2]))
	END
	pool='RULE waits PATTERN { [sys_enter_sched_get_priority_max:a, sys_enter_close:b] } WHERE { [tid], b.fd == 987 } POOL 100'
}

# The value of a counter in the statistics line on standard input.
counter() {
	tail -n 1 | python3 -c 'import json, sys
value = json.load(sys.stdin)["stats"]
for key in sys.argv[1:]:
    value = value[key]
print(value)' "$@"
}

@test "matches that find no room: counted, told, status 3" {
	run --separate-stderr "$ASTERISM" run -f json -o out each.rule -- \
		bash -c 'kill -STOP $PPID; python3 calls.py 100000 0; kill -CONT $PPID'
	[ "$status" = 3 ]
	matches=$(grep -c '"match":"each"' out)
	[ "$(counter rules each matches <out)" = "$matches" ]
	lost=$(counter rules each lost <out)
	[ "$lost" -gt 1000 ]
	[ "$(counter lost <out)" = "$lost" ]
	[ "$(counter rules each pool_exhausted <out)" = 0 ]
	# Every event of this rule is a match: what was not reported was counted.
	[ $((matches + lost)) = "$(counter events <out)" ]
	[[ $stderr == *"warning: "*" lost"* && $stderr == *"rule each lost $lost "* ]]
}

@test "a full pool: counted per rule, told with the remedy, status 3" {
	echo "$pool" >pool.rule
	run --separate-stderr -3 "$ASTERISM" run -f json -o out pool.rule -- python3 calls.py 1000 0
	[ "$(counter rules waits runs_live_max <out)" = 100 ]
	[ "$(counter rules waits matches <out)" = 100 ]
	refused=$(counter rules waits pool_exhausted <out)
	[ "$(counter rules waits runs_opened <out)" = 100 ]
	[ "$refused" = 900 ]
	[ "$(counter lost <out)" = "$refused" ]
	[[ $stderr == *"rule waits lost $refused runs: its pool of 100 was full"* ]]
	[[ $stderr == *"POOL n"* ]]
}

@test "a full pool is told at once, whether runs are refused or give way; LATEST needs no places" {
	for full in REFUSE REPLACE; do
		echo "$pool $full" >pool.rule
		"$ASTERISM" run -f json -o out pool.rule -- sh -c 'python3 calls.py 1000 0
			for i in $(seq 300); do ! grep -q \"notice\" out || break; sleep 0.1; done; cp out early' 2>err || [ $? = 3 ]
		run cat early
		[ "$full" = REPLACE ] || [[ $output == *'{"notice":"pool","rule":"waits","refused":900,"replaced":0}'* ]]
		[ "$full" = REFUSE ] || [[ $output == *'{"notice":"pool","rule":"waits","refused":0,"replaced":900}'* ]]
	done
	[[ $(cat err) == *"rule waits ended its oldest run 900 times: its pool of 100 was full"* ]]
	[ "$(counter rules waits matches <out)" = 100 ]
	[ "$(counter rules waits lost <out)" = 0 ]
	echo "${pool/POOL 100/LATEST}" >pool.rule
	run --separate-stderr "$ASTERISM" run -f json -o out pool.rule -- python3 calls.py 1000 0
	[ "$status" = 0 ]
	[ "$(grep -c notice out)" = 0 ]
	[ "$(counter rules waits matches <out)" = 1 ]
	[ "$(counter rules waits replaced <out)" = 999 ]
}

@test "loss outranks the status of the command" {
	echo "$pool" >pool.rule
	run -3 "$ASTERISM" run -q pool.rule -- python3 calls.py 1000 7
	run -7 "$ASTERISM" run -q pool.rule -- python3 calls.py 10 7
}

@test "ON LOSS decides what becomes of the runs that were open" {
	for loss in TAINT DISCARD KEEP; do
		# A refused run would have dropped the others with its match: those of its key depend on it.
		echo "$pool AFTER MATCH DROP ON LOSS $loss" >pool.rule
		run -3 "$ASTERISM" run -q -f json -o $loss pool.rule -- python3 calls.py 1000 0
	done
	[ "$(grep -c '"match":.*"tainted":true' TAINT)" = 100 ]
	# Every 101st is refused, and ends the hundred before it.
	[ "$(counter rules waits runs_opened <DISCARD)" = 991 ]
	[ "$(counter rules waits pool_exhausted <DISCARD)" = 9 ]
	[ "$(grep -c '"match":.*"tainted":false' DISCARD)" = 91 ]
	[ "$(grep -c '"match":.*"tainted":false' KEEP)" = 100 ]
}

@test "without loss nothing is marked and nothing is said" {
	echo "$pool" >pool.rule
	run --separate-stderr -0 "$ASTERISM" run -f json pool.rule -- python3 calls.py 50 0
	[ "$(grep -c '"tainted":false' <<<"$output")" = 50 ]
	[[ $output != *'"tainted":true'* ]]
	[ "$(counter lost <<<"$output")" = 0 ]
	[ -z "$stderr" ]
}
