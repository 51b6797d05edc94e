#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares the intervals of `asterism report --only slices` with those that are worked out here, another way.

Not event by event but from the whole: who ran on a processor is what lies between two switches of it; and what a thread
was between two of its runs follows from how it left and from the wake-ups in between. Meant for traces without losses.

usage: states.py ASTERISM TRACE [--schedstat FILE]   FILE: lines `TID NS` of the time that the kernel says a thread had
"""

import argparse
import bisect
import collections
import json
import subprocess
import sys

import recorded

PENDING_NS = 1_000_000
RUNS = {"sys_enter", "sys_exit", "page_fault_user", "page_fault_kernel", "sched_process_fork", "sched_process_exit",
        "sched_waking", "sched_wakeup_new", "irq_handler_entry", "irq_handler_exit", "softirq_entry", "softirq_exit"}


class Life:
    """A thread: a tid from one fork of it to the next."""

    def __init__(self, tid, born):
        self.tid, self.born = tid, born
        self.runs = []   # [begin, end or None, cpu]
        self.leaves = []  # of each run but the last: the kernel's state
        self.wakes = []
        self.adopted = set()  # beginnings of runs before which it is not known what the thread was
        self.dumped = None    # when it was there and blocked, as the recording began
        self.observed = born is not None


def lives_of(events):
    """(all lives, the last time): who ran when, by the switches of each processor."""
    current, since, lives, everyone = {}, {}, {}, []
    last = events.end

    def life(tid, born=None, anew=False):
        if anew or tid not in lives:
            lives[tid] = Life(tid, born)
            everyone.append(lives[tid])
        return lives[tid]

    for event in events:
        name, ts, cpu = event["event"], event["ts"], event["cpu"]
        # Somebody whose switch to was recorded, and that from not: when it left is not known.
        runner = event["prev_pid"] if name == "sched_switch" else event["tid"] if name in RUNS else None
        if current.get(cpu) and runner not in (None, current[cpu]) and (runner or name == "sched_switch"):
            if current[cpu] in lives:
                lives[current[cpu]].runs.append([since[cpu], ts, cpu])
                lives[current[cpu]].leaves.append("missed")
        # Who raises an event runs, from then on for sure.
        if name in RUNS and event["tid"] and cpu in current and current[cpu] != event["tid"]:
            life(event["tid"]).adopted.add(ts)
            current[cpu], since[cpu] = event["tid"], ts
        if name == "sched_switch":
            left, comes = event["prev_pid"], event["next_pid"]
            if left:
                one = life(left)
                # What began before the recording, or as nobody looked, has no known beginning.
                begin = since[cpu] if current.get(cpu) == left else None
                one.runs.append([begin, ts, cpu])
                one.leaves.append(event["prev_state"])
                state = event["prev_state"]
                if not state & 0x100 and state & 0x30 and not state & 0xf:
                    del lives[left]
            if comes == 0 and left:
                life(left).observed = True if left in lives else False
                if left in lives:
                    lives[left].observed = True
            if comes and left == 0:
                life(comes).observed = True
            if comes:
                life(comes)
            current[cpu], since[cpu] = comes, ts
        elif name == "sched_waking" and event["target_tid"]:
            life(event["target_tid"]).wakes.append(ts)
        elif name == "thread_state":
            one = life(event["target_tid"])
            one.observed = True
            is_new = not one.runs and not one.wakes and event["target_tid"] not in current.values()
            if is_new and one.born is None and event["state"] in "SDI":
                one.dumped = ts
        elif name == "sched_process_fork":
            life(event["child_pid"], ts, True)
        if name in ("sys_enter", "sys_exit", "page_fault_user", "sched_process_exit", "sched_process_fork"):
            life(event["tid"]).observed = True
    for cpu, tid in current.items():
        if tid and tid in lives:
            lives[tid].runs.append([since[cpu], None, cpu])
    return everyone, last


def intervals_of(life, last):
    """[(begin, end, state, cpu)] of what is known: running, ready, blocked."""
    found = []
    runs = [(begin if begin is not None else end, end if end is not None else last, cpu, begin is not None)
            for begin, end, cpu in life.runs]
    runs_with_leaves = list(zip(runs, life.leaves + [None] * (len(runs) - len(life.leaves))))
    first = runs[0][0] if runs else last
    if runs and not life.dumped and (not runs[0][3] or first in life.adopted):
        pass
    elif life.born is not None:
        found.append((life.born, first, "ready", None))
    else:
        early = [ts for ts in life.wakes if ts < first]
        is_open = runs and (not runs[0][3] or first in life.adopted)
        if life.dumped and (early or not is_open):
            found.append((life.dumped, early[0] if early else first, "blocked", None))
        if early and not is_open:
            found.append((early[0], first, "ready", None))
    for number, ((begin, end, cpu, known), leave) in enumerate(runs_with_leaves):
        if known and leave != "missed":
            found.append((begin, end, "running", cpu))
        if leave is None:
            continue
        until = runs[number + 1][0] if number + 1 < len(runs) else last
        # Where its next run has no beginning, what it was just before that is not known.
        is_open = number + 1 < len(runs) and (not runs[number + 1][3] or until in life.adopted)
        if leave == "missed":
            later = [ts for ts in life.wakes if end < ts <= until][:1]
            if later and not is_open:
                found.append((later[0], until, "ready", None))
            continue
        if leave & 0x100 or not leave & 0xff:
            if is_open:
                continue
            found.append((end, until, "ready", None))
            continue
        if leave & 0x30 and not leave & 0xf:
            continue
        at = bisect.bisect_right(life.wakes, end)
        between = [ts for ts in life.wakes[at:at + 1] if ts < until or (ts == until and not is_open)]
        pending = [ts for ts in life.wakes[:at] if begin <= ts <= end and end - ts <= PENDING_NS]
        if between:
            found.append((end, between[0], "blocked", None))
            if not is_open:
                found.append((between[0], until, "ready", None))
        elif not is_open:
            found.append((end, until, "ready" if pending else "blocked", None))
    return [interval for interval in found if interval[0] < interval[1]]


def reported(asterism, trace):
    done = subprocess.run([asterism, "report", "-f", "json", "--only", "slices", trace], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"report ended with {done.returncode}")
    report = json.loads(done.stdout)
    slices = report["reports"]["slices"]["tables"]["slices"]
    return report["first_ns"], slices, report["reports"]["slices"]["notes"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("asterism")
    parser.add_argument("trace")
    parser.add_argument("--schedstat")
    parser.add_argument("--tick", type=int, default=4_000_000)
    arguments = parser.parse_args()
    everyone, last = lives_of(recorded.Events(arguments.asterism, arguments.trace))
    first, slices, _ = reported(arguments.asterism, arguments.trace)

    shown = collections.defaultdict(list)
    sums = collections.Counter()
    for item in slices:
        if item["thread"] is None:
            continue
        begin, end = item["begin_ns"] + first, item["end_ns"] + first
        if item["state"] in ("running", "ready", "blocked"):
            shown[item["thread"]["tid"]].append((begin, end, item["state"], item["cpu"]))
        if item["state"] == "running":
            sums[item["thread"]["tid"]] += end - begin
    wanted, compared, skipped = collections.defaultdict(list), set(), set()
    for life in everyone:
        intervals = intervals_of(life, last) if life.observed else None
        if intervals is None:
            skipped.add(life.tid)
            continue
        compared.add(life.tid)
        wanted[life.tid] += intervals
    compared -= skipped
    wrong = count = 0
    for tid in sorted(compared):
        one, other = sorted(wanted[tid], key=str), sorted(shown[tid], key=str)
        count += len(one)
        if one == other:
            continue
        wrong += 1
        for interval in sorted(set(one) ^ set(other)):
            where = "expected" if interval in set(one) else "reported"
            print(f"tid {tid}: only {where}: {interval[0] - first} .. {interval[1] - first} {interval[2:]}")
    if arguments.schedstat:
        with open(arguments.schedstat) as file:
            for line in file:
                tid, ns = map(int, line.split())
                if abs(sums[tid] - ns) > arguments.tick:
                    wrong += 1
                    print(f"tid {tid}: ran for {sums[tid]} ns, the kernel says {ns}")
    print(f"{len(compared)} threads, {count} intervals, {len(skipped)} threads without, {wrong} wrong")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
