#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What rules do at a match, to processes of the test's own. Needs root.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	target="$(dirname "$ASTERISM")/../../tests/kernel/target"
	cd "$BATS_TEST_TMPDIR"
	rule probe true >probe.rule
	needs_asterism run -q probe.rule -- true
}

teardown() {
	[ -z "${started:-}" ] || kill -KILL $started 2>/dev/null || true
}

# `rule NAME CALLS [MODE]`: a rule that does so when a thread asks for the process group of process 4000001.
rule() {
	printf '%s RULE %s PATTERN { sys_enter_getpgid:a } WHERE { a.target_pid == 4000001 } ' "${3:-}" "$1"
	[ "$2" = true ] || printf 'DO { %s }' "$2"
	echo
}

# `about NAME CALLS`: one that does it for every process that a thread names above 1.
about() {
	printf 'RULE %s PATTERN { sys_enter_getpgid:a } WHERE { a.target_pid > 0 } DO { %s }\n' "$1" "$2"
}

# `progress FILE`: reached, passed, handled, passed_at, handler, caller.
progress() {
	od -v -A n -t d8 "$1" | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'
}

# `field FILE NUMBER`: one of them.
field() {
	progress "$1" | cut -d ' ' -f "$2"
}

# `state_of PID`: R, S, T, ...
state_of() {
	sed 's/.*) //; s/ .*//' "/proc/$1/stat"
}

# Waits until a command is true, or gives up.
until_true() {
	for _ in $(seq 400); do
		! "$@" || return 0
		sleep 0.02
	done
	echo "never true: $*"
	return 1
}

is_in_state() {
	[ "$(state_of "$1")" = "$2" ]
}

# `python JSON EXPRESSION`: an expression over m, the matches, and s, the statistics, is true.
holds() {
	python3 -c 'import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
m = [line for line in lines if "match" in line]
c = [line["calls"] for line in m]
s = lines[-1]["stats"]
if not eval(sys.argv[2]):
    print(sys.argv[2], "does not hold of", lines[:5], len(lines))
    sys.exit(1)' "$1" "$2"
}

# `until_passed FILE COUNT`: everybody is through.
until_passed() {
	wait_for has_passed "$@" || { progress "$1"; return 1; }
}

has_passed() {
	[ "$(field "$1" 2)" = "$2" ]
}

# --- before the next instruction in user mode ---

@test "Kill: the target runs nothing after the call that completed the match" {
	for mode in "" SYNCHRONOUS; do
		rm -f p
		rule r 'CALL Kill(a#TID)' $mode >r.rule
		run --separate-stderr -137 "$ASTERISM" run -q -f json -o out --allow-actions r.rule -- "$target" progress p 4000001
		[ "$(field p 1) $(field p 2)" = "1 0" ]
		holds out 'c == [[{"function": "Kill", "args": [m[0]["tid"]], "done": True, "by": "kernel"}]]'
	done
}

@test "Kill: at the end of the call as well, and not at a near miss" {
	echo 'RULE r PATTERN { [sys_enter_getpgid:a, sys_exit:b] } WHERE { [tid], a.target_pid == 4000001, b.ret < 0 }
		DO { CALL TerminateProcess(b#PID) }' >r.rule
	run -137 "$ASTERISM" run -q --allow-actions r.rule -- "$target" progress p 4000001
	[ "$(field p 1) $(field p 2)" = "1 0" ]
	rm p
	run -0 "$ASTERISM" run -q --allow-actions r.rule -- "$target" progress p 4000002 50
	[ "$(field p 1) $(field p 2)" = "50 50" ]
}

@test "without --allow-actions it is only reported" {
	rule r 'CALL Kill(a#TID)' >r.rule
	run --separate-stderr -0 "$ASTERISM" run -f json r.rule -- "$target" progress p 4000001 3
	[ "$(field p 2)" = 3 ]
	[[ $stderr == *"note: rule r calls Kill, which is only reported, not done"*"use --allow-actions to let rules act"* ]]
	[[ ${lines[0]} == *'"function":"Kill"'*'"done":false,"why":"not allowed"}],"time":"'* ]]
	run --separate-stderr -0 "$ASTERISM" run r.rule -- "$target" progress p 4000001
	[[ $output == *'Kill('*') not done: not allowed'* ]]
}

@test "Stop: the target stands still, and goes on at the end of the session" {
	for mode in "" SYNCHRONOUS; do
		rm -f p
		rule r 'CALL Stop(a#TID)' $mode >r.rule
		"$target" wait go &
		"$ASTERISM" run -q -f json -o out --allow-actions r.rule -- sh -c 'echo $$ >pid; exec "$0" progress p 4000001' "$target" &
		session=$!
		until_true test -s pid
		until_true is_in_state "$(cat pid)" T
		[ "$(field p 1) $(field p 2)" = "1 0" ]
		kill -INT $session
		wait $session || true
		until_true test "$(field p 2)" = 1
		[ "$(field p 4)" = 0 ]
		holds out 'c[0][0]["done"] and c[0][0]["by"] == "kernel"'
		touch go
		rm pid
	done
}

@test "Stop and Continue: by the reference's names; another rule lets it go on" {
	rule stop 'CALL SuspendThread(a#TID); CALL Count("stopped")' >r.rule
	echo 'RULE go PATTERN { sys_enter_getpgid:a } WHERE { a.target_pid < 4000000 } DO { CALL ResumeThread(a.target_pid) }' >>r.rule
	run -0 timeout $((20 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" run -q -f json -o out --allow-actions r.rule -- bash -c '
		"$0" progress p 4000001 & until [ "$(sed "s/.*) //; s/ .*//" /proc/$!/stat)" = T ]; do sleep 0.01; done
		od -A n -j 8 -N 8 -t d8 p >while-stopped; "$0" calls $!; wait $!' "$target"
	[ "$(tr -d ' ' <while-stopped)" = 0 ]
	[ "$(field p 2)" = 1 ]
	holds out '[call["function"] for calls in c for call in calls] == ["SuspendThread", "Count", "ResumeThread"]'
	holds out 'all(call["done"] for calls in c for call in calls) and s["counters"] == {"stopped": 1}'
}

@test "Signal: the handler runs before the next instruction, in the thread that is meant" {
	for signal in '"USR1"' '"sigusr2"' 12; do
		for scenario in progress thread; do
			rm -f p
			rule r "CALL Signal(a#TID, $signal)" >r.rule
			run -0 "$ASTERISM" run -q -f json -o out --allow-actions r.rule -- "$target" $scenario p 4000001
			[ "$(progress p)" = "1 1 1 0 $(field p 6) $(field p 6)" ]
			holds out 'c[0][0]["by"] == "kernel"'
		done
	done
}

@test "Signal: to a process; no signal at a near miss; two calls do two things" {
	rule r 'CALL Signal(a#PID, "USR1"); CALL Signal(#PID, 0x0c)' >r.rule
	run -0 "$ASTERISM" run -q --allow-actions r.rule -- "$target" progress p 4000001
	[ "$(progress p | cut -d ' ' -f 1-4)" = "1 1 2 0" ]
	rm p
	run -0 "$ASTERISM" run -q --allow-actions r.rule -- "$target" progress p 4000003 20
	[ "$(progress p | cut -d ' ' -f 1-4)" = "20 20 0 0" ]
}

@test "a deadline: whoever it was may be elsewhere, so asterism sends the signal" {
	echo 'RULE r PATTERN { [sys_enter_getpgid:a, ~sys_enter_getppid:b] } WHERE { [tid], a.target_pid == 4000001 } WITHIN 50ms
		DO { CALL Signal(a#PID, "TERM"); CALL Count("late") }' >r.rule
	run -143 timeout $((20 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" run -q -f json -o out --allow-actions r.rule -- sh -c '"$0" calls 4000002; exec "$0" ask 4000001 no' "$target"
	holds out 'len(m) == 1 and c[0][0]["done"] and c[0][0]["by"] == "asterism" and s["counters"] == {"late": 1}'
	run -0 timeout $((20 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" run -q -f json -o out --allow-actions r.rule -- "$target" ask 4000001 yes
	holds out 'm == []'
}

# --- whom actions never meet ---

@test "process 1, asterism itself and processes out of scope are refused" {
	sleep 60 &
	started=$!
	about r 'CALL Signal(a.target_pid, "USR1"); CALL Stop(a.target_pid); CALL Kill(a.target_pid); CALL Freeze(a.target_pid);
		CALL SetThreadPriority(a.target_pid, 10); CALL BoostThreadPriority(a.target_pid, 10)' >r.rule
	run -0 "$ASTERISM" run -q -f json -o out --allow-actions r.rule -- sh -c 'exec "$0" calls 1 $PPID '"$started 3999999" "$target"
	holds out 'len(m) == 4 and all(not call["done"] for calls in c for call in calls)'
	holds out '{call["why"] for call in c[0]} == {"actions never affect process 1"}'
	holds out '{call["why"] for call in c[1]} == {"actions never affect asterism itself"}'
	holds out '{call["why"] for call in c[2]} == {"process '$started' is out of scope"}'
	holds out '{call["why"] for call in c[3]} == {"process or thread 3999999 does not exist"}'
	[ "$(state_of $started)" = S ]
}

@test "outside-scope in a policy lets actions meet others, but not process 1 or asterism" {
	sleep 60 &
	started=$!
	printf '# all that is needed\nallow Kill\noutside-scope # everywhere\n' >policy
	about r 'CALL Kill(a.target_pid)' >r.rule
	run -0 "$ASTERISM" run -q -f json -o out --policy policy r.rule -- sh -c 'exec "$0" calls 1 $PPID '$started "$target"
	holds out '[call["done"] for calls in c for call in calls] == [False, False, True]'
	wait $started || [ $? = 137 ]
}

@test "in another pid namespace ids of events are not ours: targets are refused, and told why" {
	rule r 'CALL Stop(a#TID); CALL SetThreadPriority(a#TID, 10)' >r.rule
	"$target" wait go &
	run -0 timeout -k 5 $((30 * ${ASTERISM_TEST_PATIENCE:-1})) unshare --pid --fork --mount-proc sh -c '
		"$0" run -v -f json -o out --allow-actions -a r.rule 2>err & session=$!
		until grep -q observing err; do kill -0 $session || exit 1; sleep 0.05; done
		"$1" progress p 4000001; kill -TERM $session; wait $session' "$ASTERISM" "$target"
	touch go
	[ "$(field p 2)" = 1 ]
	holds out 'len(m) == 1 and {call["why"] for call in c[0]} == {"asterism runs in a pid namespace, so the ids in events are not valid for it"}'
}

# --- what asterism does ---

@test "SetThreadPriority and BoostThreadPriority: the second is undone after its time" {
	rule r 'CALL BoostThreadPriority(a#TID, 25, 50ms)' >r.rule
	run -0 "$ASTERISM" run -q -f json -o out --allow-actions r.rule -- "$target" nice 4000001 seen
	[ "$(cat seen)" = "0 -6" ]
	holds out 'c[0][0]["by"] == "asterism"'
	rule r 'CALL SetThreadPriority(a#TID, 10)' >r.rule
	run -0 "$ASTERISM" run -q --allow-actions r.rule -- sh -c '"$0" calls 4000002; nice >near; exec "$0" nice 4000001 seen & pid=$!
		until grep -q 9 seen; do sleep 0.01; done; cut -d " " -f 19 /proc/$pid/stat >kept; kill -9 $pid' "$target"
	[ "$(cat near) $(cat seen) $(cat kept)" = "0 0 9 9" ]
	rule r 'CALL SetThreadPriority(a#TID, 40); CALL SetThreadPriority(a#TID, 140); CALL BoostThreadPriority(a#TID, 20, 0ms)' >r.rule
	run -0 "$ASTERISM" run -q -f json -o out --allow-actions r.rule -- "$target" ask 4000001 yes
	holds out '[call["why"] for call in c[0]] == 2 * ["priorities go from 0 to 139, without 40"] + ["the duration of a boost must be more than 0"]'
}

@test "BoostThreadPriority: a long one is undone when the session ends" {
	rule r 'CALL BoostThreadPriority(a#TID, 25, 1h)' >r.rule
	run -0 timeout $((20 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" run -q --allow-actions r.rule -- sh -c '"$0" nice 4000001 seen & until [ -s seen ]; do sleep 0.01; done' "$target"
	until_true test "$(cat seen)" = "0 -6"
}

@test "Freeze and Thaw: a cgroup of version 2, until the end of the session at the latest" {
	mkdir two
	mount -t cgroup2 none two || skip "cgroup version 2 cannot be mounted"
	umount two
	run -0 timeout -k 5 60 unshare -m "$BASH" "$BATS_TEST_DIRNAME/freeze.sh" "$ASTERISM" "$target" v2 "$PWD/two"
}

@test "Freeze and Thaw: the freezer of version 1" {
	grep -q 'cgroup.*freezer' /proc/self/mountinfo || skip "there is no freezer of version 1"
	run -0 timeout -k 5 60 unshare -m "$BASH" "$BATS_TEST_DIRNAME/freeze.sh" "$ASTERISM" "$target" v1 "$PWD/one"
}

@test "Freeze: refused where there is only a root cgroup" {
	grep -q "^0::/$" /proc/self/cgroup && ! grep -q "freezer:/." /proc/self/cgroup || skip "this process is in a cgroup of its own"
	rule r 'CALL Freeze(a#TID)' >r.rule
	run -0 "$ASTERISM" run -q -f json -o out --allow-actions r.rule -- "$target" progress p 4000001
	holds out 'not c[0][0]["done"]'
	[ "$(field p 2)" = 1 ]
}

@test "Exec: arguments as they are, no shell, an environment that says why" {
	cat >told <<-'END'
		#!/bin/sh
		printf '[%s]' "$ASTERISM_RULE" "$ASTERISM_PID" "$ASTERISM_TID" "$@" >told.out
		cat >>told.out
	END
	chmod +x told
	rule r 'CALL Exec("./told", "a b", a.target_pid, a.comm, 1.5, "$(reboot); *", "")' >r.rule
	echo input | run -0 "$ASTERISM" run -q -f json -o out --allow-actions r.rule -- sh -c 'echo $$ >pid; exec "$0" calls 4000001' "$target"
	pid=$(cat pid)
	[ "$(cat told.out)" = "[r][$pid][$pid][a b][4000001][target][1.5][\$(reboot); *][]" ]
	holds out 'c[0][0]["by"] == "asterism"'
	rm told.out
	run -0 "$ASTERISM" run -q r.rule -- "$target" calls 4000001
	run -0 "$ASTERISM" run -q --allow-actions r.rule -- "$target" calls 4000002
	[ ! -e told.out ]
	rule r 'CALL Exec("./no-such-command")' >r.rule
	run -0 "$ASTERISM" run -q -f json --allow-actions r.rule -- "$target" calls 4000001
	[[ $output == *'"why":"cannot run ./no-such-command: No such file or directory"'* ]]
}

@test "Exec: a flood is limited, counted and told" {
	rule r 'CALL Exec("touch", "done")' >r.rule
	run --separate-stderr -0 "$ASTERISM" run -f json -o out --allow-actions r.rule -- "$target" flood 4000001 2000
	[ -e done ]
	holds out 'len(m) == 2000 and s["refused"][0]["rule"] == "r" and s["refused"][0]["action"] == "Exec"'
	holds out 's["refused"][0]["count"] == sum(not call["done"] for calls in c for call in calls) > 1900'
	[[ $stderr == *"warning: rule r: Exec was refused "*" times: "* ]]
}

@test "what is told with a match: texts with values in them" {
	rule r 'CALL Message("{} asked for {}, {}", a.comm, a.target_pid); CALL DbgMessage("plain", 7, TRUE)' >r.rule
	run --separate-stderr -0 "$ASTERISM" run -q r.rule -- "$target" calls 4000001
	[[ $output == *"target asked for 4000001, {}"*"plain 7 true"* ]]
	run --separate-stderr -0 "$ASTERISM" run -q -f json r.rule -- "$target" calls 4000001
	[[ $output == *'"text":"target asked for 4000001, {}"}'*'"text":"plain 7 true"}'* ]]
}

@test "Count and Histogram: every match, from two processors, and no match is told" {
	[ "$(nproc)" -gt 1 ] || skip "needs two processors"
	about r 'CALL Count("all"); CALL Histogram("who", a.target_pid)' >r.rule
	run --separate-stderr -0 "$ASTERISM" run -f json -o out r.rule -- sh -c \
		'"$0" flood 5 20000 0 & "$0" flood 1000 30000 1; wait' "$target"
	holds out 'm == [] and s["lost"] == 0 and s["rules"]["r"]["matches"] == 50000 and s["counters"] == {"all": 50000}'
	holds out 's["histograms"] == {"who": [{"from": 4, "to": 7, "count": 20000}, {"from": 512, "to": 1023, "count": 30000}]}'
	run --separate-stderr -0 "$ASTERISM" run r.rule -- "$target" flood 5 10
	[[ $output == *"all: 10"*"who: 10"*"4 .. 7 "*" 10 |########################################"* ]]
	run --separate-stderr -0 "$ASTERISM" run -f json -o out r.rule -- "$target" calls 0 -1
	holds out 's["counters"] == {"all": 0} and s["histograms"] == {"who": []}'
}

@test "Snapshot: a trace of what led to the match; without --snapshot it says what is missing" {
	rule r 'CALL Snapshot()' >r.rule
	run -0 "$ASTERISM" run -q -f json -o out --snapshot shots r.rule -- "$target" calls 4000002 4000001
	holds out 'c[0][0]["done"]'
	[ "$("$ASTERISM" dump -f json -e sys_enter_getpgid shots/* | grep -c '"target_pid":400000[12]')" = 2 ]
	run -0 "$ASTERISM" run -q -f json -o out r.rule -- "$target" calls 4000001
	holds out 'c[0][0]["why"] == "nothing is being recorded: run with --snapshot DIR"'
}

# --- what is allowed ---

@test "a policy allows what it says, and nothing else" {
	rule r 'CALL Kill(a#TID)' >r.rule
	echo 'allow Signal, Kill' >policy
	run -137 "$ASTERISM" run -q --policy policy r.rule -- "$target" progress p 4000001
	echo 'allow Signal, TerminateProcess' >policy
	run -137 "$ASTERISM" run -q --policy policy r.rule -- "$target" progress p 4000001
	echo 'allow Signal Stop' >policy
	run --separate-stderr -2 "$ASTERISM" run -q --policy policy r.rule -- touch ran
	[[ $stderr == *"error: rule r calls Kill, which the policy does not allow"* ]]
	[ ! -e ran ]
	run --separate-stderr -2 "$ASTERISM" run -q --policy policy --allow-actions r.rule -- touch ran
	[[ $stderr == *"--allow-actions and --policy exclude each other"* ]]
	run --separate-stderr -2 "$ASTERISM" run -q --policy nowhere r.rule -- touch ran
	[[ $stderr == *"cannot read nowhere: No such file or directory"* ]]
	[ ! -e ran ]
}

@test "record takes actions as well" {
	rule r 'CALL Kill(a#TID)' >r.rule
	run -137 "$ASTERISM" record -q -o trace --rules r.rule --allow-actions -- "$target" progress p 4000001
	[ "$(field p 2)" = 0 ]
	run --separate-stderr -2 "$ASTERISM" record -q -o t2 --allow-actions -- touch ran
	[[ $stderr == *"--allow-actions and --policy need rules that run: add --rules FILE"* ]]
	[ ! -e ran ]
}

@test "Stop: whoever was stopped in the last moment of a session goes on as well" {
	rule r 'CALL Stop(a#TID)' >r.rule
	# The command ends, and with it the session, while its children make their calls.
	for _ in $(seq 8); do
		rm -f p
		run -0 timeout $((20 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" run -q --allow-actions r.rule -- "$target" orphans p 4000001 50
		until_passed p 50
	done
}
