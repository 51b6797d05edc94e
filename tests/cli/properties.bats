#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What rules say of their matches to people, and what --min-severity leaves out.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	cd "$BATS_TEST_TMPDIR"
	cat >two.rule <<-'END'
		EVENT A { x: u32 }
		RULE plain PATTERN { A:a } RETURN { a.x }
		RULE loud PATTERN { A:a } WHERE { a.x > 1 } RETURN { a.x } SEVERITY high TAGS { "T1059" } DESCRIPTION "x is large"
	END
	for x in 1 2; do
		echo "{\"event\":\"A\",\"ts\":$x,\"cpu\":0,\"pid\":1,\"tid\":1,\"x\":$x}"
	done >events
	head -1 events >small
}

@test "matches below --min-severity are left out, counted and told" {
	run --separate-stderr -0 "$ASTERISM" replay --min-severity medium two.rule events
	[ "${#lines[@]}" = 1 ]
	[[ "${lines[0]}" == *" loud   high  "* ]]
	[[ "$stderr" == *"1 match, 2 events"* ]]
	[[ "$stderr" == *"2 matches of rules below --min-severity medium: counted, not shown"* ]]
}

@test "what is left out does not fail with --fail-on-match" {
	run -1 "$ASTERISM" replay --fail-on-match two.rule small
	run -0 "$ASTERISM" replay --fail-on-match --min-severity low two.rule small
	run -1 "$ASTERISM" replay --fail-on-match --min-severity high two.rule events
}

@test "a level that is none" {
	run --separate-stderr -2 "$ASTERISM" replay --min-severity loud two.rule events
	[[ "$stderr" == *"--min-severity"*"loud"* ]]
}

@test "an image keeps what its rules say" {
	"$ASTERISM" compile two.rule -o two.astc
	[ "$("$ASTERISM" replay -f json two.astc events | head -3)" = "$("$ASTERISM" replay -f json two.rule events | head -3)" ]
	[[ "$("$ASTERISM" replay -f json two.astc events)" == *'"tainted":false,"severity":"high","tags":["T1059"],"description":"x is large"}'* ]]
}

@test "every shipped rule about security has a severity and an id of ATT&CK" {
	run -0 "$ASTERISM" rules -f json
	run -0 python3 -c '
import json, re, sys
for line in sys.stdin:
    entry = json.loads(line)
    tags = entry.get("tags", [])
    if not entry.get("severity"):
        print(entry["name"], "has no severity")
    if entry["kind"] == "security" and not any(re.fullmatch(r"T[0-9]{4}([.][0-9]{3})?", tag) for tag in tags):
        print(entry["name"], "has no id")
' <<<"$output"
	[ -z "$output" ]
	run -0 "$ASTERISM" rules reverse-shell
	[[ "$output" == *$'\nSeverity: critical\nTags: T1059.004\n'* ]]
}

@test "text shows so many matches of a rule in a program, and counts the others" {
	for x in $(seq 1 2500); do
		echo "{\"event\":\"A\",\"ts\":$x,\"cpu\":0,\"pid\":1,\"tid\":1,\"comm\":\"p$((x % 2))\",\"x\":1}"
	done >many
	run --separate-stderr -0 "$ASTERISM" replay two.rule many
	[ "$(grep -c 'a.x=1' <<<"$output")" = 40 ]
	[[ "$output" == *"... further matches of plain in p1 are only counted (--limit)"* ]]
	[[ "$output" == *$'\n+1,230 more of plain in p0'* && "$output" == *$'\n+1,230 more of plain in p1'* ]]
	[[ "$stderr" =~ plain\ +p0\ +1,250 && "$stderr" == *"2500 matches"* ]]
	run --separate-stderr -0 "$ASTERISM" replay --limit 2000 two.rule many
	[ "$(wc -l <<<"$output")" = 2500 ]
}

@test "JSON is complete, unless --limit is given, which its statistics say" {
	for x in 1 2 3 4 5; do head -1 events; done >five
	[ "$("$ASTERISM" replay -f json two.rule five | wc -l)" = 6 ]
	run --separate-stderr -0 "$ASTERISM" replay -f json --limit 2 two.rule five
	[ "${#lines[@]}" = 3 ]
	[[ "${lines[2]}" == *'"plain":{"matches":5,'*'"beyond_limit":3}'* && "${lines[2]}" != *'"loud":{'*'beyond_limit'* ]]
}

@test "@default is @all but for the entries whose README says why not" {
	mkdir -p library/quiet library/loud
	echo 'EVENT A { x: u32 } RULE quiet PATTERN { A:a }' >library/quiet/quiet.rule
	echo 'EVENT A { x: u32 } RULE noisy PATTERN { A:a }' >library/loud/loud.rule
	printf 'Finds all.\n\nKind: time\nNot in @default: it informs\n' >library/loud/README.md
	export ASTERISM_RULES=$PWD/library
	run -0 "$ASTERISM" check @default
	[[ "$output" == *"rule quiet: OK (in the kernel)"* && "$output" != *noisy* ]]
	run -0 "$ASTERISM" check @all
	[[ "$output" == *"rule quiet: OK (in the kernel)"* && "$output" == *"rule noisy: OK (in the kernel)"* ]]
}
