#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a made-up recording as JSON lines: threads that start, call, wait, wake and preempt each other at random.

usage: large.py THREADS EVENTS [CPUS [SEED]]
"""

import random
import sys

BATCH = 4096
NAMES = ("nginx", "postgres", "a b", "</script>", "kworker/0:1", "<!--", "x" * 15)


def lines(threads, events, cpus, draw):
    """Yields lines: of threads that are made first, and then of a random choice."""
    first = 1000
    at, current, named = 1_000_000, [0] * cpus, [NAMES[draw.randrange(len(NAMES))] for _ in range(threads)]
    comm = lambda tid: named[tid - first] if tid else "swapper"
    head = lambda event, cpu, tid: (f'{{"event":"{event}","ts":{at},"cpu":{cpu},"pid":{tid},"tid":{tid},"comm":"{comm(tid)}"')
    for tid in range(first + 1, first + threads):
        at += 100
        yield (f'{head("sched_process_fork", 0, first)},"parent_pid":{draw.randrange(first, tid)},"child_pid":{tid},"child_tgid":{tid},'
               f'"parent_comm":"{comm(first)}","child_comm":"{comm(tid)}"}}')
    for _ in range(events - threads + 1):
        at += draw.randrange(50, 4000)
        cpu, kind = draw.randrange(cpus), draw.random()
        running, other = current[cpu], draw.randrange(first, first + threads)
        if other in current:
            continue
        if kind < 0.6 or not running:
            yield (f'{head("sched_switch", cpu, running)},"prev_state":{draw.choice((0, 0, 1, 2))},"prev_pid":{running},"prev_prio":120,'
                   f'"next_pid":{other},"next_prio":{draw.choice((120, 120, 100, 50))},"prev_comm":"{comm(running)}","next_comm":"{comm(other)}"}}')
            current[cpu] = other
        elif kind < 0.8:
            yield (f'{head("sched_waking", cpu, running)},"target_tid":{other},"target_pid":{other},"prio":120,"target_cpu":{cpu},'
                   f'"target_comm":"{comm(other)}"}}')
        elif kind < 0.9:
            yield (f'{head("sys_enter", cpu, running)},"id":{draw.randrange(400)},"arg0":{draw.randrange(1 << 40)},"arg1":128,"arg2":{other},'
                   '"arg3":0,"arg4":0,"arg5":0}')
        else:
            yield f'{head("sys_exit", cpu, running)},"id":{draw.randrange(400)},"ret":{draw.randrange(-40, 9)}}}'


def main():
    threads, events = int(sys.argv[1]), int(sys.argv[2])
    cpus, seed = (int(word) for word in (sys.argv[3:] + ["8", "1"][len(sys.argv) - 3:]))
    batch = []
    for line in lines(threads, events, cpus, random.Random(seed)):
        batch.append(line)
        if len(batch) == BATCH:
            print("\n".join(batch))
            batch.clear()
    print("\n".join(batch))


if __name__ == "__main__":
    main()
