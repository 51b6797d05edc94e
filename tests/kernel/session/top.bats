#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# `asterism top`: what it counts, as text and in a terminal of 80x24, which is as before at the end, however that comes. Needs root.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	cd "$BATS_TEST_TMPDIR"
	echo 'RULE asked PATTERN { [sys_enter_getppid:a] } WHERE { a.comm == "planted" } RETURN { a.pid }' >asked.rule
	# Runs, and sleeps, as long as the test does.
	python3 -c '
import os, time
open("/proc/self/comm", "w").write("planted")
while True:
    end = time.monotonic() + 0.01
    while time.monotonic() < end: os.getppid()
    time.sleep(0.01)' &
	plant=$!
}

teardown() {
	[ -z "${plant-}" ] || { kill -9 "$plant"; wait "$plant"; } 2>/dev/null || true
	[ -z "${tmux-}" ] || tmux -S "$tmux" kill-server || true
	[ -z "${daemon-}" ] || kill "$daemon" || true
}

@test "processes by their states, and rules with whose matches they are" {
	run -0 --separate-stderr timeout 120 "$ASTERISM" top --batch -n 2 --interval 1s asked.rule
	[ "$stderr" = "" ]
	[ "$(grep -c '^asterism top' <<<"$output")" = 2 ]
	grep -Eq "^asked +kernel +[0-9.]*[1-9][0-9.]* +[1-9][0-9]* .* planted\[$plant\] 100%" <<<"$output"
	# It runs and is blocked; who waits for a processor depends on the others.
	row=$(grep -E "^ +$plant planted " <<<"$output" | tail -1)
	awk '{ exit !($3 > 0 && $5 > 0 && $6 > 0 && $3 + $4 + $5 < 120) }' <<<"$row" || { echo "$row"; false; }
	# No more runs than there are processors, but for the edges of what was looked at.
	all=$(tac <<<"$output" | awk '/PROCESS/ { exit } NF { sum += $(NF - 3) } END { print sum }')
	awk -v all="$all" -v cpus="$(nproc)" 'BEGIN { exit !(all < cpus * 110) }' || { echo "$all"; false; }
}

@test "processes alone; and what is wrong is said" {
	run -0 timeout 60 "$ASTERISM" top --batch -n 1 --interval 200ms
	[[ $output == *"PID PROCESS"* && $output != *RULE* ]]
	run -2 "$ASTERISM" top </dev/null
	[[ $output == *"this is not a terminal"*"--batch writes plain text"* ]]
	run -2 "$ASTERISM" top --batch nowhere.rule
	[[ $output == *"nowhere.rule"* ]]
	run -2 "$ASTERISM" top -n 3
	run -2 "$ASTERISM" top --batch --socket nowhere asked.rule
	run -2 timeout 60 "$ASTERISM" top --batch --socket "$PWD/nowhere"
	[[ $output == *"asterismd is not running"* ]]
}

@test "rules of asterismd" {
	mkdir rules
	cp asked.rule rules/
	"$(dirname "$ASTERISM")/asterismd" --socket "$PWD/socket" --rules rules --measure >log 2>&1 &
	daemon=$!
	wait_for "$ASTERISM" ctl --socket "$PWD/socket" ping
	run -0 timeout 60 "$ASTERISM" top --batch -n 1 --interval 1s --socket "$PWD/socket"
	grep -Eq "^asked +kernel +[0-9.]*[1-9][0-9.]* +[1-9][0-9]* " <<<"$output" || { echo "$output"; cat log; false; }
}

# `counted OUTPUT`: how often the rule's transition was tried and taken, and its condition asked and true, at the last look.
counted() {
	awk '/^TRANSITIONS OF asked$/ { at = NR } at && NR == at + 2 { printf "%d %d ", $1, $2 }
		at && NR == at + 3 { printf "%d %d\n", $1, $2 }' <<<"$1" | tail -1
}

@test "transitions and conditions of a chosen rule, of top's own and of asterismd's" {
	run -0 --separate-stderr timeout 120 "$ASTERISM" top --batch -n 2 --interval 1s --transitions asked asked.rule
	[ "$stderr" = "" ]
	grep -Eq '^ +[1-9][0-9]* +[1-9][0-9]* +[1-9][0-9]*  start: sys_enter_getppid:a -> match' <<<"$output"
	grep -Eq '^ +[1-9][0-9]* +[1-9][0-9]* +[0-9.e+]+ % +a.comm == "planted"' <<<"$output"
	read -r tried taken was_asked was_true < <(counted "$output")
	matches=$(grep '^asked ' <<<"$output" | tail -1 | awk '{ print $4 }')
	(( tried == was_asked && taken == was_true && taken <= tried && taken >= matches && matches > 0 ))
	run -2 timeout 60 "$ASTERISM" top --batch -n 1 --transitions nothing asked.rule
	[[ $output == *"there is no rule 'nothing' in the rule files"* ]]
	run -2 timeout 60 "$ASTERISM" top --batch -n 1 --transitions asked
	[[ $output == *"--transitions needs rules"* ]]
	mkdir rules
	cp asked.rule rules/
	for count in --count-transitions --measure; do
		"$(dirname "$ASTERISM")/asterismd" --socket "$PWD/socket" --rules rules $count >log 2>&1 &
		daemon=$!
		wait_for "$ASTERISM" ctl --socket "$PWD/socket" ping
		run -0 timeout 60 "$ASTERISM" top --batch -n 1 --interval 1s --socket "$PWD/socket" --transitions asked
		if [ $count = --measure ]; then
			[[ $output == *"asterismd does not count transitions: start it with --count-transitions"* ]]
		else
			read -r tried taken was_asked was_true < <(counted "$output")
			(( tried == was_asked && taken == was_true && taken > 0 ))
		fi
		run -0 timeout 60 "$ASTERISM" top --batch -n 1 --interval 100ms --socket "$PWD/socket" --transitions nothing
		[[ $output == *"TRANSITIONS OF nothing: there is no such rule"* ]]
		kill $daemon
		wait $daemon || true
		daemon=
	done
}

# `shows TEXT`: whether the terminal does.
shows() {
	tmux -S "$tmux" capture-pane -p | grep -q -- "$1"
}

lacks() {
	! shows "$1"
}

is_gone() {
	! pgrep -P "$(tmux -S "$tmux" display -p '#{pane_pid}')" -x asterism >/dev/null
}

@test "a terminal: keys, and all as before at the end, at Ctrl-C and when it is killed" {
	command -v tmux >/dev/null || skip "tmux is not installed"
	tmux=$PWD/tmux
	TERM=xterm tmux -S "$tmux" -f /dev/null new-session -d -x 80 -y 24 "PS1='ready> ' sh"
	wait_for shows 'ready>'
	echo 'RULE other PATTERN { [sys_enter_getppid:b] } WHERE { b.comm == "nobody" }' >other.rule
	cp asked.rule again.rule # two units may have rules of one name
	for end in q C-c kill; do
		tmux -S "$tmux" send-keys "clear; $ASTERISM top --interval 300ms --transitions asked asked.rule other.rule again.rule" Enter
		wait_for shows 'planted'
		shows '^RULE  '
		shows '^TRANSITIONS OF asked'
		tmux -S "$tmux" send-keys t
		wait_for shows '^TRANSITIONS OF other'
		wait_for shows 'start: sys_enter_getppid:b'
		tmux -S "$tmux" send-keys t
		wait_for shows '^TRANSITIONS OF asked'
		[ "$(tmux -S "$tmux" capture-pane -p | wc -l)" = 24 ]
		tmux -S "$tmux" send-keys p
		wait_for shows 'by pid'
		tmux -S "$tmux" send-keys ' '
		wait_for shows PAUSED
		tmux -S "$tmux" send-keys ' ' / n o b o d y Enter
		wait_for shows 'filter: nobody'
		wait_for lacks "$plant planted "
		if [ "$end" = kill ]; then
			kill -9 "$(pgrep -P "$(tmux -S "$tmux" display -p '#{pane_pid}')" -x asterism)"
		else
			tmux -S "$tmux" send-keys "$end"
		fi
		wait_for is_gone
		wait_for lacks 'q quit'
		tmux -S "$tmux" send-keys 'stty -a; echo "the $((1 + 1))nd"' Enter
		wait_for shows 'the 2nd'
		shows ' icanon'
		shows ' echo '
	done
}
