#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# AGGREGATE of a running system: what the kernel's programs add up is what a recording of the same comes to, and what
# others count.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
}

# What a Python expression over the tables' lines and the statistics in $output comes to.
ask() {
	python3 -c '
import json, sys
lines = [json.loads(line) for line in sys.stdin if line.startswith("{")]
rows = [line for line in lines if "by" in line]
other = sum(line.get("other", 0) for line in lines)
stats = ([line["stats"] for line in lines if "stats" in line] or [None])[-1]
added = sum(row["COUNT"] for row in rows) + other
print(eval(sys.argv[1]))' "$1" <<<"$output"
}

says() {
	echo "$1: $(ask "$1")"
	[ "$(ask "$1")" = True ]
}

tables() { grep '^{"aggregate"' <<<"$output"; }

@test "an ordinary program's calls are added up in the kernel, as often as it makes them" {
	cat >dd.rule <<-'END'
		RULE dd PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid], a.comm == "dd", a.id IN { 0, 1 } }
		    AGGREGATE { COUNT, SUM(b.ret) AS bytes, MIN(b.ret) AS least, MAX(b.ret) AS most, AVG(b.ret) AS mean,
		                HISTOGRAM(b.ret) AS sizes } BY { a.id, comm }
	END
	run -0 "$ASTERISM" explain dd.rule
	[[ "$output" == *"matches are added up by the kernel"* ]]
	run --separate-stderr -0 "$ASTERISM" run -f json dd.rule -- dd if=/dev/zero of=/dev/null bs=7 count=1000 status=none
	says '[(r["COUNT"], r["bytes"], r["least"], r["most"], r["mean"], r["sizes"]["buckets"]) for r in rows
		if r["by"]["a.id"] == 1] == [(1000, 7000, 7, 7, 7, [[7, 7, 1000]])]'
	says 'stats["lost"] == 0 and stats["rules"]["dd"]["matches"] == added > 2000'
}

@test "types that one program deals with do not get into each other's way" {
	run --separate-stderr -0 "$ASTERISM" run -f json -r 'RULE either PATTERN { [sys_enter:a, (sys_exit_write:b | sys_exit_read:c)] }
		WHERE { [tid], a.comm == "dd", a.id IN { 0, 1 } }
		AGGREGATE { COUNT, SUM(b.ret) AS wrote, SUM(c.ret) AS got } BY { a.id, b.ret, c.ret }' \
		-- dd if=/dev/zero of=/dev/null bs=7 count=500 status=none
	says '[(r["by"]["a.id"], r["COUNT"], r["wrote"], r["got"]) for r in rows if 7 in r["by"].values()] == [
		(0, 500, None, 3500), (1, 500, 3500, None)]'
}

@test "as many as strace counts" {
	command -v strace >/dev/null || skip "needs strace"
	echo text >file
	for try in 1 2 3; do # strace -c itself crashes at times, with status 139
		! strace -c -o counts cat file file file || break
	done
	awk '$NF == "read" { print $4 }' counts >want
	run --separate-stderr -0 "$ASTERISM" run -f json -r 'RULE reads PATTERN { [sys_enter:a, sys_exit:b] }
		WHERE { [tid], a.comm == "cat", a.id == 0 } AGGREGATE { COUNT }' -- cat file file file
	[ "$(ask added)" = "$(cat want)" ]
}

@test "live, and a replay of a recording of the same, come to the same" {
	cat >calls.rule <<-'END'
		RULE calls PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid], a.comm IN { "ls", "cat", "dd" } }
		    AGGREGATE { COUNT, SUM(b.ret), MIN(b.ret), MAX(b.ret), AVG(b.ret) AS mean, HISTOGRAM(b.ret) AS how,
		                QUANTILES(b.ret) AS results } BY { a.id, comm, pid }
	END
	run --separate-stderr -0 "$ASTERISM" record -q -o recording -e sys_enter,sys_exit -- "$ASTERISM" run -f json calls.rule -- \
		sh -c 'ls / >/dev/null; cat /etc/passwd >/dev/null; dd if=/dev/zero of=/dev/null bs=100 count=100 status=none; cat /none; true'
	says 'stats["lost"] == 0'
	tables >live
	[ "$(wc -l <live)" -gt 30 ]
	for engine in user kernel; do
		run --separate-stderr -0 "$ASTERISM" replay -f json --engine "$engine" calls.rule recording
		tables | diff live -
	done
}

@test "keys beyond POOL are told as other, and none is missing" {
	cat >full.rule <<-'END'
		RULE full PATTERN { sys_enter:a } WHERE { a.comm == "sh" } POOL 3 AGGREGATE { COUNT } BY { a.id }
	END
	run --separate-stderr -0 "$ASTERISM" run -f json full.rule -- sh -c 'for i in 1 2 3 4 5 6 7 8; do cd /; umask 0; test -e /etc; done'
	says 'len(rows) == 3 and other > 0 and added == stats["rules"]["full"]["matches"] and stats["lost"] == 0'
	run --separate-stderr -0 "$ASTERISM" run full.rule -- sh -c 'for i in 1 2 3 4 5 6 7 8; do cd /; umask 0; test -e /etc; done'
	[[ "$output" == *"other"* ]]
}

@test "Ctrl-C prints the table" {
	"$ASTERISM" run -f json -r 'RULE s PATTERN { sys_enter:a } WHERE { a.comm == "sleep" } AGGREGATE { COUNT } BY { a.id }' -- \
		sh -c 'touch started; for i in $(seq 600); do sleep 0.1; done' >out 2>err &
	observer=$!
	for _ in $(seq 200); do [ -e started ] && break; sleep 0.1; done
	sleep 1
	kill -INT "$observer"
	wait "$observer" || true
	output=$(cat out)
	says 'len(rows) > 5 and added == stats["rules"]["s"]["matches"]'
}

@test "EVERY reports totals so far, and DELTA what has come since" {
	loop='for i in $(seq 12); do cat /dev/null; sleep 0.1; done'
	rule='RULE c PATTERN { sys_enter_openat:a } WHERE { a.comm == "cat" } AGGREGATE { COUNT, HISTOGRAM(a.flags) AS h } EVERY 200ms'
	run --separate-stderr -0 "$ASTERISM" run -f json -r "$rule" -- sh -c "$loop"
	says 'len(rows) > 2 and [r["COUNT"] for r in rows] == sorted(r["COUNT"] for r in rows)'
	says 'rows[-1]["COUNT"] == stats["rules"]["c"]["matches"] > 0'
	says 'all(r["COUNT"] == sum(n for _, _, n in r["h"]["buckets"]) for r in rows)'
	run --separate-stderr -0 "$ASTERISM" run -f json -r "$rule DELTA" -- sh -c "$loop"
	says 'len(rows) > 2 and added == stats["rules"]["c"]["matches"] > 0'
	says 'all(r["COUNT"] == sum(n for _, _, n in r["h"]["buckets"]) for r in rows)'
}

@test "an excepted match is not added, and a rule that tells its matches adds them all the same" {
	cat >two.rule <<-'END'
		RULE quiet PATTERN { sys_enter_write:w } WHERE { w.comm == "dd" } EXCEPT { w.count == 5 } AGGREGATE { COUNT } BY { w.count }
		RULE told PATTERN { sys_enter_write:w } WHERE { w.comm == "dd", w.count == 5 } AGGREGATE { COUNT } BY { w.count }
		    RETURN { w.count }
	END
	run -0 "$ASTERISM" check two.rule
	[[ "$output" == *"rule told: OK (in the kernel); the kernel sends every match to user space to be aggregated, because each match is reported as well"* ]]
	run --separate-stderr -0 "$ASTERISM" run -f json two.rule -- dd if=/dev/zero of=/dev/null bs=5 count=20
	says '[(r["aggregate"], r["COUNT"]) for r in rows if r["by"]["w.count"] == 5] == [("told", 20)]'
	[ "$(grep -c '^{"match":"told"' <<<"$output")" = 20 ]
	says 'stats["rules"]["quiet"]["excepted"] == 20'
}

@test "what the kernel's tables have no room for is delivered, and added all the same" {
	cat >large.rule <<-'END'
		EVENT e { name: string, n: i64 }
		RULE keys PATTERN { e:a } POOL 20000 AGGREGATE { COUNT, SUM(a.n) } BY { a.name }
		RULE buckets PATTERN { e:a } POOL 16 AGGREGATE { COUNT, HISTOGRAM(a.n * a.n * a.n) AS cubes } BY { cpu }
		RULE intervals PATTERN { e:a } POOL 2000 AGGREGATE { COUNT, MAX(a.n) } BY { a.n } EVERY 5us DELTA
	END
	python3 -c '
for i in range(25000):
    n = i * 40503 % 65536 - 32768
    print("{\"event\":\"e\",\"ts\":%d,\"cpu\":%d,\"pid\":1,\"tid\":1,\"comm\":\"c\",\"name\":\"%0200d\",\"n\":%d}" % (i, i % 20, i % 22000, n))' >events.jsonl
	run --separate-stderr -0 "$ASTERISM" explain --plan large.rule
	[[ "$output" == *"keys of 264 bytes"* && "$output" != *"20000 keys"* ]]
	run --separate-stderr -0 "$ASTERISM" replay -f json large.rule events.jsonl
	tables >engine
	run --separate-stderr -0 "$ASTERISM" replay -f json --engine kernel large.rule events.jsonl
	says 'stats["lost"] == 0'
	tables >kernel
	cmp engine kernel
}

@test "the kernel adds up what the shipped overviews show" {
	for rule in "$BATS_TEST_DIRNAME"/../../../rules/*/*.rule; do
		grep -q 'AGGREGATE' "$rule" || continue
		run -0 --separate-stderr "$ASTERISM" explain --plan "$rule"
		[[ $output == *"is aggregated in the kernel"* && $output != *"sent to user space and aggregated there"* ]] || { echo "$rule"; return 1; }
	done
}
