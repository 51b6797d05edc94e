#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# replay of traces of other tools: LTTng's, made here, and CTF played as LTTng's kernel tracer writes it.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	lttng_files="$BATS_TEST_DIRNAME/lttng"
	cd "$BATS_TEST_TMPDIR"
}

teardown() {
	if [ -s daemon.pid ]; then
		kill "$(cat daemon.pid)" 2>/dev/null || true
	fi
}

# `play FOLDER [KIND]`: a trace played by the script; python3-bt2 is for Debian's own python. The usual one is played once and copied.
play() {
	[ -e "$BATS_FILE_TMPDIR/has-bt2" ] || /usr/bin/python3 -c 'import bt2' 2>/dev/null || skip "python3-bt2 is not installed"
	: >"$BATS_FILE_TMPDIR/has-bt2"
	if [ $# = 1 ] && [ -e "$BATS_FILE_TMPDIR/played" ]; then
		cp -r "$BATS_FILE_TMPDIR/played" "$1"
		return
	fi
	/usr/bin/python3 "$lttng_files/play.py" "$@"
	[ $# != 1 ] || cp -r "$1" "$BATS_FILE_TMPDIR/played"
}

replay() {
	run --separate-stderr "$ASTERISM" replay -f json "$@"
	[[ $stderr != *"cannot be used"* ]] || skip "built without libbabeltrace2"
}

@test "names of LTTng's kernel tracer are those of the catalog" {
	play trace
	cat >kernel.rule <<-'END'
		RULE slow PATTERN { [sys_enter_openat:e, sys_exit_openat:x] } WHERE { [tid], x.ts - e.ts > 1ms }
		RETURN { e.filename, e.dfd, x.ret }
		RULE switch PATTERN { sched_switch:s } RETURN { s.prev_pid, s.next_pid, s.next_comm, s.next_prio, s.prev_state }
		RULE fork PATTERN { sched_process_fork:f } RETURN { f.parent_pid, f.child_pid, f.child_tgid }
	END
	replay kernel.rule trace
	[ "$status" = 0 ]
	[[ $stderr == "asterism: note: trace does not list which events were enabled, so "* ]]
	who='"cpu":3,"pid":10,"tid":11,"comm":"cat"'
	[ "${lines[0]}" = '{"match":"switch","ts":200,'$who',"return":{"s.prev_pid":5,"s.next_pid":11,"s.next_comm":"cat","s.next_prio":100,"s.prev_state":1},"tainted":false,"names":{"s.prev_state":"TASK_INTERRUPTIBLE"}}' ]
	[ "${lines[1]}" = '{"match":"slow","ts":2000300,'$who',"return":{"e.filename":"/etc/passwd","e.dfd":-100,"x.ret":-2},"tainted":false,"names":{"e.dfd":"AT_FDCWD","x.ret":"-ENOENT"}}' ]
	[ "${lines[2]}" = '{"match":"fork","ts":2000500,'$who',"return":{"f.parent_pid":11,"f.child_pid":31,"f.child_tgid":30},"tainted":false}' ]
	[[ ${lines[3]} == '{"stats":{"events":5,'* ]]
}

@test "an event of its own: declared by the rule under a name that is an identifier, with the fields it asks for" {
	play trace
	cat >own.rule <<-'END'
		EVENT my__thing { s: string, own_tid: i8, x: f64, vpid: u64, more: i64 }
		RULE own PATTERN { my__thing:t } RETURN { t.s, t.own_tid, t.x, t.vpid, t.more, t.tid }
	END
	replay own.rule trace
	[[ ${lines[0]} == *'"return":{"t.s":"hello","t.own_tid":7,"t.x":1.5,"t.vpid":10,"t.more":0,"t.tid":11},'* ]]
}

@test "a system call is any system call, too, with its number and arguments" {
	play trace
	echo 'RULE any PATTERN { [sys_enter:e, sys_exit:x] } WHERE { [tid], [id] } RETURN { e.id, e.arg0, e.arg1, e.arg2, x.ret }' >any.rule
	replay any.rule trace
	[[ ${lines[0]} == *'"return":{"e.id":257,"e.arg0":18446744073709551516,"e.arg1":0,"e.arg2":64,"x.ret":-2},'* ]]
	[[ ${lines[1]} == '{"stats":{"events":5,'* ]]
	echo 'RULE one PATTERN { sys_enter_openat:e } RETURN { e.filename }' >one.rule
	replay any.rule one.rule trace
	[[ ${lines[0]} == *'"match":"one"'*'/etc/passwd'* ]]
	[[ ${lines[1]} == *'"match":"any"'* ]]
	[[ ${lines[2]} == '{"stats":{"events":6,'* ]]
}

@test "who raised an event is known from the switches where the trace has no contexts" {
	play trace bare
	echo 'RULE slow PATTERN { [sys_enter_openat:e, sys_exit_openat:x] } WHERE { [tid], e.tid > 0 }' >slow.rule
	replay slow.rule trace
	[[ ${lines[0]} == '{"match":"slow","ts":2000300,"cpu":3,"pid":10,"tid":11,"comm":"cat",'* ]]
	echo 'RULE before PATTERN { sched_switch:s }' >before.rule
	replay before.rule trace
	[[ ${lines[0]} == '{"match":"before","ts":200,"cpu":3,"pid":0,"tid":0,"comm":"",'* ]]
}

@test "fields that a trace calls otherwise are read, and those that it lacks are told where somebody asks for them" {
	play trace named
	echo 'RULE waking PATTERN { sched_waking:w } RETURN { w.target_tid AS tid, w.target_comm AS comm }' >waking.rule
	replay waking.rule trace
	[[ ${lines[0]} == *'"return":{"tid":21,"comm":"sh"}'* ]]
	[[ $stderr != *"in this trace"* ]]
	echo 'RULE lacking PATTERN { sched_waking:w } RETURN { w.target_pid } RULE name PATTERN { sys_enter_openat:o } RETURN { o.filename }' >lacking.rule
	replay lacking.rule trace
	[[ $stderr == *"trace: warning: events of sched_waking have no target_pid in this trace: the fields are 0 or empty"* ]]
	[[ $stderr == *"trace: warning: events of sys_enter_openat have no filename in this trace: "* ]]
}

@test "every event is part of OVER { * }" {
	play trace
	echo 'RULE strict STRICTSEQUENCE PATTERN { [sys_enter_openat:e, sched_process_fork:f] } OVER { * }' >over.rule
	replay over.rule trace
	[[ ${lines[0]} == '{"stats":{"events":5,'*'"matches":0,'* ]]
	echo 'RULE strict STRICTSEQUENCE PATTERN { [sys_enter_openat:e, sys_exit_openat:x] } OVER { * }' >over.rule
	replay over.rule trace
	[[ ${lines[0]} == '{"match":"strict",'* ]]
}

@test "what the trace lacks is counted, and marks the runs that were open: status 3" {
	play trace lossy
	cat >pair.rule <<-'END'
		EVENT my__thing { own_tid: i32, s: string }
		RULE pair PATTERN { [my__thing:b, my__thing:e] } WHERE { b.s == "begin", e.s == "end", [own_tid] } RETURN { b.own_tid AS t }
		RULE same PATTERN { [my__thing:b, my__thing:e] } WHERE { b.s == "begin", e.s == "end", [own_tid] } ON LOSS DISCARD
	END
	replay pair.rule trace
	[ "$status" = 3 ]
	got=$(grep -o '"t":[0-9]},"tainted":[a-z]*' <<<"$output" | tr '\n' ' ')
	[ "$got" = '"t":1},"tainted":false "t":4},"tainted":true "t":2},"tainted":true "t":3},"tainted":false ' ]
	[[ ${lines[-1]} == *'"lost":7,"rules":{"pair":{"matches":4,'*'"lost":7},"same":{"matches":2,'*'"lost":7}}}}' ]]
	[[ $stderr == *"7 events or runs were lost"* ]]
}

@test "a trace and JSON lines, merged: both count from one clock" {
	play trace
	echo '{"event":"mark","ts":1000000}' >marks.jsonl
	cat >mark.rule <<-'END'
		EVENT mark { }
		RULE inside PATTERN { [sys_enter_openat:e, mark:m, sys_exit_openat:x] }
	END
	replay mark.rule trace marks.jsonl
	[[ ${lines[0]} == '{"match":"inside","ts":2000300,'* ]]
	replay --from @1000001 mark.rule trace marks.jsonl
	[[ ${lines[0]} == '{"stats":{"events":3,'* ]]
}

@test "a directory that this user may not read is not taken for an empty one" {
	[ "$(id -u)" = 0 ] || skip "needs root, to be somebody else"
	command -v setpriv >/dev/null || skip "setpriv is not installed"
	nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
	$nobody test -r "$ASTERISM" || skip "asterism itself may not be read by others here"
	as_nobody() { $nobody "$ASTERISM" "$@"; }
	play trace
	chmod 700 trace
	# babeltrace2 takes whole paths.
	chmod o+x . .. "$BATS_RUN_TMPDIR"
	run --separate-stderr -2 as_nobody stat trace
	[ "$stderr" = "trace: error: cannot read this directory: Permission denied" ]
	mkdir -m 755 several
	cp -r trace several/secret
	run --separate-stderr -2 as_nobody stat several
	[ "$stderr" = "several/secret: error: cannot read this directory: Permission denied" ]
	cp -r trace several/open
	chmod -R a+rX several/open
	run --separate-stderr as_nobody stat several
	[ "$status" = 0 ]
	[[ ${stderr_lines[0]} == "several/secret: warning: cannot read this directory: Permission denied" ]]
}

@test "directories that are no traces, and broken ones: a sentence each, status 2" {
	mkdir empty
	echo 'RULE r PATTERN { sched_switch:s }' >r.rule
	replay r.rule empty
	[ "$status" = 2 ]
	[ "$stderr" = "empty: error: this directory is not a trace: it has no metadata" ]
	play trace
	cp -r trace cut
	truncate -s 100 cut/stream*
	replay r.rule cut
	[ "$status" = 2 ]
	[[ $stderr == "cut: error: "?* ]]
	# libbabeltrace2 loses memory over wrong metadata, of which a sanitizer would tell.
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	cp -r trace garbled
	echo 'event {' >>garbled/metadata
	replay r.rule garbled
	[ "$status" = 2 ]
	[[ $stderr == "garbled: error: cannot open the trace: libbabeltrace2 says: "?* ]]
	for bytes in 0 1 10 1000; do
		head -c $bytes /dev/urandom >empty/metadata
		replay r.rule empty
		[ "$status" = 2 ]
	done
}

@test "damaged bytes, over some of which libbabeltrace2 aborts: matches or a sentence" {
	play trace
	echo 'RULE r PATTERN { sched_switch:s }' >r.rule
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	cp trace/stream* good
	local step=5 # a process each
	[ -z "${ASTERISM_TEST_LONG:-}" ] || step=1
	for at in $(seq 0 $step 96); do
		cp good trace/stream*
		printf '\314' | dd of="$(echo trace/stream*)" bs=1 seek="$at" conv=notrunc status=none
		replay -q r.rule trace
		[[ $status = [03] || ($status = 2 && $stderr == "trace: error: "?*) ]] || {
			echo "byte $at: status $status, $stderr"
			false
		}
	done
}

# LTTng itself. Its daemon for one user listens below LTTNG_HOME; root's is the machine's, so root becomes somebody else.
as_user() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid 65534 --regid 65534 --clear-groups env "LTTNG_HOME=$PWD/home" "$@"
	else
		LTTNG_HOME="$PWD/home" "$@"
	fi
}

record_sample() {
	for tool in lttng lttng-sessiond cc setpriv; do
		command -v $tool >/dev/null || skip "$tool is not installed"
	done
	cc -E -include lttng/tracepoint.h -x c /dev/null >/dev/null 2>&1 || skip "liblttng-ust-dev is not installed"
	cc -I"$lttng_files" "$lttng_files/sample.c" -o sample -llttng-ust -ldl
	mkdir home
	if [ "$(id -u)" = 0 ]; then
		chown 65534:65534 . home
		parent=$PWD
		while [ "$parent" != / ]; do
			chmod o+x "$parent"
			parent=$(dirname "$parent")
		done
	fi
	as_user lttng-sessiond --daemonize --no-kernel --pidfile "$PWD/daemon.pid" 3>&-
	as_user lttng --no-sessiond create sample --output="$PWD/recorded"
	as_user lttng --no-sessiond enable-channel -u channel --num-subbuf 8 --subbuf-size 256k
	as_user lttng --no-sessiond enable-event -u -c channel 'sample:*'
	as_user lttng --no-sessiond add-context -u -t vpid -t vtid -t procname
	as_user lttng --no-sessiond start
	pid=$(as_user env LTTNG_UST_REGISTER_TIMEOUT=-1 ./sample)
	as_user lttng --no-sessiond stop
	as_user lttng --no-sessiond destroy
}

@test "a trace of LTTng's user-space tracer is read and matched" {
	record_sample
	cat >sample.rule <<-'END'
		EVENT sample__begin { number: i32, text: string }
		EVENT sample__end { number: i32, code: u8 }
		RULE pair PATTERN { [sample__begin:b, sample__end:e] } WHERE { [tid], b.number == e.number }
		RETURN { b.number, b.text, e.code }
	END
	replay sample.rule recorded
	[ "$status" = 0 ]
	[ "$(grep -c '"match":"pair"' <<<"$output")" = 900 ]
	[[ ${lines[-1]} == '{"stats":{"events":1900,'* ]]
	[[ ${lines[899]} == *'"pid":'$pid',"tid":'$pid',"comm":"sample","return":{"b.number":999,"b.text":"odd","e.code":231},"tainted":false}' ]]
	# The clock is CLOCK_MONOTONIC of this machine.
	ts=$(grep -o '"ts":[0-9]*' <<<"${lines[0]}" | cut -d: -f2)
	now=$(/usr/bin/python3 -c 'import time; print(time.monotonic_ns())')
	[ "$ts" -lt "$now" ]
	[ "$ts" -gt $((now - 600000000000)) ]
}

@test "a trace of perf: who it was is in the events' own fields" {
	play trace perf
	echo 'RULE r PATTERN { sched_process_exec:e } RETURN { e.filename, e.tid, e.pid }' >r.rule
	replay r.rule trace
	[[ ${lines[0]} == *'"pid":10,"tid":11,'*'"return":{"e.filename":"/bin/cat","e.tid":11,"e.pid":10}'* ]]
}
