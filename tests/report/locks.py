#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares circles of `asterism report --only waits` with those of made-up programs, whose every lock is known.

Threads take random mutexes in random orders, as a C library would: a free one without a call, a taken one by waits of
futex, from which a wake-up comes when it is given back. So some programs end, and others stand with a circle or two.
With the events of probes the report must have exactly the circles that there are. Without them each of its circles must
be one of these, or hold one where all threads stand; and a program that ended must have none.

usage: locks.py ASTERISM SEED PROGRAMS
"""

import json
import random
import subprocess
import sys
import tempfile

PID, CALL, WAIT, WAKE = 100, 202, 128, 129


class Program:
    def __init__(self, chance, probes):
        self.chance, self.probes, self.events, self.now = chance, probes, [], 1000
        self.owners, self.queues, self.contended = {}, {}, set()
        self.wanted, self.asleep, self.held, self.rounds = {}, {}, {}, {}
        self.mutexes = [4096 + 64 * i for i in range(chance.randrange(2, 6))]
        self.put("sched_process_exec", PID, filename="/bin/locks", old_pid=PID)
        for tid in range(PID + 1, PID + chance.randrange(2, 7)):
            self.put("sched_process_fork", PID, parent_pid=PID, parent_comm="locks", child_pid=tid, child_tgid=PID,
                     child_comm="locks")
            self.held[tid], self.rounds[tid] = [], chance.randrange(1, 12)
        self.put("sched_process_exit", PID, prio=120, group_dead=False)

    def put(self, event, tid, **fields):
        self.now += self.chance.randrange(1, 2000)
        self.events.append({"event": event, "ts": self.now, "cpu": 0, "pid": PID, "tid": tid, "comm": "locks", **fields})

    def probe(self, name, tid, **fields):
        if self.probes:
            self.put("pthread_mutex_" + name, tid, **fields)

    def futex(self, tid, op, mutex, value):
        self.put("sys_enter", tid, id=CALL, arg0=mutex, arg1=op, arg2=value, arg3=0, arg4=0, arg5=0)

    def try_to_take(self, tid, after_wait):
        mutex = self.wanted[tid]
        if mutex not in self.owners:
            self.owners[mutex] = tid
            if after_wait:
                self.contended.add(mutex)
            self.held[tid].append(mutex)
            del self.wanted[tid]
            self.probe("lock_return", tid, ret=0)
            return
        self.contended.add(mutex)
        self.futex(tid, WAIT, mutex, 2)
        self.queues.setdefault(mutex, []).append(tid)
        self.asleep[tid] = True

    def give(self, tid):
        mutex = self.held[tid].pop(self.chance.randrange(len(self.held[tid])))
        self.probe("unlock", tid, mutex=mutex, caller=0)
        del self.owners[mutex]
        if mutex not in self.contended:
            return
        self.contended.discard(mutex)
        self.futex(tid, WAKE, mutex, 1)
        if self.queues.get(mutex):
            woken = self.queues[mutex].pop(0)
            self.put("sched_waking", tid, target_tid=woken, target_pid=PID, target_comm="locks", prio=120, target_cpu=0)
            self.asleep[woken] = False
        self.put("sys_exit", tid, id=CALL, ret=1)

    def step(self, tid):
        if tid in self.asleep:
            del self.asleep[tid]
            self.put("sys_exit", tid, id=CALL, ret=0)
            self.try_to_take(tid, True)
        elif len(self.held[tid]) < len(self.mutexes) and self.rounds[tid] > 0 and self.chance.random() < 0.5:
            self.wanted[tid] = self.chance.choice([m for m in self.mutexes if m not in self.held[tid]])
            self.probe("lock", tid, mutex=self.wanted[tid], caller=0)
            self.try_to_take(tid, False)
        elif self.held[tid]:
            self.give(tid)
        elif self.rounds[tid] > 0:
            self.rounds[tid] -= 1
        else:
            self.put("sched_process_exit", tid, prio=120, group_dead=False)
            del self.held[tid]

    def run(self):
        while True:
            ready = [tid for tid in self.held if not self.asleep.get(tid)]
            if not ready:
                break
            self.step(self.chance.choice(ready))
        self.now += 200_000_000
        self.put("sched_process_exec", 1, filename="/bin/other", old_pid=1)
        self.events[-1]["pid"] = 1

    def circles(self):
        found = set()
        for tid in self.wanted:
            walk = []
            while tid in self.wanted and tid not in walk:
                walk.append(tid)
                tid = self.owners[self.wanted[tid]]
            if tid in walk:
                found.add(frozenset(walk[walk.index(tid):]))
        return found


def reported(asterism, events):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write("".join(json.dumps(event) + "\n" for event in events))
        file.flush()
        done = subprocess.run([asterism, "report", "--only", "waits", "-f", "json", file.name], stdout=subprocess.PIPE,
                              text=True, check=True)
    tables = json.loads(done.stdout)["reports"]["waits"]["tables"]
    members = {}
    for row in tables.get("members", []):
        members.setdefault(row["circle"], []).append((row["thread"]["tid"], row["holder"]))
    return [(row, frozenset(tid for tid, _ in members[row["circle"]]), members[row["circle"]][0][1] is None)
            for row in tables["circles"]]


def main():
    asterism, seed, programs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    counts, wrong = {"live": 0, "stand": 0, "proved": 0, "suspected": 0}, 0
    for number in range(programs):
        for probes in (True, False):
            program = Program(random.Random(seed + number), probes)
            program.run()
            truth, found = program.circles(), reported(asterism, program.events)
            counts["stand" if truth else "live"] += 1
            if probes:
                fine = {who for _, who, _ in found} == truth and len(found) == len(truth) and all(
                    row["proof"] == "proved" and row["end"] == "stands" for row, _, _ in found)
            else:
                fine = all(row["proof"] == "suspected" and (any(one <= who for one in truth) if all_stand else who in truth)
                           for row, who, all_stand in found)
                # All that are left stand for each other's mutexes: then that is said.
                fine = fine and bool(found) == bool(truth)
            counts["proved" if probes else "suspected"] += len(found)
            if not fine:
                wrong += 1
                print(f"seed {seed + number}, probes {probes}: {sorted(map(sorted, truth))} are circles, {found} are shown")
    print(counts, f"{wrong} programs wrong")
    return 1 if wrong or not all(counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
