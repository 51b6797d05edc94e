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
	cat >once.rule <<-'END'
		RULE generations
		PATTERN { [
			sched_process_fork:a, ~sched_process_exec:ax, sched_process_fork:b, ~sched_process_exec:bx,
			sched_process_fork:c, ~sched_process_exec:cx, sched_process_fork:d, ~sched_process_exec:dx,
			sched_process_fork:e, ~sched_process_exec:ex, sched_process_fork:f, ~sched_process_exec:fx,
			sched_process_fork:g, ~sched_process_exec:gx, sched_process_fork:h
		] }
		WHERE {
			b.pid == a.child_pid, c.pid == b.child_pid, d.pid == c.child_pid, e.pid == d.child_pid,
			f.pid == e.child_pid, g.pid == f.child_pid, h.pid == g.child_pid,
			ax.pid == a.child_pid, bx.pid == b.child_pid, cx.pid == c.child_pid, dx.pid == d.child_pid,
			ex.pid == e.child_pid, fx.pid == f.child_pid, gx.pid == g.child_pid,
			h.child_tgid == h.child_pid
		}
		WITHIN 2s
		RETURN { a.pid AS first, h.child_pid AS last, h.comm AS name, h.ts - a.ts AS took }
		SEVERITY high

		RULE flood
		PATTERN { sched_process_fork[>=500]:f }
		WHERE { [pid], f.child_tgid == f.child_pid }
		WITHIN 1s
		RETURN { f.len AS children, f.last.child_pid AS last, f.last.ts - f.first.ts AS took }
		AFTER MATCH DROP
		SEVERITY high
	END
	sed -E 's/^RULE [a-z_]+/&_again/' once.rule | cat once.rule - >twice.rule
	read -r _ once <<<"$(loaded once.rule)"
	read -r _ twice <<<"$(loaded twice.rule)"
	echo "$once once, $twice twice"
	[ "$once" -gt 0 ]
	[ "$twice" -lt $((once * 13 / 5)) ]
}

# What the kernel's verifier follows is what loading takes, some 2 us for each instruction.
@test "the verifier follows each instruction of a shipped rule four times at most, of some a little more often" {
	local rule instructions followed ratio over=() measured=0
	local -A limits=([@connection-retry-storm]=5.0 [@crash-loop]=5.6 [@lock-order]=4.8 [@memory-fault-storm]=6.5
		[@reverse-shell]=4.5 [@syn-flood]=4.4 [@temp-exec-after-download]=4.2)
	for rule in "$BATS_TEST_DIRNAME"/../../../rules/*/; do
		rule=@$(basename "$rule")
		# shellcheck disable=SC2034 # read for the one behind them
		read -r _ instructions followed ratio _ < <(python3 "$BATS_TEST_DIRNAME/verified.py" "$ASTERISM" "$rule" |
			tail -n 1)
		[[ $ratio == *.* ]] || continue # this kernel lacks something
		echo "$rule $instructions $followed $ratio"
		measured=$((measured + 1))
		awk "BEGIN { exit !($ratio > ${limits[$rule]:-4.0}) }" && over+=("$rule")
	done
	echo "over: ${over[*]}"
	((measured > 20 && ${#over[@]} == 0))
}

@test "the rules of @default together are followed less than four times, and no longer than they were" {
	run -0 python3 "$BATS_TEST_DIRNAME/verified.py" "$ASTERISM" @default
	read -r _ instructions followed ratio _ <<<"${lines[-1]}"
	echo "$instructions $followed $ratio"
	awk "BEGIN { exit !($ratio <= 3.75) }"
	((instructions < 205000 && followed < 750000))
}

@test "a short WITHIN costs nothing while no run is open, and ends runs on time" {
	cat >short.rule <<-'END'
		RULE short PATTERN { [sys_enter_fchdir:a, sys_enter_fsync:b] } WHERE { b.fd == a.fd } WITHIN 5ms POOL 4
	END
	cat >calls.py <<-'END'
		import os, time
		time.sleep(4)
		for i in range(40): # more than there are places, each of them late
		    try:
		        os.fchdir(1000 + i)
		    except OSError:
		        pass
		    time.sleep(0.06)
		    try:
		        os.fsync(1000 + i)
		    except OSError:
		        pass
	END
	"$ASTERISM" run -q -f json short.rule -- python3 calls.py >lines &
	local session=$! switches before
	sleep 2
	before=$(awk '/^voluntary/ { print $2 }' "/proc/$session/status")
	sleep 1
	switches=$(($(awk '/^voluntary/ { print $2 }' "/proc/$session/status") - before))
	wait "$session"
	echo "$switches turns in a second"
	((switches < 12))
	grep -q '"short":{"matches":0,"runs_opened":40,[^}]*"pool_exhausted":0,' lines
}

@test "a machine with AFTER 10 ms costs nothing while no timer is set, and its first timer is on time" {
	cat >late.rule <<-'END'
		MACHINE late KEY { tid }
		  STATE Free { ON sys_enter_fchdir -> Waiting }
		  STATE Waiting {
		    ON sys_enter_fsync -> END
		    AFTER 10ms -> Told { WARN "waits" }
		  }
		  STATE Told { ON sys_enter_fsync -> END }
	END
	cat >calls.py <<-'END'
		import os, sys, time
		time.sleep(4)
		for i in range(5): # each after a second in which nothing happens
		    try:
		        os.fchdir(1000)
		    except OSError:
		        pass
		    print("called", time.monotonic_ns(), file=sys.stderr)
		    time.sleep(1)
		    try:
		        os.fsync(1000)
		    except OSError:
		        pass
	END
	cat >stamp.py <<-'END'
		import sys, time
		for line in sys.stdin:
		    print(time.monotonic_ns(), line, end="", flush=True)
	END
	"$ASTERISM" run -q -f json late.rule -- python3 calls.py > >(exec python3 stamp.py >lines) 2>called &
	local session=$! switches before
	sleep 2
	before=$(awk '/^voluntary/ { print $2 }' "/proc/$session/status")
	sleep 1
	switches=$(($(awk '/^voluntary/ { print $2 }' "/proc/$session/status") - before))
	wait "$session" || [ $? = 1 ]
	echo "$switches turns in a second"
	((switches < 12))
	sleep 1
	cat called lines
	# Without a wake they would be told at the next second, some half a second late.
	python3 - <<-'END'
		calls = [int(line.split()[1]) for line in open("called") if line.startswith("called")]
		told = [int(line.split()[0]) for line in open("lines") if '"late"' in line and "waits" in line]
		assert len(calls) == len(told) == 5, (calls, told)
		waits = sorted((b - a) // 1000000 for a, b in zip(calls, told))
		print(waits)
		assert 10 <= waits[0] and waits[2] < 200, waits
	END
}

# attached RULE...: how many programs of a session with these rules the kernel calls where system calls end.
attached() {
	"$ASTERISM" run -q "$@" -- sh -c 'echo >begun; read line <over' >/dev/null &
	read -r <begun
	cat /proc/$!/fdinfo/* 2>/dev/null | grep -c '^tp_name:[[:space:]]*sys_exit$'
	echo >over
	wait $!
}

# Each further one costs every system call of the machine some 70 ns.
@test "the kernel calls one program where system calls end, and this one the others" {
	run -0 attached @deadlock @small-writes
	[ "$output" = 1 ]
}

@test "all programs of a chain see the calls: those that another one runs before them, too" {
	cat >ends.rule <<-'END'
		RULE opened PATTERN { sys_enter_openat:o } WHERE { o.filename == "/nonexistent-chain" }
		RULE refused PATTERN { sys_exit_openat:x } WHERE { x.ret == -ENOENT, x.comm == "cat" }
	END
	"$ASTERISM" run -q -f json ends.rule @deadlock -- cat /nonexistent-chain >out 2>err || true
	run -0 grep -c '"match":"opened"' out
	[ "$output" = 1 ]
	run -0 grep -c '"match":"refused"' out
	[ "$output" != 0 ]
}
