#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# State machines in the kernel, live: one instance per key on several processors, timers, partial keys, copies, actions.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
}

# observe RULE COMMAND...: the session's lines in $output, that the rules run in the kernel, and that nothing was lost.
observe() {
	"$ASTERISM" explain "$1" | grep -q "executed   in the kernel"
	! "$ASTERISM" explain "$1" | grep -q "in user space"
	run --separate-stderr -0 "$ASTERISM" run -f json --allow-actions "$@"
	[[ ${lines[-1]} == '{"stats":'* ]]
	[[ ${lines[-1]} == *'"lost":0,'* ]]
}

# value NAME...: of the statistics
value() {
	python3 -c 'import json, sys
value = json.loads(sys.argv[1])["stats"]
for key in sys.argv[2:]:
    value = value[key]
print(value)' "${lines[-1]}" "$@"
}

@test "events of one key on all processors open one instance, and none is missed" {
	cat >count.rule <<-'END'
		MACHINE counted
		  KEY { id }
		  VAR uses: u32;
		  STATE Off { ON sys_enter:e WHERE e.id == 124 -> On { uses = 1 } }
		  STATE On {
		    ON sys_enter WHERE uses + 1 == 40000 -> On { uses = uses + 1; WARN "all {uses}" }
		    ON sys_enter { uses = uses + 1 }
		  }
	END
	cat >calls.py <<-'END'
		import os
		pids = []
		for _ in range(4):
		    pid = os.fork()
		    if not pid:
		        for _ in range(10000):
		            os.getsid(0)
		        os._exit(0)
		    pids.append(pid)
		for pid in pids:
		    os.waitpid(pid, 0)
	END
	observe count.rule -- python3 calls.py
	[ "${#lines[@]}" = 2 ]
	[[ ${lines[0]} == *'"return":{"uses":40000}'* ]]
	[ "$(value rules counted runs_opened)" = 1 ]
}

@test "timers go off at their time without a next event, and an event ends them" {
	cat >slow.rule <<-'END'
		MACHINE slow
		  KEY { tid }
		  VAR since: u64;
		  STATE Awake { ON sys_enter:e WHERE e.id IN { 35, 230 } -> Asleep { since = e.ts } }
		  STATE Asleep {
		    AFTER 30ms -> STAY { WARN "{ts - since}" }
		    AFTER 60ms -> STAY { WARN "{ts - since}" }
		    AFTER 100s -> STAY { WARN "{ts - since}" }
		    ON sys_exit -> END
		  }
	END
	observe slow.rule -- sh -c 'sleep 0.2; sleep 0.3'
	[ "$(value rules slow runs_opened)" = 2 ]
	[ "$(value rules slow matches)" = 4 ]
	python3 - "$output" <<-'END'
		import json, sys
		waits = []
		for line in sys.argv[1].splitlines()[:-1]:
		    match = json.loads(line)
		    assert match["comm"] == "sleep", match
		    waits += match["return"].values()
		assert sorted(set(waits)) == [30000000, 60000000], waits
	END
}

@test "timers of a minute have nothing looked for before" {
	cat >minute.rule <<-'END'
		MACHINE minute
		  KEY { pid }
		  STATE Off { ON sched_process_exec -> On }
		  STATE On {
		    AFTER 1min -> END { WARN "left" }
		  }
	END
	"$ASTERISM" run -q -f json --allow-actions minute.rule -- sleep 3 >lines &
	local session=$! switches before
	sleep 1.5
	before=$(awk '/^voluntary/ { print $2 }' "/proc/$session/status")
	sleep 1
	switches=$(($(awk '/^voluntary/ { print $2 }' "/proc/$session/status") - before))
	wait "$session"
	echo "$switches turns in a second"
	((switches < 50))
}

@test "the end of a process ends its instances, and of no other" {
	cat >part.rule <<-'END'
		MACHINE part
		  KEY { pid, tid }
		  STATE None { ON sys_enter:e WHERE e.id == 124 -> Some }
		  STATE Some {
		    AFTER 3s -> END { WARN "left" }
		  }
		  ON sched_process_exit BY { pid, * } -> END
	END
	cat >ends.py <<-'END'
		import os, threading, time
		if not os.fork():
		    threads = [threading.Thread(target=lambda: os.getsid(0)) for _ in range(3)]
		    for thread in threads:
		        thread.start()
		    for thread in threads:
		        thread.join()
		    os._exit(0)
		os.wait()
		os.getsid(0)
		time.sleep(3.5)
	END
	observe part.rule -- python3 ends.py
	[ "$(value rules part runs_opened)" = 4 ]
	[ "$(value rules part matches)" = 1 ]
}

@test "children inherit, unless they have an instance" {
	cat >heir.rule <<-'END'
		MACHINE heir
		  KEY { pid }
		  VAR depth: u32;
		  STATE Off { ON sys_enter:e WHERE e.id == 124 -> On { depth = 1 } }
		  STATE On {
		    ON sched_process_fork:f BY { f.pid } COPY BY { f.child_pid } { depth = depth + 1 }
		    ON sys_enter:e WHERE e.id == 121 -> STAY { WARN "depth {depth}" }
		  }
	END
	cat >forks.py <<-'END'
		import os
		os.getsid(0)
		os.getpgid(0)
		if not os.fork():
		    os.getpgid(0)
		    if not os.fork():
		        os.getpgid(0)
		        os._exit(0)
		    os.wait()
		    os._exit(0)
		os.wait()
	END
	observe heir.rule -- python3 forks.py
	[ "$(value rules heir matches)" = 3 ]
	[ "$(value rules heir runs_opened)" = 3 ]
	for depth in 1 2 3; do
		[[ $output == *"\"return\":{\"depth\":$depth}"* ]]
	done
}

@test "what a transition calls is done in the kernel, and only that; what it raises is taken there" {
	cat >act.rule <<-'END'
		EVENT noticed { n: u32 }
		MACHINE acts
		  KEY { tid }
		  VAR n: u32;
		  STATE Off { ON sys_enter:e WHERE e.id == 124 -> On { n = 1 } }
		  STATE On {
		    ON sys_enter:e WHERE e.id == 124 AND n < 8 { n = n + 1; EMIT noticed(n = n) }
		    ON sys_enter:e WHERE e.id == 124 -> END { CALL Signal(tid, "USR1"); WARN "over" }
		  }
		MACHINE takes
		  KEY { tid }
		  STATE Off { ON noticed:e WHERE e.n >= 7 -> On { WARN "seven {e.n}" } }
		  STATE On { ON noticed { WARN "more" } }
	END
	cat >few.py <<-'END'
		import os, signal
		seen = []
		signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
		for i in range(9):
		    assert not seen, i
		    os.getsid(0)
		assert len(seen) == 1, seen
	END
	observe act.rule -- python3 few.py
	[ "$(value rules acts matches)" = 1 ]
	[ "$(value rules takes matches)" = 2 ]
	[[ $output == *'"function":"Signal"'*'"done":true,"by":"kernel"'* ]]
}
