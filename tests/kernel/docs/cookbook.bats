#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# docs/cookbook.md: its commands do what it says, with the real programs, and show what it shows. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	top=$BATS_TEST_DIRNAME/../../..
	[ "$(id -u)" = 0 ] || skip "needs root"
	cp -r "$top/examples/cookbook" "$BATS_TEST_TMPDIR/work"
	cd "$BATS_TEST_TMPDIR/work"
	export ASTERISM_RULES=$top/rules ASTERISM_CATALOGS=$top/catalogs
	export PATH=$(cd "$(dirname "$ASTERISM")" && pwd):$PATH:/usr/sbin
	export PORT=$(python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
}

teardown() {
	for pid in *.pid; do
		[ ! -s "$pid" ] || kill "$(cat "$pid")" || true
	done
}

# Runs the commands of a section, `task NUMBER PROGRAM...`, in one shell; what they write is in the file output.
task() {
	local program number=$1
	shift
	for program; do
		command -v "$program" >/dev/null || skip "needs $program"
	done
	"$top/tests/docs/session.py" commands "$top/docs/cookbook.md" "$number. " >commands
	NO_COLOR=1 bash -e commands >output 2>&1 || { cat output; return 1; }
	"$top/tests/docs/session.py" compare "$top/docs/cookbook.md" "$number. " output
}

@test "1: slow requests of nginx, by phases: one client was slow, one answer was" {
	task 1 nginx wrk curl
	[ "$(grep -c ' slow_request .*nginx' output)" -ge 2 ]
	grep -q 'nginx.* sending=0ns' output
	grep -q 'nginx.* reading=0ns' output
}

@test "2: the turn of Redis' loop in which it computed, and the request" {
	task 2 redis-server redis-cli redis-benchmark
	grep -q 'redis-server.*turn=' output
	grep -q ' slow_request .*redis-server.*reading=0ns' output
}

@test "3: PostgreSQL waits for the disk, and one transaction for another" {
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || skip "needs postgresql"
	task 3 setpriv
	grep -q '+[0-9,]* more of fsync_stall in postgres' output
	[ "$(grep -c ' lock_wait .*UPDATE waiting.*COMMIT' output)" = 1 ]
	[ ! -e /tmp/asterism-shop ]
}

@test "3: waits longer than deadlock_timeout name the holder once, with the waiter; without a wait there is nothing" {
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || skip "needs postgresql"
	command -v setpriv >/dev/null || skip "needs setpriv"
	# database.sh's server and its functions, with other transactions.
	sed '/^{$/,$d; s,/tmp/asterism-shop,/tmp/asterism-waits,' database.sh >waits.sh
	cat >>waits.sh <<-'END'
		ask="$programs/psql -q -At -h $folder -U shop postgres"
		mkfifo statements
		$ask <statements >"$1/holder" &
		asks=$!
		exec 3>statements
		echo 'SELECT pg_backend_pid(); BEGIN; SELECT pg_advisory_xact_lock(1);' >&3
		until_one "state = 'idle in transaction'"
		if [ "$2" = apart ]; then
		    echo 'COMMIT;' >&3
		    until_one "state = 'idle'"
		fi
		for i in 1 2; do
		    $ask -c 'SELECT pg_backend_pid()' -c 'SELECT pg_advisory_xact_lock_shared(1)' >"$1/waiter.$i" 3>&- &
		    asks="$asks $!"
		done
		if [ "$2" = behind ]; then
		    until_one "state = 'idle in transaction' AND 2 = (SELECT count(*) FROM pg_locks WHERE NOT granted)"
		    sleep 2.6
		    echo 'COMMIT;' >&3
		fi
		exec 3>&-
		wait $asks
	END
	run --separate-stderr -0 "$ASTERISM" run -q -f json lock-wait.rule -- sh waits.sh "$PWD" behind
	python3 - 3<<<"$output" <<-'END'
		import json
		found = [match for match in map(json.loads, open(3)) if "match" in match]
		waiters = sorted(int(open("waiter.%d" % i).readline()) for i in (1, 2))
		assert sorted(match["return"]["waiter"] for match in found) == waiters, (found, waiters)
		for match in found:
		    assert match["pid"] == int(open("holder").readline()) and match["return"]["holds"].endswith(" COMMIT"), match
		    assert match["return"]["waits"].endswith(" SELECT waiting") and 2.5e9 <= match["return"]["waited"] < 100e9, match
	END
	run --separate-stderr -0 "$ASTERISM" run -q -f json lock-wait.rule -- sh waits.sh "$PWD" apart
	[[ $output != *'"match"'* ]]
	[ ! -e /tmp/asterism-waits ]
}

@test "4: what a build starts" {
	task 4 gcc make
	[ -x locks ]
}

@test "5: what Python looks for" {
	task 5 /usr/bin/python3
}

@test "6: the thread that sleeps with the mutex held" {
	task 6 gcc make
	grep -q '+19 more of held_asleep in locks' output
}

@test "7: the shell behind a request, and no other; it says nothing where it may be killed" {
	task 7 /usr/bin/python3 curl
	[ "$(grep -c ' web_shell  critical ' output)" = 2 ]
	[ "$(grep -c '^uid=' output)" = 1 ]
}

@test "8: the one program of three that reads the secret and connects" {
	task 8 /usr/bin/python3 curl
	[ "$(grep -c ' leak .*curl.*secret.txt' output)" = 1 ]
}

@test "9: what SQLite sleeps in" {
	case $(stat -f -c %T .) in
	tmpfs|overlayfs) skip "nobody waits for a disk: files are in memory here" ;;
	esac
	task 9 sqlite3
}

@test "10: five connections and those that were refused" {
	task 10 /usr/bin/python3 curl
	grep -q "curl .* $PORT  *TCP_ESTABLISHED  *5 " output
	grep -q "curl .* $PORT  *TCP_CLOSE  *[1-9]" output
}

# What the page types elsewhere, `peer NUMBER PROGRAM [ARGUMENT...]`, with the arguments behind it; what comes out is in the file output.
peer() {
	local number=$1 program=$2
	shift 2
	command -v "$program" >/dev/null || skip "needs $program"
	"$top/tests/docs/session.py" other "$top/docs/cookbook.md" "$number. " "$program" >command
	printf '%s%s\n' "$(cat command)" "$(printf ' %q' "$@" | sed "s/^ ''\$//")" >peer
	for try in 1 2 3; do # strace -c itself crashes at times, with status 139
		status=0
		timeout $((60 * ${ASTERISM_TEST_PATIENCE:-1})) bash -e peer >output 2>&1 || status=$?
		[ $status = 139 ] || break
	done
	[ $status = 0 ] || { cat peer output; return 1; }
}

@test "what bpftrace is told does what the page says" {
	peer 1 bpftrace -c "$(command -v sh) web.sh"
	grep -q '^@Us:' output
	peer 2 bpftrace -c "$(command -v sh) redis.sh"
	grep -q '^[0-9]* ms$' output
	peer 4 bpftrace -c "$(command -v make) -s -B LDLIBS=-pthread locks"
	grep -q ' /usr/bin/as$' output
	echo 'import json' >json-too.py
	peer 5 bpftrace -c "/usr/bin/python3 json-too.py"
	grep -q 'pyvenv.cfg -2$' output
	peer 10 bpftrace -c "$(command -v sh) peers.sh"
	grep -q '^@By\[curl, ' output
}

@test "what strace is told does what the page says" {
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || skip "needs postgresql"
	peer 3 strace
	grep -q 'fdatasync(.*pg_wal.*<[0-9.]*>' output
	peer 4 strace
	grep -q ' execve$' output
	peer 5 strace
	grep -q 'pyvenv.cfg.*ENOENT' output
	make -s LDLIBS=-pthread locks
	peer 6 strace
	grep -q 'futex.*<[0-9.]*>$' output # in one line, or resumed
}

@test "what perf is told does what the page says" {
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || skip "needs postgresql"
	peer 3 perf
	peer 9 perf
	grep -q sqlite3 output
}

@test "the page has ten tasks, and each says what a peer does better" {
	[ "$(grep -c '^## [0-9]*\. ' "$top/docs/cookbook.md")" = 10 ]
	[ "$(grep -c '^\*What a peer does better:\*' "$top/docs/cookbook.md")" = 10 ]
}
