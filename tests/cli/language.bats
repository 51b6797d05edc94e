#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# docs/language.md and docs/language-card.md: the rules, patterns and modifiers that they show are right.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	docs="$BATS_TEST_DIRNAME/../../docs"
	cd "$BATS_TEST_TMPDIR"
}

# Its blocks that hold a rule of their own, each as a file.
blocks() {
	python3 - "$1" <<-'END'
		import re, sys
		for number, block in enumerate(re.findall(r"^```\n(.*?)^```$", open(sys.argv[1]).read(), flags=re.M | re.S)):
		    if re.search(r"^RULE \w+", block, flags=re.M):
		        open(f"{number}.rule", "w").write(block)
	END
}

# The codes in the first column of the table under a heading of the page, a line each.
column() {
	python3 - "$1" "$2" <<-'END'
		import re, sys
		part = open(sys.argv[1]).read().split(f"## {sys.argv[2]}\n")[1].split("\n## ")[0]
		for row in re.findall(r"^\| (.*?[^\\]) \|", part, flags=re.M):
		    for code in re.findall(r"`([^`]*)`", row):
		        print(code.replace("\\|", "|"))
	END
}

@test "rules" {
	for page in language language-card; do
		rm -f ./*.rule
		blocks "$docs/$page.md"
		[ "$(ls ./*.rule | wc -l)" -ge 1 ]
		for file in *.rule; do "$ASTERISM" check -q "$file"; done
	done
}

# TEXT is right; one more of them is.
right() {
	echo "$1" >one.rule
	"$ASTERISM" check -q one.rule
	count=$((count + 1))
}

events='EVENT A { x: u64 } EVENT B { x: u64 } EVENT C { x: u64 }'

@test "patterns" {
	count=0
	while read -r code; do
		case $code in
		'`WITHIN'* | WITHIN* | '*' | + | '?' | SKIP* | STRICT*) continue ;;
		'[A, ~B]') rest='WITHIN 1s' ;;
		*) rest= ;;
		esac
		right "$events RULE r PATTERN { $code } $rest"
	done < <(column "$docs/language-card.md" Patterns)
	[ "$count" -ge 9 ]
}

@test "conditions" {
	count=0
	while read -r code; do
		case $code in
		'a.id IN'* | 'a.comm'* | 'a.uid'*) pattern=sys_enter:a ;;
		'b.fd == a.ret') pattern='[sys_exit_openat:a, sys_enter_close:b]' ;;
		a.ret*) pattern=sys_exit:a ;;
		b.ret*) pattern=sys_exit_openat:b ;;
		a.flags*) pattern=sys_enter_openat:a ;;
		c.addr*) pattern=sys_enter_connect:c ;;
		b.ts*) pattern='[sys_enter:a, sys_exit:b]' ;;
		'[tid]') pattern='[sys_enter:a, sys_exit:b]' ;;
		a.len* | a.max*) pattern='sys_enter_read[=3]:a' ;;
		c.ts*) pattern='[sys_enter_read[]:a, sys_enter_close:c]' ;;
		*) continue ;;
		esac
		right "RULE r PATTERN { $pattern } WHERE { $code }"
	done < <(column "$docs/language-card.md" Conditions)
	[ "$count" -ge 12 ]
}

@test "modifiers" {
	count=0
	while read -r code; do
		code=${code/type(field = value)/made(x = 1)}
		code=${code/HISTOGRAM(value)/HISTOGRAM(b.ts - a.ts)}
		code=${code/POOL n PER KEY k PER PROCESS k/POOL 9 PER KEY 2 PER PROCESS 3}
		code=${code/A, B, C/sys_enter_openat, sys_exit_openat}
		right "EVENT made { x: u64 } RULE r STRICTPARTITION PATTERN { [sys_enter_openat:a, sys_exit_openat:b] } WHERE { [tid] } $code"
	done < <(column "$docs/language-card.md" Modifiers)
	[ "$count" -ge 14 ]
}
