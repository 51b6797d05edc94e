#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# CALL StackOf(): the stacks of threads that a match names, of a program of the test's own. Needs root.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	plant="$(dirname "$ASTERISM")/../../tests/kernel/plant-threads"
	cd "$BATS_TEST_TMPDIR"
	cat >both.rule <<-'END'
		RULE both PATTERN { [sys_enter_getpgid:a, sys_enter_getpgid:b] }
		WHERE { a.target_pid == 4000001, b.target_pid == 4000002 }
		RETURN { a.tid AS other }
		DO { CALL StackOf(a#TID); CALL Stack() }
	END
	sed 's/DO .*//' both.rule >probe.rule
	needs_asterism run -q probe.rule -- true
}

teardown() {
	[ -z "${session:-}" ] || kill -KILL "$session" 2>/dev/null || true
	[ -z "${forked:-}" ] || kill -KILL "$forked" 2>/dev/null || true
	[ -z "${server:-}" ] || kill -KILL "$server" 2>/dev/null || true
	! mountpoint -q never || umount -l never
}

# `observed ARGUMENTS...`: asterism run with them writes to out; the program goes on when there is a match.
observed() {
	rm -f input out
	mkfifo input
	"$ASTERISM" run -o out "$@" <input 3>&- &
	session=$!
	exec 9>input
	for _ in $(seq 500); do
		[ ! -e out ] || ! grep -qE '"match"|^[^ ].* cpu ' out || break
		sleep 0.02
	done
	exec 9>&-
	wait "$session"
	session=
}

# `holds EXPRESSION`: it is true of m, the only match of out; names(stack): its functions, without what the C library's
# are called, which only its debugging information says.
holds() {
	python3 -c 'import json, re, sys
matches = [match for match in map(json.loads, open("out")) if "match" in match]
m = matches[0] if len(matches) == 1 else None
def names(stack):
    return [re.match(r"(\w+)\+0x", f).group(1) for f in stack if "plant-threads)" in f and "+0x" in f]
whole = lambda stack: stack["stack_by"] == "unwinding" and "stack_end" not in stack
if not m or not eval(sys.argv[1]):
    print(sys.argv[1], "does not hold of", matches)
    sys.exit(1)' "$1"
}

# `line_of TEXT`: where TEXT is in the program's source, the first time.
line_of() {
	grep -nF "$1" "$BATS_TEST_DIRNAME/../programs/plant-threads.c" | head -1 | cut -d: -f1
}

@test "a thread that sleeps with a lock held: where it is, beside who completed the match" {
	observed -f json both.rule -- "$plant" asleep
	holds 'names(m["stack"])[0] == "main" and len(m["threads"]) == 1 and m["tid"] == m["pid"]'
	holds 'm["threads"][0]["tid"] == m["return"]["other"] != m["tid"] and m["threads"][0]["pid"] == m["pid"]'
	holds 'names(m["threads"][0]["stack"]) == ["threads_planted_nap", "sleeper"] and whole(m["threads"][0])'
	holds 'm["threads"][0]["comm"] == "plant-threads" and 0 < m["threads"][0]["late"] < 2000000000'
	holds 'm["calls"][0] == {"function": "StackOf", "args": [m["return"]["other"]], "done": True, "by": "asterism"}'
	observed both.rule -- "$plant" asleep
	grep -A30 -E '^    plant-threads\[[0-9]+/[0-9]+\], [0-9.]+ (us|ms|s) later:$' out >below
	grep -E "^      threads_planted_nap\+0x[0-9a-f]+ \(/.*/plant-threads\) plant-threads.c:$(line_of 'sleep(1000)')$" below
	sed '/later:$/,$d' out | grep -F '    main+0x'
}

@test "a deadlock: both threads, when time completes the match" {
	cat >deadlock.rule <<-'END'
		EVENTS "pthread.events"
		RULE stuck PATTERN { [mutex_wait:a, mutex_wait:b, ~mutex_wait_end] }
		WHERE { [pid], b.owner == a.self }
		WITHIN 500ms
		RETURN { a.tid AS first_thread, b.tid AS second_thread }
		DO { CALL StackOf(a#TID, b#TID) }
	END
	observed -f json deadlock.rule -- "$plant" deadlock
	holds '{t["tid"] for t in m["threads"]} == {m["return"]["first_thread"], m["return"]["second_thread"]}'
	holds 'all(names(t["stack"])[0] == "threads_planted_take" and whole(t) for t in m["threads"])'
	holds '{names(t["stack"])[1] for t in m["threads"]} == {"threads_planted_first", "threads_planted_second"}'
	holds 'all(any(f.endswith("plant-threads.c:'"$(line_of 'lock(second)')"'") for f in t["stack"]) for t in m["threads"])'
	holds 'm["calls"][0]["done"] and "stack" not in m'
}

# On a busy machine it may wait for a processor at each look: then its registers are known, and it is where it is.
@test "of a thread that runs nothing is made up, nor of one that has ended" {
	observed -f json both.rule -- "$plant" running
	holds '"main" in names(m["stack"])'
	holds 'names(m["threads"][0]["stack"])[0] == "runner" if "threads" in m else m["calls"][0]["done"] is False and m["calls"][0]["why"].startswith(("thread %d was running" % m["return"]["other"], "thread %d has a stack that is not in memory" % m["return"]["other"]))'
	observed -f json both.rule -- "$plant" ended
	holds '"threads" not in m and "process or thread %d does not exist" % m["return"]["other"] == m["calls"][0]["why"]'
	observed both.rule -- "$plant" ended
	grep -E 'StackOf\([0-9]+\) not done: process or thread [0-9]+ does not exist' out
}

@test "a thread of another process, in a rule that runs in user space, too" {
	sed 's/b.target_pid == 4000002/b.target_pid == 4000002, a.ts * 1.0 > 0.5/' both.rule >far.rule
	for rule in both far; do
		observed -f json $rule.rule -- "$plant" forked
		forked=$(python3 -c 'import json; print(json.loads(open("out").readline())["threads"][0]["pid"])')
		kill -KILL "$forked"
		forked=
		holds 'm["threads"][0]["pid"] == m["threads"][0]["tid"] == m["return"]["other"] != m["pid"]'
		holds 'names(m["threads"][0]["stack"])[:2] == ["threads_planted_nap", "sleeper"] and whole(m["threads"][0])'
	done
}

@test "a thread that is not observed is not looked into" {
	sleep 30 &
	forked=$!
	sed "s/StackOf(a#TID)/StackOf($forked, a#TID)/" both.rule >foreign.rule
	observed -f json foreign.rule -- "$plant" asleep
	holds 'm["calls"][0]["done"] is False and "is out of scope" in m["calls"][0]["why"]'
	holds 'len(m["threads"]) == 1 and m["threads"][0]["tid"] == m["return"]["other"]'
}

@test "a stack pointer that points nowhere is said to, and no more" {
	"$plant" lost </dev/null || [ $? != 77 ] || skip "for this processor there is no such program"
	observed -f json both.rule -- "$plant" lost
	holds 'names(m["threads"][0]["stack"]) == ["loser"] and "could not be read" in m["threads"][0]["stack_end"]'
}

@test "a thread that is stopped is where it was, and its name disturbs no terminal" {
	observed both.rule -- "$plant" stopped
	! grep -P '[\x00-\x08\x0b-\x1f\x7f]' out
	! grep "$(printf '\342\200\256')" out
	observed -f json both.rule -- "$plant" stopped
	holds '"stop" in names(m["threads"][0]["stack"]) or "main" in names(m["threads"][0]["stack"])'
}

@test "memory that another thread would have to bring is not waited for" {
	"$plant" unmapped </dev/null || [ $? != 77 ] || skip "the kernel has no userfaultfd"
	observed -f json both.rule -- "$plant" unmapped
	holds 'names(m["threads"][0]["stack"]) == ["threads_planted_nap", "sleeper"] and whole(m["threads"][0])'
}

# A file system that opens its only file, and answers to no read of it; it lives as long as its server.
serve_never() {
	mkdir -p never
	python3 - <<-'END' 3>&- &
		import ctypes, os, struct
		fd = os.open("/dev/fuse", os.O_RDWR)
		options = b"fd=%d,rootmode=40000,user_id=0,group_id=0" % fd
		if ctypes.CDLL(None).mount(b"never", b"never", b"fuse", 0, options):
		    raise SystemExit(1)
		def about(mode): # 8 pages
		    return struct.pack("<6Q10I", 1, 32768, 64, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)
		while True:
		    request = os.read(fd, 1 << 20)
		    _, code, unique, node = struct.unpack_from("<IIQQ", request)
		    answers = {
		        1: struct.pack("<4Q2I", 2, 0, 60, 60, 0, 0) + about(0o100644),
		        3: struct.pack("<Q2I", 60, 0, 0) + about(0o40755 if node == 1 else 0o100644),
		        14: struct.pack("<Q2I", 0, 0, 0),
		        26: struct.pack("<4I2H2I2H8I", 7, 31, 0, 0, 8, 8, 4096, 1, 8, 0, *[0] * 8),
		        15: None, 2: None, 36: None,
		    }
		    answer = answers.get(code, b"")
		    if answer is not None:
		        os.write(fd, struct.pack("<IiQ", 16 + len(answer), 0 if code in answers else -38, unique) + answer)
	END
	server=$!
	for _ in $(seq 100); do
		[ ! -e never/file ] || return 0
		sleep 0.05
	done
	return 1
}

@test "nor is memory of a file, whose file system may never answer" {
	serve_never || skip "no such file system"
	observed -f json both.rule -- "$plant" unmapped never/file
	holds 'names(m["threads"][0]["stack"]) == ["threads_planted_nap", "sleeper"] and whole(m["threads"][0])'
	kill -KILL "$server"
	umount -l never
	server=
}

@test "in a replay there is none, and the match says why; machines may ask as well" {
	echo '{"event":"sys_enter_getpgid","ts":5,"pid":1,"tid":1,"target_pid":4000001}' >events.jsonl
	sed 's/001}/002}/; s/:5/:6/' events.jsonl >more.jsonl
	cat more.jsonl >>events.jsonl
	"$ASTERISM" replay -f json both.rule events.jsonl >out
	holds '[c["why"] for c in m["calls"]] == ["recorded events have no stack"] * 2'
	cat >machine.rule <<-'END'
		MACHINE asked KEY { pid }
		VAR first: u32;
		STATE None { ON sys_enter_getpgid:a WHERE a.target_pid == 4000001 -> One { first = tid } }
		STATE One { ON sys_enter_getpgid:b WHERE b.target_pid == 4000002 { WARN "{first} and {tid}"; CALL StackOf(first) } }
	END
	observed -f json machine.rule -- "$plant" asleep
	holds 'names(m["threads"][0]["stack"]) == ["threads_planted_nap", "sleeper"] and "stack" not in m'
}
