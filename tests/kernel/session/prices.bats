#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# explain --trace measures what rules cost on this machine, once, and keeps it.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
	export ASTERISM_PRICES=$PWD/prices
	printf '{"event":"A","ts":%d}\n' 1 500000000 1000000001 >events.jsonl
}

explain() {
	run --separate-stderr -0 "$ASTERISM" explain "$@" --trace events.jsonl -r 'EVENT A { } RULE r PATTERN { [A:a, A:b] }'
}

@test "prices are measured at the first use, and kept" {
	explain
	[ "$stderr" = "asterism: note: measured what rules cost on this machine, and keep it in $PWD/prices" ]
	[[ $output == *"prices measured on this machine"* ]]
	[ "$(wc -l <prices)" = 7 ]
	first=$output
	explain
	[ -z "$stderr" ]
	[ "$output" = "$first" ]
	explain -f json
	[[ $output == *'"cost":{"prices":"measured",'* ]]
}

@test "what was kept of another kernel, or is damaged, is measured again" {
	explain
	sed -i '1s/.*/another kernel/' prices
	explain
	[[ $stderr == *"measured what rules cost"* ]]
	sed -i '3s/.*/-1/' prices
	explain
	[[ $stderr == *"measured what rules cost"* ]]
}

@test "a file that cannot be written is named; the table serves where it is asked for" {
	ASTERISM_PRICES=$PWD/none/prices explain
	[[ $stderr == *"but cannot keep it in $PWD/none/prices" ]]
	ASTERISM_PRICES=table explain
	[ -z "$stderr" ]
	[[ $output == *"prices from a table"* ]]
}

@test "what a call takes with a rule is what was predicted, within a factor of three" {
	explain
	cat >calls.py <<-'END'
		import ctypes, time
		libc, least = ctypes.CDLL(None), 1e9
		for _ in range(20):
		    begin = time.monotonic_ns()
		    for _ in range(5000):
		        libc.getppid()
		    least = min(least, (time.monotonic_ns() - begin) / 5000)
		print(least)
	END
	alone=$(python3 calls.py)
	with=$("$ASTERISM" run -q -r 'RULE s PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid], b.ts - a.ts > 1h }' -- python3 calls.py)
	python3 - "$alone" "$with" prices <<-'END'
		import sys
		hook, guard, opened, step = map(float, open(sys.argv[3]).read().splitlines()[1:5])
		said, found = 2 * hook + guard + opened + step, float(sys.argv[2]) - float(sys.argv[1])
		assert said / 3 < found < said * 3, (said, found)
	END
}
