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

# What others do meanwhile can make all measurements of one try useless; it says so, and the next one measures again.
explain() {
	for ((try = 0; try < 10; try++)); do
		explain_once "$@"
		[[ $stderr == *"cannot measure"* ]] || return 0
	done
	false
}

explain_once() {
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
