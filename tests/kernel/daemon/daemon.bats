#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# asterismd and `asterism ctl`, live: on a socket of the test's own, observing one process of the test's own. Needs root.

bats_require_minimum_version 1.5.0
load daemon

setup() {
	daemon_setup
	cat >two.rule <<-'END'
		RULE two PATTERN { [sys_exit_getppid:a, sys_exit_getppid:b] } WHERE { [tid] }
	END
	printf 'RULE kill PATTERN { [sys_exit_getpgid:a] } DO { CALL Kill(#PID) }\n' >kill.rule
	printf 'SYNCHRONOUS RULE ask PATTERN { [sys_exit_getpgid:a] } DO { CALL Ask(20s, "CONTINUE", "TERM") }\n' >ask.rule
}

teardown() {
	daemon_teardown
}

@test "the rules of the directory are at work; matches are lines of JSON" {
	cp pair.rule rules/
	cp two.rule rules/no-rule.txt
	start
	run --separate-stderr -2 ctl next pair
	[ "$stderr" = "asterism: error: unknown unit 'pair': did you mean 'pair.rule'?" ]
	call 2
	await '"match":"pair"' out 2
	[[ $(head -1 out) == '{"unit":"pair.rule","match":"pair",'*'"return":{"who":'"$puppet"'}'* ]]
	[ "$(asked 'sorted(u)')" = "['pair.rule']" ]
	[ "$(asked 'u["pair.rule"]["rules"][0]["matches"], u["pair.rule"]["from"]')" = "(2, 'directory')" ]
	stop
	[ "$(wc -l <out)" = 2 ]
	[ ! -e ctl.sock ]
	[ "$(tail -1 log)" = "asterismd: ended" ]
}

@test "asterismd alone in a folder: catalogs are a part of it" {
	printf 'EVENTS "scheduling.events" EVENTS "tcp.events"\n' | cat - pair.rule >rules/pair.rule
	mkdir alone
	cp "$asterismd" alone/
	unset ASTERISM_CATALOGS ASTERISM_RULES
	asterismd=alone/asterismd start
	call 1
	await '"match":"pair"' out
	cp "$ASTERISM" alone/
	[ "$(alone/asterism ctl --socket ctl.sock load @long-syscall)" = "long-syscall: 1 rule loaded" ]
	stop
}

@test "a machine's warnings and trails come with its matches" {
	cat >rules/calls.rule <<-'END'
		MACHINE calls KEY { tid }
		  STATE Idle { ON sys_enter_getppid -> Busy }
		  STATE Busy { ON sys_enter_getppid { WARN "again, {tid}" } }
	END
	start
	ctl next calls.rule --timeout 20s >next 3>&- 6<&- 7>&- &
	await_waiting
	call 2
	wait $!
	[[ $(head -1 next) == "calls.rule: calls by python3 (process $puppet, thread $puppet): again, $puppet" ]]
	[[ $(sed -n 2p next) == *" sys_enter_getppid: Idle -> Busy (process $puppet, thread $puppet)" ]]
	await '"match":"calls"' out 1
	[[ $(head -1 out) == '{"unit":"calls.rule","match":"calls",'*'"warning":"again, '"$puppet"'","return":{"tid":'"$puppet"'},"trail":[{"event":"sys_enter_getppid","from":"Idle","to":"Busy",'* ]]
	stop
}

@test "a daemon that is stopped is waited for as long as --timeout says" {
	start
	kill -STOP "$daemon"
	local asking=() asked
	for asked in query ping "next pair" "record status" "load pair.rule"; do
		timeout 40 "$ASTERISM" ctl --socket ctl.sock $asked --timeout 100ms 2>"said.${#asking[@]}" 3>&- 6<&- 7>&- &
		asking+=($!)
	done
	for asked in "${!asking[@]}"; do
		status=0
		wait "${asking[asked]}" || status=$?
		[ "$status" = 2 ]
		[[ $(cat "said.$asked") == *"did not answer in time"*"--timeout sets how long to wait"* ]]
	done
	kill -CONT "$daemon"
	ctl ping --timeout 20s
	stop
}

@test "ctl next shows durations as run does, and its JSON keeps the numbers" {
	cat >rules/took.rule <<-'END'
		RULE took PATTERN { [sys_enter_getppid:a, sys_exit_getppid:b] } WHERE { [tid] }
		RETURN { b.ts - a.ts + 3s AS took, b.ret, b.ret - b.ret AS none }
	END
	start
	ctl next took.rule --timeout 20s >next 3>&- 6<&- 7>&- &
	await_waiting
	call 1
	wait $!
	[[ $(cat next) =~ " took=3"(.[0-9])?"s b.ret="[0-9]+" none=0"$ ]]
	ctl -f json next took.rule --timeout 20s >next 3>&- 6<&- 7>&- &
	await_waiting
	call 1
	wait $!
	[[ $(cat next) == *'"return":{"took":300'*'"shown":{"took":"3'* ]]
	stop
}

@test "ctl next shows what matches come to as the line that it is" {
	printf 'RULE sums PATTERN { sys_enter_getppid:a } AGGREGATE { COUNT } BY { pid } EVERY 100ms\n' >rules/sums.rule
	start
	ctl next sums.rule --timeout 20s >next 3>&- 6<&- 7>&- &
	local next=$!
	await_waiting
	for i in 1 2 3 4; do call 1; sleep 0.2; done
	wait $next
	[[ $(cat next) == "sums.rule: {\"aggregate\":\"sums\",\"by\":{\"pid\":$puppet},"*"\"COUNT\":"* ]]
	stop
}

@test "ctl: all operations" {
	start
	[[ $(ctl ping) == "asterismd "*" runs" ]]
	[ "$(ctl load pair.rule)" = "pair: 1 rule loaded" ]
	run --separate-stderr -2 ctl load pair.rule
	[ "$stderr" = "asterism: error: a unit named pair already exists" ]
	ctl load two.rule other
	run --separate-stderr -2 ctl query pair.rule
	[ "$stderr" = "asterism: error: unknown unit 'pair.rule': did you mean 'pair'?" ]
	call 1
	[ "$(asked 'sorted(u), u["pair"]["rules"][0]["matches"]')" = "(['other', 'pair'], 1)" ]
	ctl deactivate pair
	call 1
	[ "$(asked 'u["pair"]["state"], u["pair"]["rules"][0]["matches"]')" = "('loaded', 1)" ]
	run --separate-stderr -2 ctl deactivate pair
	[ "$stderr" = "asterism: error: pair is not active" ]
	ctl activate pair
	ctl next pair --timeout 20s >next 3>&- 6<&- 7>&- &
	await_waiting
	call 1
	wait $!
	[[ $(cat next) == "pair: pair by python3 (process $puppet, thread $puppet) who=$puppet" ]]
	run --separate-stderr -1 ctl next other --timeout 1ms
	[ "$stderr" = "asterism: error: no result came before the timeout" ]
	ctl unload pair
	[ "$(asked 'list(u)')" = "['other']" ]
	run --separate-stderr -2 ctl query pair
	[ "$stderr" = "asterism: error: unknown unit 'pair'" ]
	run --separate-stderr -2 ctl continue 12
	[[ $stderr == *"no verdict request has ticket 12"* ]]
	run -0 ctl query
	[[ ${lines[0]} == "other: active, loaded by user 0" && ${lines[1]} == *two*kernel*matches* ]]
	[ "$(ctl reload)" = "reloaded: 1 unit" ]
}

has_waiting() {
	[ "$(asked 'q["daemon"]["clients"]')" -ge 2 ]
}

# Until the daemon holds the request of a client that waits.
await_waiting() {
	wait_for has_waiting
	sleep 0.2
}

@test "whoever loads a rule is told why it is not matched in the kernel, and the log has it" {
	start
	printf 'RULE far PATTERN { sys_enter_getppid:a } WHERE { a.tid > 0.5 }\n' >far.rule
	printf 'RULE sums PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid] } AGGREGATE { AVG(b.ret * 1.5) }\n' >sums.rule
	[[ $(ctl load far.rule 2>&1) == *"rule far runs in user space: it computes with floating-point numbers"* ]]
	[[ $(ctl load sums.rule 2>&1) == *"rule sums sends its matches to user space, where they are aggregated: a value is a floating-point number"* ]]
	grep -q "far: rule far runs in user space" log
	stop
}

@test "a question is answered from outside: continue, abort, and nobody there" {
	start --allow-actions
	ctl load ask.rule
	call pgid # nobody listens: the default
	for verdict in continue abort; do
		ctl -f json next ask --timeout 20s >question 3>&- 6<&- 7>&- &
		waiter=$!
		await_waiting
		echo pgid >&7
		wait $waiter
		ticket=$(sed 's/.*"ticket": *\([0-9]*\).*/\1/' question)
		run --separate-stderr -2 ctl continue $((ticket + 1))
		ctl $verdict "$ticket"
		if [ $verdict = continue ]; then read -r _ <&6; fi
	done
	puppet_ends 143
	await '"match":"ask"' out 3
	[[ $(cat out) == *'default'*'continue'*'abort'* ]]
}

@test "who may do what" {
	cp pair.rule rules/
	start --allow-actions --group nogroup
	[ "$(stat -c '%a %U %G' ctl.sock)" = "660 root nogroup" ]
	run --separate-stderr -4 setpriv --reuid=65534 --regid=65533 --clear-groups "$ASTERISM" ctl --socket ctl.sock ping
	[[ $stderr == "asterism: error: no permission to use ctl.sock"* ]]
	nobody() { as_nobody "$ASTERISM" ctl --socket ctl.sock "$@"; }
	nobody ping
	nobody query
	run --separate-stderr -1 nobody next --timeout 1ms
	nobody load two.rule
	run --separate-stderr -4 nobody load kill.rule
	[ "$stderr" = "asterism: error: the rules call Kill, which changes the system: only root may load such rules" ]
	[ "$(asked 'sorted(u)')" = "['pair.rule', 'two']" ]
	for word in unload deactivate activate; do
		run --separate-stderr -4 nobody $word pair.rule
		[ "$stderr" = "asterism: error: unit pair.rule belongs to another user: only root may do this" ]
	done
	run --separate-stderr -4 nobody reload
	run --separate-stderr -4 nobody continue 1
	[ "$stderr" = "asterism: error: only root may answer verdict requests" ]
	nobody deactivate two
	nobody activate two
	nobody unload two
	ctl load kill.rule
	run --separate-stderr -4 nobody unload kill
	ctl unload kill
}

@test "actions are done only when they are allowed, and never by others' rules" {
	start
	run --separate-stderr -0 ctl load kill.rule
	[ "$output" = "kill: 1 rule loaded" ]
	[ "$stderr" = "asterism: note: asterismd: rule kill calls Kill, which is only reported, not done (use --allow-actions to let rules act)" ]
	holds 'kill: rule kill calls Kill, which is only reported, not done' log
	ctl deactivate kill
	run --separate-stderr -0 ctl activate kill
	[[ $stderr == *"rule kill calls Kill, which is only reported, not done"* ]]
	call pgid
	await 'not allowed' out
	kill -0 "$puppet"
	stop
	printf 'allow Stop\n' >policy
	start --policy policy
	run --separate-stderr -2 ctl load kill.rule
	[[ $stderr == *"rule kill calls Kill, which the policy does not allow"* ]]
	[ "$(asked 'list(u)')" = "[]" ]
}

@test "files that others could have written are refused" {
	cp pair.rule two.rule rules/
	chmod 666 rules/pair.rule
	chown nobody rules/two.rule
	cp two.rule rules/fine.rule
	start
	[ "$(asked '[(x["unit"], x["state"], x["error"]) for x in q["units"] if x["error"]]')" = \
		"[('pair.rule', 'wrong', 'the file is writable by users other than root'), ('two.rule', 'wrong', 'the file is writable by users other than root')]" ]
}

@test "reload: runs of what has not changed stay open; the rest is swapped, kept or dropped" {
	cp two.rule pair.rule rules/
	printf 'RULE gone PATTERN { [sys_exit_getppid:a] }\n' >rules/gone.rule
	start
	call 1
	await '"match":"pair"' out
	sed -i 's/RULE pair/RULE pear/' rules/pair.rule
	printf 'RULE new PATTERN { [sys_exit_getppid:a] }\n' >rules/new.rule
	rm rules/gone.rule
	touch rules/two.rule
	ctl reload
	[ "$(asked 'sorted(u)')" = "['new.rule', 'pair.rule', 'two.rule']" ]
	call 1
	await '"match":"two"' out
	await '"match":"pear"' out
	await '"match":"new"' out
	[ "$(grep -c '"match":"pair"' out)" = 1 ]
	[ "$(grep -c '"match":"gone"' out)" = 1 ]
	echo 'RULE pair PATTERN {' >rules/pair.rule
	run -2 ctl reload
	[ "$output" = "reloaded: 3 units, 1 file with errors (see 'asterism ctl --socket ctl.sock query')" ]
	[[ $(asked 'u["pair.rule"]["state"], u["pair.rule"]["error"]') == *"active"*"pair.rule:"* ]]
	grep -q 'error: pair.rule:[0-9]*:[0-9]*: ' log
	grep -q 'error: pair.rule: the version loaded before stays active' log
	call 1
	await '"match":"pear"' out 2
	printf 'RULE pure PATTERN { [sys_exit_getppid:a] }\n' >rules/pair.rule
	kill -HUP "$daemon"
	await 'pair.rule: loaded' log 3
	call 1
	await '"match":"pure"' out
	[ "$(asked 'u["pair.rule"]["error"]')" = None ]
}

@test "a unit that changes while matches come tells each of them, and twice only what was under way" {
	printf 'RULE one PATTERN { [sys_exit_getppid:a] }\n' >rules/one.rule
	start --rate 1000000
	(for i in $(seq 20); do echo "// $i" >>rules/one.rule; ctl reload; done) >/dev/null 3>&- 6<&- 7>&- &
	for _ in $(seq 200); do call 10; done
	wait $!
	sleep 0.3
	stop
	count=$(grep -c '"match":"one"' out)
	echo "$count matches"
	((count >= 2000 && count <= 2020))
}

@test "messages that are wrong get a clear answer, and harm nobody" {
	start
	# The daemon waits for its end as long as it does; meanwhile others are served.
	control half '{"op":"ping"' >half 3>&- 6<&- 7>&- &
	local half=$!
	[[ $(control raw '{"op":"ping"}\n') == '{"ok":true,'* ]]
	[[ $(control raw '{"op":"ping"}\n{"op":"ping"}\n' | wc -l) == 2 ]]
	[[ $(control raw 'rubbish\n') == '{"ok":false,"error":"malformed",'* ]]
	[[ $(control raw '\x00\xff\n') == '{"ok":false,"error":"malformed",'* ]]
	[[ $(control raw '[]\n') == *'"error":"malformed"'* ]]
	[[ $(control raw '{"op":"explode"}\n') == *'"error":"unknown-operation"'* ]]
	[[ $(control raw '{"op":"ping","op":"ping"}\n') == *'"error":"malformed"'* ]]
	[[ $(control raw '{"op":"ping","more":1}\n') == *'"error":"malformed"'* ]]
	[[ $(control raw '{"op":"load","unit":"a","length":99999999}\n') == *'16 MiB'* ]]
	[[ $(control raw '{"op":"load","unit":"a","length":-1}\n') == *'"error":"malformed"'* ]]
	[[ $(control raw '{"op":"load","unit":"../x","length":0}\n') == *'letters, digits'* ]]
	[[ $(control raw '{"op":"load","unit":"a","length":4}\nRULE') == *'"error":"wrong-rules"'* ]]
	[[ $(control raw '{"op":"load","unit":"a","length":4}\nASTC') == *'"error":"wrong-rules"'* ]]
	[[ $(control raw '{"op":"load","unit":"a","length":0}\n') == *'"ok":'* ]]
	[ -z "$(control raw '{"op":"pi')" ]
	control announce 16000000
	[[ $(control long 65537) == *'"error":"too-long"'* ]]
	[[ $(control long 3000000) == *'"error":"too-long"'* ]]
	wait $half
	[[ $(cat half) == *'"error":"late"'* ]]
	[ "$(control slow)" = "True True" ]
	[ "$(control crowd 64)" = 64 ]
	[ "$(control crowd 80)" = 64 ]
	ctl ping
	[ "$(as_nobody true; asked 'q["daemon"]["clients"]')" = 1 ]
}

@test "a rule whose places are all taken is told in the log and the output, once" {
	cat >rules/small.rule <<-'END'
		RULE small PATTERN { [sys_exit_getppid:a, sys_exit_getpgid:b] } WHERE { [tid] } POOL 2 REPLACE
	END
	start
	call 5
	await '"notice":"pool"' out
	call 5
	sleep 2
	[ "$(grep -c notice out)" = 1 ]
	[ "$(grep notice out)" = '{"notice":"pool","unit":"small.rule","rule":"small","refused":0,"replaced":3}' ]
	[ "$(grep -c 'small.rule: the pool of rule small was full' log)" = 1 ]
	[ "$(asked 'u["small.rule"]["rules"][0]["replaced"]')" = 8 ]
}

@test "a rule that could not read an event is named in the log, and the event" {
	echo 'RULE opens PATTERN { sys_enter_openat:o } WHERE { o.filename LIKE "/nowhere/*" }' >rules/opens.rule
	mkfifo go
	python3 -S -c 'import ctypes
open("go").read()
for _ in range(3): ctypes.CDLL(None).openat(-100, ctypes.c_void_p(8), 0)' 3>&- 6<&- 7>&- &
	local opens=$!
	start --pid "$opens"
	echo >go
	wait "$opens"
	await 'opens.rule: rule opens did not see 3 events completely' log
	grep -q "rule opens did not see 3 events completely: .*; the last one: sys_enter_openat; 'asterism record -e sys_enter_openat'" log
	sleep 2
	[ "$(grep -c 'completely' log)" = 1 ]
}

@test "a rule that io_uring goes round is named in the log, the output and the metrics" {
	local plant=$build/tests/kernel/plant-io-uring
	[ "$("$plant" probe)" = ok ] || skip "io_uring is refused here: $("$plant" probe)"
	echo 'RULE opens PATTERN { sys_enter_openat:o } WHERE { o.filename LIKE "/nowhere/*" }' >rules/opens.rule
	mkfifo go
	sh -c 'read -r _; exec "$0" ring file 3' "$plant" <>go 3>&- 6<&- 7>&- &
	local ring=$! port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
	start --pid "$ring" --metrics 127.0.0.1:$port
	echo >go
	wait "$ring"
	await '"notice":"bypass"' out
	[ "$(grep notice out)" = '{"notice":"bypass","unit":"opens.rule","rule":"opens","calls_32bit":0,"io_uring":3}' ]
	[ "$(grep -c 'opens.rule: rule opens did not see 0 32-bit system calls and 3 io_uring operations' log)" = 1 ]
	[ "$(asked 'u["opens.rule"]["rules"][0]["io_uring"]')" = 3 ]
	run python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())' "http://127.0.0.1:$port/metrics"
	[[ $output == *'asterism_io_uring_total{unit="opens.rule",rule="opens"} 3'* ]]
}

@test "a rule that floods is limited and counted; others are not kept waiting" {
	printf 'RULE flood PATTERN { [sys_enter:a] }\n' >rules/flood.rule
	cp two.rule rules/
	start --rate 100
	for _ in 1 2 3; do call 50000; done
	await '"match":"two"' out 100
	await '"dropped":{"unit":"flood.rule","rule":"flood","matches":' out
	await 'matches of rule flood were only counted' log
	[ "$(asked 'u["flood.rule"]["rules"][0]["handed"] + u["flood.rule"]["rules"][0]["refused"] + u["flood.rule"]["rules"][0]["lost"] >= 150000')" = True ]
	ctl ping
}

@test "--min-severity: rules that matter less are counted, and delivered to nobody" {
	for level in low high; do
		printf 'RULE %s PATTERN { sys_exit_getppid:a } SEVERITY %s\n' $level $level >rules/$level.rule
	done
	printf 'RULE none PATTERN { sys_exit_getppid:a }\n' >rules/none.rule
	start --min-severity medium
	call 5
	await '"match":"high"' out 5
	[ "$(asked '[(u[n]["rules"][0]["matches"], u[n]["rules"][0]["handed"], u[n]["rules"][0]["below_severity"]) for n in ("high.rule", "low.rule", "none.rule")]')" = "[(5, 5, 0), (5, 0, 5), (5, 0, 5)]" ]
	! grep -q '"match":"low"\|"match":"none"' out
	ctl query | grep -q '5 below --min-severity'
	run -2 "$asterismd" --min-severity some
	[[ $output == *"--min-severity"* ]]
}

@test "a client that does not fetch its results loses them, counted" {
	cp pair.rule rules/
	start --rate 100000
	control overflow pair.rule go >got 3>&- 6<&- 7>&- &
	client=$!
	await ready got
	call 1000
	await '"match":"pair"' out 1000
	touch go
	wait $client
	[[ $(sed -n 2p got) == *'"dropped": 744'* && $(sed -n 3p got) == *'"dropped": 0'* ]]
}

@test "the output: reopened for logrotate, a full disk, a reader that is gone" {
	cp pair.rule rules/
	start
	call 1
	await '"match":"pair"' out
	mv out out.1
	kill -USR1 "$daemon"
	wait_for [ -e out ]
	call 1
	await '"match":"pair"' out
	[ "$(wc -l <out.1)" = 1 ]
	stop
	start --output /dev/full
	call 5
	await 'No space left on device' log
	[ "$(asked 'q["daemon"]["lines_dropped"], q["daemon"]["lines_written"]')" = "(5, 0)" ]
	kill -HUP "$daemon"
	kill -USR1 "$daemon"
	ctl ping
	call 1
	wait_for has_dropped 6
	! grep -q 'written to /dev/full again' log
	stop
	"$asterismd" --rules rules --socket ctl.sock --pid "$puppet" --output unix:reader.sock 2>log 3>&- 6<&- 7>&- &
	daemon=$!
	await observing log
	call 3
	wait_for has_dropped 3
	python3 -c 'import socket
s = socket.socket(socket.AF_UNIX)
s.bind("reader.sock")
s.listen()
print(s.accept()[0].makefile().readline(), end="")' >read 3>&- 6<&- 7>&- &
	reader=$!
	wait_for [ -e reader.sock ]
	sleep 1.2
	call 1
	wait $reader
	[[ $(cat read) == '{"unit":"pair.rule",'* ]]
	call 1
	call 1
	ctl ping
	stop
}

# Whether the kernel has none of these programs any more.
are_gone() {
	[ -z "$(python3 "$BATS_TEST_DIRNAME/programs.py" "$@")" ]
}

# Whether it has dropped so many lines.
has_dropped() {
	[ "$(asked 'q["daemon"]["lines_dropped"]')" = "$1" ]
}

@test "a reader that takes nothing blocks nobody" {
	cp pair.rule rules/
	mkfifo pipe
	exec 8<>pipe
	"$asterismd" --rules rules --socket ctl.sock --pid "$puppet" --rate 1000000 2>log >pipe 3>&- 6<&- 7>&- 8>&- &
	daemon=$!
	await observing log
	for _ in 1 2 3; do call 5000; done
	ctl ping
	[ "$(asked 'q["daemon"]["lines_dropped"] > 0')" = True ]
	exec 8>&-
}

@test "many times load and unload: nothing grows" {
	local times=100
	[ -z "$ASTERISM_TEST_LONG" ] || times=1000
	start
	[[ $(control cycles "$times" "$daemon" | tee grown) == '{'* ]]
	cat grown >&3
	python3 -c 'import json, sys
times = int(sys.argv[1])
said = json.load(open("grown"))
before, after = said["before"], said["after"]
memory = after.pop("kb") - before.pop("kb")
assert before == after, said
assert memory < 64 + times // 4, (memory, said)' $times
}

@test "killed: nothing stays in the kernel, and the next daemon takes the socket" {
	cp pair.rule rules/
	start
	ids=$(sed -n 's/^prog_id:[[:space:]]*//p' /proc/$daemon/fdinfo/* | sort -u)
	[ -n "$ids" ]
	kill -KILL "$daemon"
	wait "$daemon" || true
	wait_for are_gone $ids
	[ -S ctl.sock ]
	run --separate-stderr -2 ctl ping
	[[ $stderr == "asterism: error: asterismd is not running: no process listens at ctl.sock"* ]]
	start
	ctl ping
	run -1 "$asterismd" --rules rules --socket ctl.sock --pid "$puppet"
	[[ $output == *"another daemon is listening at ctl.sock"* ]]
	ctl ping
}

@test "metrics: every line is right, counters count" {
	"$asterismd" --help | grep -q metrics
	cp pair.rule rules/'we"ird\.rule'
	printf 'RULE tally PATTERN { [sys_exit_getppid:a] } DO { CALL Count("calls"); CALL Histogram("size", 5) }\n' >rules/tally.rule
	port=$((20000 + $$ % 20000))
	start --metrics 127.0.0.1:$port --measure
	call 7
	await '"match":"pair"' out 7
	curl -sf http://127.0.0.1:$port/metrics >metrics
	python3 "$BATS_TEST_DIRNAME/../rig/exposition.py" metrics >parsed
	grep -qxF 'asterism_matches_total{unit="we\"ird\\.rule",rule="pair"} 7' metrics
	grep -qxF 'asterism_count_total{unit="tally.rule",name="calls"} 7' metrics
	grep -qxF 'asterism_values_bucket{unit="tally.rule",name="size",le="3"} 0' metrics
	grep -qxF 'asterism_values_bucket{unit="tally.rule",name="size",le="7"} 7' metrics
	grep -q '^asterism_unit_kernel_seconds_total{unit="tally.rule"} [0-9.e-]*[1-9]' metrics
	for name in matches_total runs_opened_total lost_total pool_exhausted_total resident_bytes cpu_seconds_total clients units \
		results_dropped_total; do
		grep -q "^asterism_$name" parsed
	done
	[ "$(curl -s -o /dev/null -w '%{http_code}' -X POST -d x=1 http://127.0.0.1:$port/metrics)" = 405 ]
	[ "$(curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:$port/)" = 404 ]
	ctl ping
}

@test "no more rules above the limits" {
	start --memory-max 1M --units-max 2
	run --separate-stderr -2 ctl load pair.rule
	[[ $stderr == *"no more rules"* ]]
	stop
	start --units-max 2
	ctl load pair.rule
	ctl load two.rule
	run --separate-stderr -2 ctl load two.rule three
	[[ $stderr == *"the limit of 2 units is reached"* ]]
	stop
	start --group nogroup --memory-max 64M
	for i in $(seq 65); do sed "s/RULE pair/RULE pair$i/" pair.rule; done >many.rule
	run --separate-stderr -2 as_nobody "$ASTERISM" ctl --socket ctl.sock load many.rule
	[ "$stderr" = "asterism: error: a unit of a user other than root may have at most 64 rules" ]
	head -c 1100000 /dev/zero | tr '\0' '#' >large.rule
	run --separate-stderr -2 as_nobody "$ASTERISM" ctl --socket ctl.sock load large.rule
	[[ $stderr == *"limited to 1048576 bytes"* ]]
	run --separate-stderr -2 ctl load many.rule
	[[ $stderr == *"loading it would raise the daemon's memory to "*" KiB"* ]]
	[ "$(asked 'list(u), q["daemon"]["kernel_bytes"]')" = "([], 0)" ]
}

@test "the curated rules fit what the daemon may take by itself, and what its unit may" {
	"$ASTERISM" check @default | sed -n 's/^\(.*\.rule\):[0-9]*: .*/\1/p' | sort -u >curated
	[ "$(wc -l <curated)" -gt 15 ]
	xargs -d '\n' cp -t rules <curated
	unit=$build/data/asterismd.service
	"$asterismd" --rules rules --socket ctl.sock --pid "$puppet" --output out \
		$(grep -o -- '--memory-max [^ ]*' "$unit") 2>log 3>&- 6<&- 7>&- &
	daemon=$!
	ASTERISM_TEST_PATIENCE=6 wait_for says_or_ended observing "$daemon" log
	grep -q "observing with $(wc -l <curated) active units" log
	[ "$(asked 'len(u)')" = "$(wc -l <curated)" ]
	# Twice: with the default as well as with the unit's own words; and the kernel's limit is above both.
	python3 - "$unit" "$("$asterismd" --help | grep -A1 -- --memory-max)" <<-'END'
		import re, sys
		unit = open(sys.argv[1]).read()
		size = {"M": 1, "G": 1024}
		asked = re.search(r"--memory-max (\d+)([MG])", unit)
		limit = re.search(r"^MemoryMax=(\d+)([MG])", unit, re.M)
		default = re.search(r"default: *(\d+)([MG])", sys.argv[2])
		mib = [int(m[1]) * size[m[2]] for m in (asked, default, limit)]
		assert mib[0] == mib[1] < mib[2], mib
	END
}

@test "too much of the processor: matches are only counted, then a unit of user space goes" {
	cat >rules/busy.rule <<-'END'
		EVENT seen { n: u64 }
		RULE source PATTERN { [sys_enter_getppid:a] } DO { EMIT seen(n = 1) }
	END
	for i in $(seq 20); do # so that a few events are too much on a machine with much else to do, too
		echo "RULE busy$i PATTERN { [seen:s] } WHERE { s.n * 1.0 > 0.5 } RETURN { s.n }" >>rules/busy.rule
	done
	start --cpu-max 1 --rate 1000000
	[[ $(asked '[r["place"] for r in u["busy.rule"]["rules"]]') == *user* ]]
	echo 30000000 >&7 # without a pause, so that no second is quiet; ended with the puppet
	await 'busy.rule: deactivated, because it used too much' log
	grep -q 'matches are only counted from now on' log
	[ "$(asked 'u["busy.rule"]["state"]')" = loaded ]
	ctl ping
}

@test "when all processes of --pid have ended the log says so, once, and the daemon stays up" {
	cp pair.rule rules/
	sleep 60 3>&- 6<&- 7>&- &
	other=$!
	start --pid "$other" --pid "$other"
	kill "$other"
	wait "$other" || true
	call 1
	await '"match":"pair"' out
	! grep -q 'all processes of --pid have ended' log
	kill "$puppet"
	await 'warning: all processes of --pid have ended except descendants that still run; asterismd keeps running' log
	[[ $(ctl ping) == "asterismd "*" runs" ]]
	[ "$(asked 'u["pair.rule"]["rules"][0]["matches"]')" = 1 ]
	stop
	[ "$(grep -c 'all processes of --pid have ended' log)" = 1 ]
}

@test "systemd is told, and the log has levels" {
	python3 -c 'import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("notify")
while True:
    got = s.recv(4096).decode()
    print(got.split("\n")[0], flush=True)
    if got.startswith("STOPPING"):
        break' >told 3>&- 6<&- 7>&- &
	wait_for [ -e notify ]
	export NOTIFY_SOCKET=$PWD/notify JOURNAL_STREAM=1:2
	cp pair.rule rules/
	echo nonsense >rules/wrong.rule
	start
	await READY=1 told
	kill -HUP "$daemon"
	await RELOADING=1 told
	await READY=1 told 2
	stop
	await STOPPING=1 told
	grep -q '^<3>wrong.rule:1:1: ' log
	grep -q '^<6>observing' log
	! grep -q '^asterismd:' log
}

@test "the command line: what is wrong is said" {
	run -2 "$asterismd" --scope nowhere
	[[ $output == *"--scope cannot be 'nowhere'"* ]]
	run -2 "$asterismd" --pid x
	run -2 "$asterismd" --memory-max 5Q
	run -2 "$asterismd" --scope all --pid 1
	run -2 "$asterismd" --allow-actions --policy x
	run -2 "$asterismd" more
	run -2 "$asterismd" --rules rules --socket ctl.sock --pid "$puppet" --group no-such-group
	[[ $output == *"unknown group 'no-such-group'"* ]]
	[ "${lines[-1]}" = "asterismd: error: ended, with status 2" ]
	run -2 "$asterismd" --rules rules --socket ctl.sock --pid "$puppet" --metrics nowhere
	true &
	wait $!
	run -2 "$asterismd" --rules rules --socket ctl.sock --pid $!
	[[ $output == *"process "*" does not exist"* ]]
	run -1 "$asterismd" --rules rules --socket ctl.sock --pid "$puppet" --output no/such/file
	[ "${lines[0]}" = "asterismd: error: cannot write matches to no/such/file: No such file or directory" ]
	[ "${lines[-1]}" = "asterismd: error: ended, with status 1" ]
	run "$asterismd" --rules rules --socket ctl.sock --pid "$puppet" --policy /nowhere
	[ "$status" = 2 ]
	run --separate-stderr -2 "$ASTERISM" ctl --socket ctl.sock pong
	[[ $stderr == *"did you mean ping?"* ]]
	run --separate-stderr -2 "$ASTERISM" ctl load
	run --separate-stderr -2 "$ASTERISM" ctl continue x
	[[ $stderr == *"'x' is not a ticket"* ]]
}

@test "the systemd unit: right, and its capabilities are enough" {
	unit=$build/data/asterismd.service
	caps=$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | tr 'A-Z' 'a-z' | sed 's/cap_/+/g; s/ /,/g')
	[ -n "$caps" ]
	cp pair.rule rules/
	setpriv --bounding-set="-all,$caps" --no-new-privs "$asterismd" --rules rules --socket ctl.sock --pid "$puppet" \
		--output out --group nogroup --allow-actions 2>log 3>&- 6<&- 7>&- &
	daemon=$!
	await observing log
	call 2
	await '"match":"pair"' out 2
	ctl load kill.rule
	echo pgid >&7
	puppet_ends 137
	[ "$(asked 'u["pair.rule"]["rules"][0]["lost"]')" = 0 ]
	command -v systemd-analyze || return 0
	sed 's/^ExecStart=[^ ]*/ExecStart=\/bin\/true/; /^Documentation=/d' "$unit" >asterismd.service
	run -0 systemd-analyze verify ./asterismd.service
	[ -z "$output" ]
}

@test "with --count-transitions a query of one unit tells how often conditions were asked and true" {
	cat >rules/some.rule <<-'END'
		RULE some PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid], a.id IN { getppid, getpgid }, a.id == getppid, b.id == getppid, b.ret < 0 }
	END
	start --count-transitions
	call 5
	call pgid
	ctl query some.rule >asked
	[[ "$(cat asked)" =~ [0-9]+\ +5\ +[0-9.]+\ %\ +a.id\ ==\ getppid ]] # the cheapest is asked first
	[[ "$(cat asked)" =~ [^0-9]5\ +5\ +100\ %\ +a.id ]]
	[[ "$(cat asked)" =~ [0-9]+\ +0\ +0\ %\ +b.ret\ \<\ 0 ]]
	[[ "$(ctl query)" != *tried* ]]
	ctl deactivate some.rule
	ctl activate some.rule
	call 2
	[[ "$(ctl query some.rule)" =~ [0-9]+\ +7\ +[0-9.]+\ %\ +a.id\ ==\ getppid ]]
	stop
}
