#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What the command line says when it is used well and badly.

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
}

@test "no arguments: help on standard error, status 2" {
	run --separate-stderr -2 "$ASTERISM"
	[ -z "$output" ]
	[[ $stderr == *"Usage: asterism COMMAND"* ]]
}

@test "--help and help list every command on standard output" {
	for form in --help -h help; do
		run --separate-stderr -0 "$ASTERISM" $form
		[ -z "$stderr" ]
		for command in run replay check compile explain events; do
			[[ $output == *"  $command "* ]]
		done
	done
}

@test "every command has a manual page, and no page is of another" {
	run --separate-stderr -0 "$ASTERISM" help
	sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' <<<"$output" | sort >commands
	sed -n "/^foreach command/,/\]/p" "$BATS_TEST_DIRNAME/../../man/meson.build" | grep -o "'[a-z]*'" | tr -d "'" >pages
	[ -s commands ]
	diff commands pages
}

@test "--version" {
	run -0 "$ASTERISM" --version
	[[ $output =~ ^asterism\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "every command has help with its options" {
	for command in run replay check compile explain events; do
		run --separate-stderr -0 "$ASTERISM" $command --help
		[[ ${lines[0]} == "Usage: asterism $command "* ]]
		[[ $output == *"--help"* && $output == *"--color"* ]]
	done
}

@test "an unknown command: the nearest one is named, status 2" {
	run --separate-stderr -2 "$ASTERISM" chekc pair.rule
	[ -z "$output" ]
	[ "${stderr_lines[0]}" = "asterism: error: unknown command 'chekc'" ]
	[ "${stderr_lines[1]}" = "help: did you mean 'asterism check'?" ]
}

@test "an unknown option: the nearest one is named, status 2" {
	run --separate-stderr -2 "$ASTERISM" replay --fromat=json pair.rule pair.jsonl
	[ "${stderr_lines[0]}" = "asterism: error: 'asterism replay' has no option --fromat=json" ]
	[ "${stderr_lines[1]}" = "help: did you mean --format?" ]
	run --separate-stderr -2 "$ASTERISM" check -Z pair.rule
	[[ ${stderr_lines[0]} == *"has no option -Z" ]]
}

@test "a value that is none of the choices" {
	run --separate-stderr -2 "$ASTERISM" replay -f jsn pair.rule pair.jsonl
	[ "${stderr_lines[0]}" = "asterism: error: --format cannot be 'jsn'" ]
	[ "${stderr_lines[1]}" = "help: did you mean 'json'?" ]
}

@test "a missing value, a value too many, a missing operand" {
	run --separate-stderr -2 "$ASTERISM" replay pair.rule pair.jsonl -o
	[[ ${stderr_lines[0]} == *"--output needs a value: FILE" ]]
	run --separate-stderr -2 "$ASTERISM" check --quiet=yes pair.rule
	[[ ${stderr_lines[0]} == *"--quiet takes no value" ]]
	run --separate-stderr -2 "$ASTERISM" check
	[[ ${stderr_lines[0]} == *"needs {FILE | -r TEXT}..." ]]
}

@test "run: exactly one thing is observed" {
	run --separate-stderr -2 "$ASTERISM" run pair.rule
	[[ ${stderr_lines[0]} == *"no processes to observe were named" ]]
	run --separate-stderr -2 "$ASTERISM" run pair.rule -a -p 1
	[[ ${stderr_lines[0]} == *"exclude each other"* ]]
	run --separate-stderr -2 "$ASTERISM" run pair.rule --
	[[ ${stderr_lines[0]} == *"a command must follow"* ]]
	run --separate-stderr -2 "$ASTERISM" run pair.rule -a --for 10x
	[[ ${stderr_lines[0]} == *"invalid duration"* ]]
	run --separate-stderr -2 "$ASTERISM" run pair.rule -p zero
	[[ ${stderr_lines[0]} == *"is not a PID"* ]]
}

@test "check: a good file, and quietly" {
	run --separate-stderr -0 "$ASTERISM" check pair.rule
	[ "$output" = "pair.rule:3: rule pair: OK (in the kernel)" ]
	[ -z "$stderr" ]
	run --separate-stderr -0 "$ASTERISM" check -q pair.rule
	[ -z "$output$stderr" ]
}

@test "check: rules from standard input" {
	run --separate-stderr -0 "$ASTERISM" check - <pair.rule
	[ "$output" = "<stdin>:3: rule pair: OK (in the kernel)" ]
}

@test "files that cannot be read: a sentence each, status 2" {
	mkdir folder
	run --separate-stderr -2 "$ASTERISM" check missing.rule
	[ "$stderr" = "missing.rule: error: no such file" ]
	run --separate-stderr -2 "$ASTERISM" check folder
	[ "$stderr" = "folder: error: this is a directory, not a file"$'\n'"help: name a file in this directory" ]
	run --separate-stderr -2 "$ASTERISM" replay pair.rule missing.jsonl
	[ "$stderr" = "missing.jsonl: error: no such file" ]
	run --separate-stderr -2 "$ASTERISM" replay pair.rule folder
	[ "$stderr" = "folder: error: this directory is not a trace: it has no metadata" ]
}

@test "an error shows place, line, mark and what would be right" {
	printf 'RULE r PATTERN {\n\t[sys_entr:a, sys_exit:b]\n}\n' >bad.rule
	run --separate-stderr -2 "$ASTERISM" check bad.rule
	[ -z "$output" ]
	[[ ${stderr_lines[0]} == "bad.rule:2:3: error: "*sys_entr* ]]
	[ "${stderr_lines[1]}" = "    2 |         [sys_entr:a, sys_exit:b]" ]
	[ "${stderr_lines[2]}" = "      |          ^~~~~~~~" ]
	[[ ${stderr_lines[3]} == "help: "*sys_enter* ]]
}

@test "colours: only when asked for or on a terminal, never with NO_COLOR" {
	run --separate-stderr -2 "$ASTERISM" check --color always missing.rule
	[[ $stderr == *$'\033['* ]]
	run --separate-stderr -2 "$ASTERISM" check --color auto missing.rule
	[[ $stderr != *$'\033['* ]]
	if command -v script >/dev/null; then
		run script -qec "$ASTERISM check missing.rule" /dev/null
		[[ $output != *$'\033['* ]]
		run script -qec "env -u NO_COLOR TERM=xterm $ASTERISM check missing.rule" /dev/null
		[[ $output == *$'\033['* ]]
		run script -qec "env -u NO_COLOR TERM=xterm $ASTERISM check --color never missing.rule" /dev/null
		[[ $output != *$'\033['* ]]
	fi
}

@test "what is said of failures is one table" {
	docs="$(dirname "$ASTERISM")/asterism-docs"
	[ -x "$docs" ] || skip "asterism-docs is not built"
	"$docs" failures >table
	[ "$(wc -l <table)" -gt 8 ]
	diff table <(grep '^|' "$BATS_TEST_DIRNAME/../../docs/failures.md")
	"$ASTERISM" help failures >text
	for command in run record; do
		"$ASTERISM" $command --help | grep -qF "$(sed -n 1p text)"
	done
}
