#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# `CALL Ask` from the outside: who is asked, what answers mean, what is told. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	: "${PLANT:=$BATS_TEST_DIRNAME/../../../build/tests/kernel/plant}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -x "$PLANT" ] || skip "$PLANT is not built"
	cd "$BATS_TEST_TMPDIR"
	rule 'Ask(10s)'
}

# A rule that asks after getpid, in the words given.
rule() {
	printf 'SYNCHRONOUS RULE ask PATTERN { sys_exit_getpid:b } RETURN { b.ret AS r } DO { CALL %s }\n' "$1" >ask.rule
}

# A command that answers with the status given, and keeps what it got.
answerer() {
	printf '#!/bin/sh\ncat >>input; env | grep ^ASTERISM_ | sort >>environment\nexit %s\n' "$1" >answerer
	chmod +x answerer
}

asked() {
	run --separate-stderr "$ASTERISM" run -f json --allow-actions "$@" ask.rule -- "$PLANT" calls pid gid pid
}

@test "status 0 is CONTINUE" {
	answerer 0
	asked --ask ./answerer
	[ "$status" = 0 ]
	[ ${#lines[@]} = 3 ]
	[[ ${lines[0]} == *'"calls":[{"function":"Ask","args":[10000000000],"verdict":"continue","by":"answer"}],"time":"'* ]]
	[[ ${lines[1]} == *'"verdict":"continue","by":"answer"'* ]]
}

@test "status 1 is ABORT" {
	answerer 1
	asked --ask ./answerer
	[ "$status" = 137 ]
	[ ${#lines[@]} = 2 ]
	[[ ${lines[0]} == *'"verdict":"abort","by":"answer"'* ]]
}

@test "ABORT may be another signal" {
	rule 'Ask(10s, "CONTINUE", "SIGUSR2")'
	answerer 1
	asked --ask ./answerer
	[ "$status" = 140 ]
}

@test "any other status leaves it to the default" {
	answerer 2
	asked --ask ./answerer
	[ "$status" = 0 ]
	[[ ${lines[0]} == *'"verdict":"continue","by":"default"'* ]]
	rule 'Ask(10s, "ABORT")'
	asked --ask ./answerer
	[ "$status" = 137 ]
	[[ ${lines[0]} == *'"verdict":"abort","by":"default"'* ]]
}

@test "a command that is late is killed, and one that cannot be run is no answer" {
	rule 'Ask(100ms)'
	asked --ask 'sleep 1000'
	[ "$status" = 0 ]
	[[ ${lines[1]} == *'"verdict":"continue","by":"late"'* ]]
	run ! pgrep -fx 'sleep 1000'
	asked --ask ./no-such-command
	[ "$status" = 0 ]
	[[ ${lines[1]} == *'"verdict":"continue","by":"default"'* ]]
}

@test "the command gets the match and its words, without a shell" {
	answerer 0
	asked --ask './answerer ;touch $HOME'
	[ "$status" = 0 ]
	[[ $(head -1 input) == '{"match":"ask",'*'"comm":"plant"'* ]]
	grep -qx ASTERISM_RULE=ask environment
	grep -qx ASTERISM_COMM=plant environment
	grep -qx ASTERISM_DEFAULT=CONTINUE environment
	grep -qE '^ASTERISM_PID=[0-9]+$' environment
	grep -qE '^ASTERISM_LIMIT_MS=9[0-9]{3}$' environment
	[ ! -e ';touch' ]
}

@test "without anybody to ask the default holds, and that is said" {
	asked
	[ "$status" = 0 ]
	[[ ${lines[0]} == *'"verdict":"continue","by":"default"'* ]]
	[[ $stderr == *"rule ask calls Ask, but no client answers"* ]]
	[[ $stderr == *"--ask CMD"* ]]
}

@test "what is not allowed is only reported" {
	run --separate-stderr "$ASTERISM" run -f json ask.rule -- "$PLANT" calls pid
	[ "$status" = 0 ]
	[[ ${lines[0]} == *'"done":false,"why":"not allowed"'* ]]
	[[ $stderr == *"rule ask calls Ask, which is only reported, not done"* ]]
}

@test "in a replay nobody is asked" {
	printf '{"event":"sys_exit_getpid","ts":1,"cpu":0,"pid":7,"tid":7,"ret":7}\n' >events
	run -0 --separate-stderr "$ASTERISM" replay -f json ask.rule events
	[[ ${lines[0]} == *'"calls":[{"function":"Ask","args":[10000000000]}]'* ]]
	[[ ${lines[0]} != *verdict* ]]
}

@test "a rule that is not SYNCHRONOUS cannot ask" {
	sed -i s/SYNCHRONOUS// ask.rule
	run ! "$ASTERISM" check ask.rule
	[[ $output == *"'Ask' needs a SYNCHRONOUS rule"* ]]
	[[ $output == *"write SYNCHRONOUS before RULE"* ]]
}

@test "a switch of threads completes the match: the signal comes late, but nobody is left stopped" {
	printf 'SYNCHRONOUS RULE ask PATTERN { [sys_exit_getpid:a, sched_switch:s] } WHERE { [tid] } DO { CALL Ask(10s) }\n' >ask.rule
	answerer 0
	run -0 --separate-stderr "$ASTERISM" run -f json --allow-actions --ask ./answerer ask.rule -- \
		"$PLANT" calls pid 5 pid 5 pid 5 pid 5
	[ "$(grep -c '"verdict":"continue","by":"answer"' <<<"$output")" = 4 ]
}

@test "a program that is executed is asked about before its first instruction" {
	printf 'SYNCHRONOUS RULE ask PATTERN { sched_process_exec:x } WHERE { x.comm == "plant" } DO { CALL Ask(10s) }\n' >ask.rule
	answerer 1
	run --separate-stderr "$ASTERISM" run -f json --allow-actions --ask ./answerer ask.rule -- \
		sh -c '"$0" calls pid; echo "ended with $?"' "$PLANT"
	[ "$status" = 0 ]
	[[ $output == *'"verdict":"abort","by":"answer"'* ]]
	[[ $output == *"ended with 137"* ]]
}

@test "text tells the verdict" {
	answerer 0
	run -0 --separate-stderr "$ASTERISM" run --allow-actions --ask ./answerer ask.rule -- "$PLANT" calls pid
	[[ $output == *"Ask(10000000000): continue (answer)"* ]]
}

@test "no keeper where nobody is stopped, and none is left" {
	wait='until [ -e seen ]; do sleep 0.1; done'
	"$ASTERISM" run -v --allow-actions ask.rule -- sh -c "$wait" 2>started &
	session=$!
	for _ in $(seq 600); do grep -q observing started && break; sleep 0.05; done
	keeper=$(pgrep -P $session asterism-keep)
	[ -n "$keeper" ]
	[ "$(readlink /proc/$keeper/cwd)" = / ]
	[ "$(ls /proc/$keeper/fd | wc -l)" = 1 ]
	: >seen
	wait $session
	rm seen
	[ ! -e /proc/$keeper ]
	rule 'Message("x")'
	"$ASTERISM" run -v --allow-actions ask.rule -- sh -c "$wait" 2>started &
	session=$!
	for _ in $(seq 600); do grep -q observing started && break; sleep 0.05; done
	run ! pgrep -P $session asterism-keep
	: >seen
	wait $session
}
