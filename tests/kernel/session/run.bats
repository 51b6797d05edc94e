#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# `asterism run` from the outside: what it observes, how it ends, what it leaves behind. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
	cat >slow.rule <<-'END'
		RULE slow PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid], a.id IN { 35, 230 }, b.ts - a.ts > 100ms }
		RETURN { a.id AS id }
	END
	printf 'RULE never PATTERN { sys_enter:a } WHERE { a.id == 9999 }\n' >never.rule
}

# Waits until the session whose standard error goes to the file says that it observes.
wait_until_observing() {
	await grep -q observing "$1" || { cat "$1"; false; }
}

# `await COMMAND...`: until it succeeds; a minute is too long on any machine.
await() {
	for _ in $(seq 1200); do
		! "$@" || return 0
		sleep 0.05
	done
	return 1
}

# The ids of the programs that a process holds.
programs_of() {
	sed -n 's/^prog_id:[[:space:]]*//p' /proc/$1/fdinfo/* | sort -u
}

@test "a command and its descendants; the last line holds the statistics" {
	run --separate-stderr -0 "$ASTERISM" run -f json slow.rule -- sh -c 'sleep 0.2; true'
	[ ${#lines[@]} = 2 ]
	[[ ${lines[0]} == '{"match":"slow",'*'"comm":"sleep","return":{"id":230},"tainted":false,"names":{"id":"clock_nanosleep"},"time":"'*'Z","host":"'"$(uname -n)"'"}' ]]
	[[ ${lines[1]} == '{"stats":{"events":'*'"lost":0,"rules":{"slow":{"matches":1,'* ]]
}

@test "text says the date and the host, or the clock, or what has passed; JSON both" {
	local began=$(date +%s) line
	for form in '' '--time wall'; do
		TZ=UTC run --separate-stderr -0 "$ASTERISM" run $form slow.rule -- sh -c 'sleep 0.2'
		[[ ${lines[0]} =~ ^(20[0-9-]{8}T[0-9:]{8})"."[0-9]{9}"+00:00  $(uname -n)  slow  sleep[" ]]
		line=$(date -d "${BASH_REMATCH[1]}Z" +%s)
		[ "$line" -ge "$began" ] && [ "$line" -le "$(date +%s)" ]
	done
	TZ=ABC-5:30 run --separate-stderr -0 "$ASTERISM" run slow.rule -- sleep 0.2
	[[ ${lines[0]} =~ ^20[0-9-]{8}T[0-9:]{8}"."[0-9]{9}"+05:30  " ]]
	run --separate-stderr -0 "$ASTERISM" run --time mono slow.rule -- sleep 0.2
	[[ ${lines[0]} =~ ^" "*[0-9]+"."[0-9]{9}"  slow  sleep[" ]]
	run --separate-stderr -0 "$ASTERISM" run --time delta slow.rule -- sh -c 'sleep 0.2; sleep 0.3'
	[[ ${lines[0]} == "    +0.000000000  slow  sleep["* ]]
	[[ ${lines[1]} =~ ^"    +"[0-9]+"."[0-9]{9}"  slow  sleep[" ]]
	run --separate-stderr -0 "$ASTERISM" run -f json slow.rule -- sleep 0.2
	# The date is that of ts, by the clocks of now.
	python3 - "${lines[0]}" <<-'END'
		import calendar, json, sys, time
		match = json.loads(sys.argv[1])
		second, rest = match["time"].split(".")
		wall = calendar.timegm(time.strptime(second, "%Y-%m-%dT%H:%M:%S")) * 10**9 + int(rest[:9])
		assert abs(wall - match["ts"] - (time.time_ns() - time.monotonic_ns())) < 10**9, match
		assert list(match)[-2:] == ["time", "host"], match
	END
}

@test "a rule on the command line" {
	run --separate-stderr -0 "$ASTERISM" run -f json -r '[sys_enter:a, sys_exit:b] WHERE { [tid], a.id IN { 35, 230 }, b.ts - a.ts > 100ms } RETURN { a.id AS id }' -- sleep 0.2
	[[ ${lines[0]} == '{"match":"rule",'*'"comm":"sleep","return":{"id":230},"tainted":false,"names":{"id":"clock_nanosleep"},"time":"'*'Z","host":"'"$(uname -n)"'"}' ]]
	run --separate-stderr -0 "$ASTERISM" record -o trace -r 'sys_enter_close' -- true
	run --separate-stderr -0 "$ASTERISM" replay -f json -r 'sys_enter_close:a' trace
	[[ ${lines[0]} == '{"match":"rule",'* ]]
}

@test "text: the summary is on standard error, with -v also the start and a table" {
	run --separate-stderr -0 "$ASTERISM" run slow.rule -- sleep 0.2
	[[ $output == *slow*sleep* ]]
	[[ $stderr == "asterism: note: 1 match, "* ]]
	run --separate-stderr -0 "$ASTERISM" run -v slow.rule -- sleep 0.01
	[[ ${stderr_lines[0]} == "asterism: note: observing, after "*" of preparation; the command starts now" ]]
	[[ ${stderr_lines[1]} == rule*matches*lost ]]
	run --separate-stderr -0 "$ASTERISM" run -q slow.rule -- sleep 0.01
	[ -z "$stderr$output" ]
}

@test "the first event of the command is seen" {
	printf 'RULE exec PATTERN { sched_process_exec:x } WHERE { x.filename LIKE "*/true" } RETURN { x.filename AS f }\n' >exec.rule
	run --separate-stderr -0 "$ASTERISM" run -q -f json exec.rule -- "$(command -v true)"
	[ ${#lines[@]} = 2 ]
	[[ ${lines[0]} == *'/true"}'* ]]
}

@test "a name is the same as its characters, whatever was in its place" {
	cp "$(type -P true)" fifteen-letters
	cp "$(type -P true)" abc
	printf 'RULE name PATTERN { sched_process_exec:x } WHERE { x.comm == "abc" } RETURN { x.comm AS c }\n' >name.rule
	run --separate-stderr -0 "$ASTERISM" run -q -f json name.rule -- sh -c './fifteen-letters; ./abc; ./fifteen-letters; ./abc; true'
	[ ${#lines[@]} = 3 ]
	[[ ${lines[1]} == *'"return":{"c":"abc"}'* ]]
}

@test "the status is the command's" {
	run -7 "$ASTERISM" run -q never.rule -- sh -c 'exit 7'
	run -137 "$ASTERISM" run -q never.rule -- sh -c 'kill -KILL $$'
	run -1 "$ASTERISM" run -q --fail-on-match slow.rule -- sleep 0.2
	run -0 "$ASTERISM" run -q --fail-on-match never.rule -- true
}

@test "the command's output and input are its own" {
	run --separate-stderr -0 "$ASTERISM" run -q -o matches slow.rule -- sh -c 'read line; echo "got $line"; echo err >&2' <<<hello
	[ "$output" = "got hello" ]
	[ "$stderr" = err ]
}

@test "a wrong command: one sentence, status 2, nothing attached" {
	touch plain
	run --separate-stderr -2 "$ASTERISM" run slow.rule -- no-such-command
	[ "$stderr" = "asterism: error: command not found: 'no-such-command'" ]
	run --separate-stderr -2 "$ASTERISM" run slow.rule -- ./plain
	[[ $stderr == *"cannot run"* ]]
	run --separate-stderr -2 "$ASTERISM" run slow.rule -- "$PWD"
	[[ $stderr == *"is a directory"* ]]
	printf '#!/no/such/interpreter\n' >script
	chmod +x script
	run --separate-stderr -2 "$ASTERISM" run slow.rule -- ./script
	[[ $stderr == *"command not found"* ]]
}

@test "a process that is gone, a thread, itself: status 2" {
	true &
	local gone=$!
	wait $gone
	run --separate-stderr -2 "$ASTERISM" run slow.rule -p $gone
	[ "$stderr" = "asterism: error: process $gone does not exist" ]
}

@test "a process that ends while the rules are loaded is named" {
	local ending strace
	strace=$(command -v strace) || skip "no strace"
	sleep 60 &
	ending=$!
	run --separate-stderr -2 "$strace" -qq -o /dev/null -e trace=kill -e inject=kill:error=ESRCH "$ASTERISM" run slow.rule -p $ending
	kill $ending
	[ "$stderr" = "asterism: error: process $ending ended before it could be observed" ]
}

@test "-p: until the process ends, and only that process" {
	mkfifo go
	sh -c 'read -r _ <go; exec sleep 0.2' &
	local watched=$!
	sh -c 'while :; do sleep 0.2; done' &
	local other=$!
	"$ASTERISM" run -v -f json slow.rule -p $watched >out 2>err &
	local session=$!
	wait_until_observing err
	echo >go
	wait $session
	kill $other
	wait $other || true
	[ "$(wc -l <out)" = 2 ]
	[[ $(head -n 1 out) == *"\"pid\":$watched,"* ]]
}

@test "--for ends the session and the command, whose status it is" {
	run --separate-stderr -143 timeout $((10 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" run -f json --for 300ms never.rule -- sh -c 'echo $$ >pid; exec sleep 60'
	[[ ${lines[-1]} == '{"stats":'* ]]
	! kill -0 "$(cat pid)" 2>/dev/null
	run -0 timeout $((10 * ${ASTERISM_TEST_PATIENCE:-1})) "$ASTERISM" run -q --for 0.2s never.rule -a
}

@test "SIGTERM and SIGINT end it cleanly with the statistics, status 0" {
	for signal in TERM INT; do
		sleep 30 &
		local watched=$!
		# Background jobs ignore SIGINT; env resets that.
		env --default-signal=INT,HUP "$ASTERISM" run -v -f json -o out.$signal never.rule -p $watched 2>err.$signal &
		local session=$!
		wait_until_observing err.$signal
		kill -$signal $session
		wait $session
		kill $watched
		wait $watched || true
		[[ $(tail -n 1 out.$signal) == '{"stats":'* ]]
	done
}

@test "a signal while the rules are loaded: it is said, and the command is not started" {
	local how session status
	for how in "run @all" "record -o none.trace @all" "run @all -p $$"; do
		case $how in *-p*) set -- $how ;; *) set -- $how -- touch started ;; esac
		for signal in INT TERM HUP; do
			env --default-signal=INT,HUP "$ASTERISM" "$@" 2>err 3>&- &
			session=$!
			await takes_early "$session"
			kill -$signal "$session"
			status=0
			wait "$session" || status=$?
			[ "$status" = $((128 + $(kill -l $signal))) ]
			case $how in
			*-p*) [ "$(tail -n 1 err)" = "asterism: error: interrupted before the session began; nothing was observed" ] ;;
			*) [ "$(tail -n 1 err)" = "asterism: error: interrupted before the session began; the command was not started" ] ;;
			esac
			[ ! -e started ]
			rm -rf none.trace
		done
	done
}

# Whether it has a handler for SIGINT, so that it says what a signal ends.
takes_early() {
	(( 0x$(sed -n 's/^SigCgt:\t//p' "/proc/$1/status") & 2 ))
}

@test "a signal reaches the command, whose last events count" {
	cat >term.rule <<-'END'
		RULE term PATTERN { [signal_deliver:s, sched_process_exit:x] } WHERE { [tid], s.sig == 15 } RETURN { s.sig AS sig }
	END
	"$ASTERISM" run -v -f json -o out term.rule -- sh -c 'trap "exit 3" TERM; : >trapped; while :; do sleep 0.05; done' 2>err &
	local session=$!
	wait_until_observing err
	await [ -e trapped ]
	kill -TERM $session
	local ended=0
	wait $session || ended=$?
	[ $ended = 3 ]
	[[ $(head -n 1 out) == '{"match":"term",'* ]]
	[[ $(tail -n 1 out) == '{"stats":'* ]]
}

@test "a command that ignores the signal goes on; a second one ends the session at once" {
	"$ASTERISM" run -v -o out never.rule -- sh -c 'trap "" TERM; echo $$ >deaf; exec sleep 60' 2>err &
	local session=$!
	wait_until_observing err
	await [ -s deaf ]
	SECONDS=0
	# Two signals that come together are one.
	while kill -TERM $session 2>/dev/null; do sleep 0.2; done
	local ended=0
	wait $session || ended=$?
	[ $ended = 143 ]
	[ $SECONDS -lt 30 ]
	grep -q "continues unobserved" err
	kill -KILL "$(cat deaf)"
}

@test "a reader that goes away ends it quietly" {
	printf 'RULE all PATTERN { sys_enter:a } RETURN { a.id }\n' >all.rule
	run --separate-stderr bash -c '"$0" run -q all.rule -- sh -c "for i in 1 2 3 4 5 6 7 8; do /bin/true; done" | head -n 1; exit ${PIPESTATUS[0]}' "$ASTERISM"
	[ "$status" = 0 ]
	[ ${#lines[@]} = 1 ]
	[ -z "$stderr" ]
}

@test "nothing stays in the kernel, not even after kill -9" {
	command -v bpftool >/dev/null || skip "bpftool is not installed"
	for signal in TERM KILL; do
		"$ASTERISM" run -v -o /dev/null slow.rule -a 2>err &
		local session=$!
		wait_until_observing err
		local held=$(programs_of $session)
		[ -n "$held" ]
		for id in $held; do
			bpftool prog show id $id >/dev/null
		done
		kill -$signal $session
		wait $session || true
		# The kernel frees programs after a grace period.
		for id in $held; do
			await eval "! bpftool prog show id $id 2>/dev/null"
		done
	done
}

@test "rules that the kernel cannot run go to user space, with a note; SYNCHRONOUS ones are an error" {
	printf 'RULE story PATTERN { [sys_enter[]:a, sys_exit:b] } WHERE { [tid], b.ret == 39, a.len > 1.5 }\n' >story.rule
	run --separate-stderr -0 "$ASTERISM" run -f json story.rule -- true
	[[ $stderr == *"asterism: note: rule story runs in user space: "* ]]
	run --separate-stderr -0 "$ASTERISM" run -q -f json story.rule -- true
	[[ $stderr != *note:* ]]
	sed 's/^/SYNCHRONOUS /' story.rule >must.rule
	run --separate-stderr -2 "$ASTERISM" run must.rule -- true
	[[ $stderr == *"rule story is SYNCHRONOUS but cannot run in the kernel: "* ]]
}

@test "a rule for user space among rules that one number tells apart" {
	for i in 1 2 3 4 5; do
		echo "RULE r$i PATTERN { sys_enter:a } WHERE { a.id == $((9000 + i)) }"
	done >many.rule
	sed -i '3s/.*/RULE r3 PATTERN { sys_enter:a } WHERE { a.id == 231, a.id > 0.5 }/' many.rule # exit_group
	run --separate-stderr -0 "$ASTERISM" run -f json many.rule -- true
	[[ $stderr == "asterism: note: rule r3 runs in user space: "* ]]
	[ "$(grep -c '"match":"r3"' <<<"$output")" = 1 ]
}

@test "many rules in user space are one note; rules whose memory is too large run there, and matches that the kernel cannot add up are a note" {
	for i in 1 2 3 4 5 6 7 8 9 10; do
		echo "RULE far$i PATTERN { [sys_enter[]:a, sys_exit:b] } WHERE { [tid], b.ret == 39, a.len > 1.5 }"
	done >many.rule
	run --separate-stderr -0 "$ASTERISM" run -f json many.rule -- true
	[ "$(grep -c 'in user space' <<<"$stderr")" = 1 ]
	[[ $stderr == *"asterism: note: 10 rules and machines run in user space: far1, far2, far3, far4, far5, far6, far7, far8 and 2 more"$'\n'"help: 'asterism check' says why"* ]]
	printf 'RULE large PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid] } WITHIN 1s POOL 8000000\n' >large.rule
	run --separate-stderr -0 "$ASTERISM" run -f json large.rule -- true
	[[ $stderr == *"asterism: note: rule large runs in user space: its runs take more than 256 MiB"* ]]
	[[ $output == *'"match":"large"'* ]]
	rule='[sys_enter:a, sys_exit:b] WHERE { [tid] } AGGREGATE { COUNT, AVG(b.ret * 1.5) }'
	run --separate-stderr -0 "$ASTERISM" run -r "$rule" -- true
	[[ $stderr == *"asterism: note: rule rule sends its matches to user space, where they are aggregated: a value is a floating-point number"* ]]
	run --separate-stderr -0 "$ASTERISM" run -q -r "$rule" -- true
	[ -z "$stderr" ]
	run --separate-stderr -0 "$ASTERISM" run -r "${rule/AVG*/SUM(b.ret) \}}" -- true
	[[ $stderr != *delivered* ]]
	run --separate-stderr -0 "$ASTERISM" run -r "$rule RETURN { b.ret }" -- true
	[[ $stderr != *delivered* ]] # as they are wanted one by one
}

@test "the events of a match in the kernel have no ordinal, and none is told" {
	printf 'SYNCHRONOUS RULE calls PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid] } RETURN SEQUENCE\n' >calls.rule
	run --separate-stderr -0 "$ASTERISM" run -f json calls.rule -- true
	[[ $output == *'"sequence":[{"event":"sys_enter","name":"a","ts":'* ]]
	[[ $output != *'"seq":'* ]]
}

@test "an event type that nothing raises: status 2, nothing attached" {
	printf 'EVENT A { x: i64 }\nRULE r PATTERN { A:a }\n' >own.rule
	run --separate-stderr -2 "$ASTERISM" run own.rule -- true
	[[ $stderr == *"the kernel does not raise it"* ]]
}

@test "without privilege: one sentence, status 4" {
	local folder=$(mktemp -d /tmp/asterism-test-XXXXXX)
	cp "$ASTERISM" slow.rule "$folder"
	cp -r "${ASTERISM_CATALOGS:-$BATS_TEST_DIRNAME/../../../catalogs}" "$folder/catalogs"
	chmod -R a+rX "$folder"
	run --separate-stderr setpriv --reuid=65534 --regid=65534 --clear-groups \
		env ASTERISM_CATALOGS="$folder/catalogs" "$folder/asterism" run "$folder/slow.rule" -- true
	rm -r "$folder"
	[ "$status" = 4 ]
	[ -z "$output" ]
	[ ${#stderr_lines[@]} -le 2 ]
	[[ $stderr == "asterism: error: "*root* ]]
}

@test "replay --engine kernel gives what the engine gives" {
	cat >pair.rule <<-'END'
		EVENT A { x: i64 }
		EVENT B { x: i64 }
		RULE pair PATTERN { [A:a, B:b] } WHERE { [x] } RETURN { a.x AS x }
	END
	printf '{"event":"A","ts":1,"x":7}\n{"event":"B","ts":2,"x":8}\n{"event":"B","ts":3,"x":7}\n' >pair.jsonl
	run --separate-stderr -0 "$ASTERISM" replay -f json --engine kernel pair.rule pair.jsonl
	[ "${lines[0]}" = '{"match":"pair","ts":3,"cpu":0,"pid":0,"tid":0,"comm":"","return":{"x":7},"tainted":false}' ]
	printf 'EVENT A { x: f64 }\nRULE r PATTERN { A:a } WHERE { a.x * 2.0 > 1.0 }\n' >float.rule
	run --separate-stderr -2 "$ASTERISM" replay --engine kernel float.rule pair.jsonl
	[[ $stderr == *"rule r cannot run in the kernel: "* ]]
}

# The kernel takes the low half of the register for the number.
@test "a system call by a number with more bits set is the same call, at both ends" {
	cat >ends.rule <<-'END'
		RULE ends PATTERN { [sys_enter_getpgid:a, sys_exit_getpgid:b] } WHERE { [tid], a.target_pid == 1000077 } RETURN { b.ret AS ret }
		RULE raw PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid], a.arg0 == 1000077, a.id == 121, b.id == 121 } RETURN { b.ret AS ret }
	END
	run -0 "$ASTERISM" run -q -f json ends.rule -- \
		python3 -SEc 'import ctypes; ctypes.CDLL(None).syscall(ctypes.c_long(0x1234500000000 | 121), ctypes.c_long(1000077))'
	[ "$(grep -c '"match":"ends".*"ret":-3' <<<"$output")" = 1 ]
	[ "$(grep -c '"match":"raw".*"ret":-3' <<<"$output")" = 1 ]
}

@test "in a pid namespace of its own it says why it cannot observe a command, and what it can" {
	run -4 unshare --pid --fork --mount-proc "$ASTERISM" run -r 'sys_enter_openat:a' -- true
	[[ $output == *"error: cannot set the scope of the session"*"help: cannot choose processes by pid from inside a pid namespace"*"(-a)"* ]]
	run -0 unshare --pid --fork --mount-proc "$ASTERISM" run -q -a --for 100ms -r 'sys_enter_openat:a WHERE { a.filename == "" }'
}

@test "no deadline counts that comes when nothing is seen any more, though probes take long to go" {
	local within=$((200 * ${ASTERISM_TEST_PATIENCE:-1}))ms
	# Each folder goes in time; but the last one may go when asterism does not look any more.
	cat >never.rule <<-END
		RULE in_kernel PATTERN { [sys_enter_mkdir:m, ~sys_enter_rmdir] } WHERE { m.pathname == "made" } WITHIN $within
		RULE in_user_space PATTERN { [sys_enter_mkdir:m, ~sys_enter_rmdir] } WHERE { m.pathname == "made", m.cpu * 1.5 >= 0.0 } WITHIN $within
	END
	(while :; do mkdir made; sleep 0.05; rmdir made; done) 3>&- &
	made=$!
	run --separate-stderr -0 "$ASTERISM" run --for 1s -p $made never.rule @lock-order
	kill $made
	[[ $stderr == *"in_user_space"* ]]
	[[ $output != *in_kernel* && $output != *in_user_space* ]]
}

@test "a field that this kernel does not have: a warning says so once, where a rule reads it, wherever the rule is" {
	cat >absent.events <<-'END'
		EVENT switch { gone: u32, next: u32 } FROM sched:sched_switch { gone = prev->no_such_member ? 7, next = next->pid }
	END
	local warning="asterism: warning: this kernel does not provide gone of switch: it is always 7"
	echo 'EVENTS "absent.events" RULE r PATTERN { switch:s } RETURN { s.gone } AFTER MATCH DROP' >reads.rule
	echo 'EVENTS "absent.events" RULE r PATTERN { switch:s } RETURN { s.next }' >ignores.rule
	echo 'EVENTS "absent.events" RULE u PATTERN { switch:s } WHERE { s.gone * 1.5 > 0.0 }' >slow.rule
	run --separate-stderr -0 "$ASTERISM" run -q reads.rule -- sleep 0.01
	[ "$stderr" = "$warning" ]
	[[ "$output" == *"s.gone=7"* ]]
	run --separate-stderr -0 "$ASTERISM" run -q ignores.rule -- sleep 0.01
	[ -z "$stderr" ]
	run --separate-stderr -0 "$ASTERISM" run -q slow.rule -- sleep 0.01
	[ "$(grep -c 'does not provide' <<<"$stderr")" = 1 ]
	run --separate-stderr -0 "$ASTERISM" record -q -o trace --catalog absent.events -e switch --rules reads.rule -- sleep 0.01
	[ "$(grep -c 'does not provide' <<<"$stderr")" = 1 ]
	run --separate-stderr -0 "$ASTERISM" check reads.rule
	[ "$stderr" = "$warning" ]
	[[ $output == *": OK"* ]]
	run --separate-stderr -0 "$ASTERISM" check slow.rule
	[ "$(grep -c 'does not provide' <<<"$stderr")" = 1 ]
	run --separate-stderr -0 "$ASTERISM" check ignores.rule
	[ -z "$stderr" ]
	run -0 "$ASTERISM" check -f json reads.rule
	[[ $output == *'"severity":"warning"'*"does not provide gone of switch"* ]]
}
