#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# docs/studies: each at its smallest size. They compare what they found with other computations; a status of 0 says that it is equal.

bats_require_minimum_version 1.5.0

setup()
{
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	root=$(cd "$BATS_TEST_DIRNAME/../../.." && pwd)
	[ "$(id -u)" = 0 ] || skip "needs root"
	build=$(cd "$(dirname "$ASTERISM")/../.." && pwd)
	cd "$BATS_TEST_TMPDIR" || return
}

# `study NAME`: its table is in the file output, its files are in the folder out.
study()
{
	timeout 90 "$root/studies/$1" --quick --build "$build" -o out >output || { cat output; return 1; }
	[ -s "out/$1.csv" ]
	python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "out/$1.svg"
}

@test "web: requests of a rule, and in the worker, are those of wrk within 1 %" {
	for program in nginx wrk; do
		command -v $program >/dev/null || skip "needs $program"
	done
	[ "$(nproc)" -gt 1 ] || skip "needs two processors"
	study web
	[ "$(wc -l <out/web.csv)" = 3 ]
	grep -q '<polyline' out/web-rates.svg
}

@test "quantum: runs of the report are those of the switches, under each policy" {
	study quantum
	[ "$(cut -d, -f1 out/quantum.csv | tail -n +2)" = $'usual\nround robin\nnice 0 5 10' ]
}

@test "recorder: what it counts is in the traces, losses of a small ring aside" {
	study recorder
	[ "$(cut -d, -f1 out/recorder-rings.csv | tail -n +2 | tr '\n' ' ')" = "64K 16M " ]
}

@test "conditions: each kind has its figure, and each round is in the histogram" {
	study conditions
	[ "$(wc -l <out/conditions.csv)" = 11 ]
}

@test "a study that cannot be says what is missing, and fails" {
	mkdir few
	ln -s "$(python3 -c 'import sys; print(sys.executable)')" few/python3
	ln -s "$(command -v env)" few/env
	run -1 --separate-stderr env PATH="$PWD/few" "$root/studies/web" --quick --build "$build" -o out
	[[ $stderr == *"missing: nginx is not installed"*"to do: "* ]]
	run -1 --separate-stderr setpriv --reuid 65534 --clear-groups "$root/studies/quantum" --quick --build "$build" -o out
	[[ $stderr == *"missing: it needs root"* ]]
}
