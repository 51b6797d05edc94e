#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# State machines in SMC's language: the files of the reference on trace patterns become machines, and find what the shipped
# rules for the same things find.

bats_require_minimum_version 1.5.0

setup() {
	root=$BATS_TEST_DIRNAME/../..
	: "${ASTERISM:=$root/build/src/cmd/asterism}"
	cd "$BATS_TEST_TMPDIR"
}

import() {
	"$ASTERISM" import "$root/examples/machines/$1.sm" -o "$1.rule"
	"$ASTERISM" check -q "$1.rule"
}

# The matches of rules in a trace, as the field that is asked for, in lines.
found() {
	"$ASTERISM" replay -f json "$1" "$2" | python3 -c '
import json, sys
for line in sys.stdin:
    match = json.loads(line)
    if "match" in match:
        print(*[match[field] for field in sys.argv[1:]])' "${@:3}"
}

@test "fd: closed descriptors, as @closed-descriptor finds them" {
	import fd
	cat >trace.jsonl <<-'END'
		{"event":"descriptor_closed","ts":10,"pid":7,"tid":7,"fd":4,"ret":0}
		{"event":"descriptor_closed","ts":11,"pid":8,"tid":8,"fd":4,"ret":0}
		{"event":"descriptor_refused","ts":20,"pid":7,"tid":7,"fd":4,"call":0}
		{"event":"descriptor_refused","ts":21,"pid":7,"tid":7,"fd":5,"call":0}
		{"event":"descriptor_refused","ts":22,"pid":9,"tid":9,"fd":4,"call":1}
		{"event":"descriptor_refused","ts":23,"pid":7,"tid":7,"fd":4,"call":1}
		{"event":"descriptor_made","ts":30,"pid":7,"tid":7,"fd":4,"call":257}
		{"event":"descriptor_refused","ts":31,"pid":8,"tid":8,"fd":4,"call":1}
		{"event":"descriptor_made","ts":32,"pid":8,"tid":8,"fd":4,"call":32}
		{"event":"descriptor_closed","ts":40,"pid":7,"tid":7,"fd":6,"ret":0}
		{"event":"descriptor_closed","ts":41,"pid":8,"tid":8,"fd":6,"ret":0}
		{"event":"sched_process_exit","ts":42,"pid":7,"tid":9,"prio":120,"group_dead":false}
		{"event":"descriptor_refused","ts":43,"pid":7,"tid":7,"fd":6,"call":0}
		{"event":"sched_process_exit","ts":44,"pid":7,"tid":7,"prio":120,"group_dead":true}
		{"event":"descriptor_refused","ts":45,"pid":7,"tid":7,"fd":6,"call":0}
		{"event":"descriptor_refused","ts":46,"pid":8,"tid":8,"fd":6,"call":1}
	END
	found fd.rule trace.jsonl ts warning >mine
	diff - mine <<-'END'
		20 read of descriptor 4, which was closed
		23 write of descriptor 4, which was closed
		31 write of descriptor 4, which was closed
		43 read of descriptor 6, which was closed
		46 write of descriptor 6, which was closed
	END
	found @closed-descriptor trace.jsonl ts | diff - <(cut -d' ' -f1 mine)
}

@test "chroot: a file that is opened before chdir to /, and not after it" {
	import chroot
	cat >trace.jsonl <<-'END'
		{"event":"root_changed","ts":10,"pid":7,"tid":7,"path":"/jail","euid":0}
		{"event":"root_changed","ts":11,"pid":8,"tid":8,"path":"/jail","euid":0}
		{"event":"root_changed","ts":12,"pid":9,"tid":9,"path":"/other","euid":0}
		{"event":"directory_changed","ts":13,"pid":7,"tid":7,"path":"/","euid":0}
		{"event":"directory_changed","ts":14,"pid":8,"tid":8,"path":"/tmp","euid":0}
		{"event":"file_opened","ts":20,"pid":7,"tid":7,"dfd":-100,"path":"a","flags":0,"fd":3,"euid":0}
		{"event":"file_opened","ts":21,"pid":8,"tid":8,"dfd":-100,"path":"../b","flags":0,"fd":3,"euid":0}
		{"event":"file_opened","ts":22,"pid":8,"tid":8,"dfd":-100,"path":"../c","flags":0,"fd":4,"euid":0}
		{"event":"sched_process_exit","ts":30,"pid":9,"tid":9,"prio":120,"group_dead":true}
		{"event":"file_opened","ts":31,"pid":9,"tid":9,"dfd":-100,"path":"d","flags":0,"fd":3,"euid":0}
		{"event":"root_changed","ts":40,"pid":7,"tid":7,"path":"/deeper","euid":0}
		{"event":"file_opened","ts":41,"pid":7,"tid":7,"dfd":-100,"path":"e","flags":0,"fd":3,"euid":0}
	END
	found chroot.rule trace.jsonl ts warning | diff - <(cat <<-'END'
		21 process 8 opens ../b after chroot to /jail, without chdir to /
		41 process 7 opens e after chroot to /deeper, without chdir to /
	END
	)
}

@test "locks: finds in the traces of @kernel-locks what the shipped rule finds" {
	import locks
	for trace in irq order scheduled fresh-object copy-pte-range; do
		sed '/^#/d' "$root/rules/kernel-locks/tests/$trace.jsonl" >"$trace.short"
		python3 - "$trace" <<-'END'
			import json, sys
			bodies = {"lockdep_lock_acquire": "retaddr subclass lock trylock read hardirqs_off hardirq_context",
			          "lockdep_lock_release": "retaddr lock nested", "lockdep_init_map": "lock",
			          "sched_schedule": "prev_pid next_pid prev_state"}
			with open(sys.argv[1] + ".jsonl", "w") as out:
			    for line in open(sys.argv[1] + ".short"):
			        event = json.loads(line)
			        print(json.dumps(dict.fromkeys(bodies[event["event"]].split(), 0) | event), file=out)
		END
		found locks.rule "$trace.jsonl" ts | sort -u >mine
		found "$root/rules/kernel-locks/kernel-locks.rule" "$trace.jsonl" ts | sort -u | diff - mine
	done
	found locks.rule order.jsonl match ts | grep -q '^lock_edges 21$'
	found locks.rule irq.jsonl ts warning | grep -q '^12 lock 4096: taken in an interrupt handler'
}

@test "rt: a thread that comes too late, and one that is sent away early, as @real-time" {
	import rt
	event() { printf '{"event":"%s","ts":%s,"pid":%s,"tid":%s,"target_tid":5,"target_pid":5,"target_comm":"mplayer",%s}\n' "$@"; }
	runs='"prev_tid":0,"prev_comm":"x"' ready='"is_ready":true,"next_tid":6,"next_comm":"y"' asleep='"is_ready":false,"next_tid":6,"next_comm":"y"'
	{
		event thread_runs 1000000 5 5 "$runs"
		event thread_leaves 3000000 5 5 "$ready"
		event thread_runs 10000000 5 5 "$runs"
		event thread_leaves 10500000 5 5 "$ready"
		event thread_runs 40500000 5 5 "$runs"
		event thread_leaves 40600000 5 5 "$asleep"
	} >trace.jsonl
	"$ASTERISM" replay -f json --set slice=1ms rt.rule trace.jsonl | grep '"match"' >mine
	diff - <(python3 -c 'import json, sys
for line in sys.stdin: print(json.loads(line)["ts"], json.loads(line)["warning"])' <mine) <<-'END'
		10500000 thread 5 is scheduled out early, 500000 after it began
		40500000 thread 5 runs too late, 30500000 after it began
	END
}

@test "tcp: a handshake that is not ended within the time of its timer" {
	import tcp
	"$ASTERISM" check -q tcp.rule
	python3 - >trace.jsonl <<-'END'
		import json
		def line(event, ts, port, **flags):
		    print(json.dumps(dict(event=event, ts=ts, sport=port, dport=80, saddr="10.0.0.1", daddr="10.0.0.2",
		                          saddr_v6_hi=0, saddr_v6_lo=1, daddr_v6_hi=0, daddr_v6_lo=2) | flags))
		for i in range(3):
		    line("tcp_syn_received", 1000 + i, 4000 + i)
		line("tcp_segment_received", 2000, 4001, flags=16)
		line("tcp_syn_received", 999_999_000, 5000)
		line("tcp_segment_received", 3_000_000_000, 1, flags=16)
	END
	"$ASTERISM" replay -f json --set limit=3 tcp.rule trace.jsonl >out
	grep -c '"match"' out
	grep -q '"match":"halfopen_flood","ts":1999999000.*port 80: 3 half-open' out
}
