#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What it takes the kernel to accept the programs of rules: their number, and the instructions that its verifier follows.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	cd "$BATS_TEST_TMPDIR"
	mkfifo begun over
	needs_asterism run -q @fork-bomb -- true
}

# loaded RULE...: "NUMBER FOLLOWED", programs of a session with these rules, and instructions followed for them.
loaded() {
	"$ASTERISM" run -q "$@" -- sh -c 'echo >begun; read line <over' >/dev/null &
	read -r <begun
	cat /proc/$!/fdinfo/* 2>/dev/null |
		awk '/^prog_type/ { programs++ } /^verified_insns/ { followed += $2 } END { print programs, followed }'
	echo >over
	wait $!
}

@test "what the verifier has to follow grows with the rules, and not with what they have in common" {
	plain='s/^PARAM .*//; s/WITHIN window/WITHIN 2s/; s/WITHIN children_window/WITHIN 1s/; s/>=children/>=500/'
	sed "$plain" "$ASTERISM_RULES/fork-bomb/fork-bomb.rule" >once.rule
	sed -E 's/^RULE [a-z_]+/&_again/' once.rule | cat once.rule - >twice.rule
	read -r _ once <<<"$(loaded once.rule)"
	read -r _ twice <<<"$(loaded twice.rule)"
	echo "$once once, $twice twice"
	[ "$once" -gt 0 ]
	[ "$twice" -lt $((once * 13 / 5)) ]
}
