#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares tables of `asterism report` with what is worked out here from the dumped events, in the plainest way.

Each report has a function that takes all events and gives the rows that it expects, as sets of tuples. Meant for traces
without losses.

usage: naive.py ASTERISM TRACE REPORT...
"""

import collections
import errno
import json
import subprocess
import sys


def events_of(asterism, trace):
    done = subprocess.run([asterism, "dump", "-f", "json", trace], stdout=subprocess.PIPE, text=True, check=True)
    return [event for event in map(json.loads, done.stdout.splitlines()) if "event" in event]


def report_of(asterism, trace, name):
    done = subprocess.run([asterism, "report", "-f", "json", "--only", name, trace], stdout=subprocess.PIPE, text=True,
                          check=True)
    return json.loads(done.stdout)["reports"][name]["tables"]


def thread(cell):
    return cell and cell.get("tid")


def syscalls(events):
    """({(call, count, failed, sum)}, {(call, error, count)}, {pid: (calls, failed, time)})"""
    inside, calls, errors = {}, collections.defaultdict(list), collections.Counter()
    processes = collections.defaultdict(lambda: [0, 0, 0])
    unfinished = collections.Counter()
    for event in events:
        tid = event["tid"]
        if event["event"] == "sched_process_fork":
            inside.pop(event["child_pid"], None)
        if event["event"] == "sys_enter":
            inside[tid] = (event["id"], event["ts"])
        if event["event"] != "sys_exit":
            continue
        call, begin = inside.pop(tid, (None, 0))
        if call != event["id"]:
            continue
        took, failed = event["ts"] - begin, -4095 <= event["ret"] < 0
        calls[call].append((took, failed))
        if failed:
            errors[call, -event["ret"]] += 1
        for i, more in enumerate((1, failed, took)):
            processes[event["pid"]][i] += more
    for call, _ in inside.values():
        unfinished[call] += 1
    return calls, errors, processes, unfinished


def check_syscalls(events, tables, expect):
    calls, errors, processes, unfinished = syscalls(events)
    expect("calls", sorted((len(took), sum(failed for _, failed in took), sum(ns for ns, _ in took),
                            max(ns for ns, _ in took), unfinished[call]) for call, took in calls.items()),
           sorted((row["count"], row["failed"], row["sum_ns"], row["most_ns"], row["unfinished"])
                  for row in tables["calls"] if row["count"]))
    expect("errors", sorted((errno.errorcode.get(number, str(-number)), count) for (_, number), count in errors.items()),
           sorted((row["error"].lstrip("-") if not row["error"][1:].isdigit() else row["error"], row["count"])
                  for row in tables["errors"]))
    expect("processes", sorted(tuple(row) for row in processes.values()),
           sorted((row["count"], row["failed"], row["sum_ns"]) for row in tables["processes"]))


def check_faults(events, tables, expect):
    rows, pages = collections.defaultdict(lambda: [0] * 5), collections.defaultdict(set)
    places = collections.Counter()
    for event in events:
        if not event["event"].startswith("page_fault_"):
            continue
        code, row = event["error_code"], rows[event["pid"]]
        row[event["event"] == "page_fault_kernel"] += 1
        for i, bit in ((2, 2), (3, 16), (4, 1)):
            row[i] += bool(code & bit)
        pages[event["pid"]].add(event["address"] >> 12)
        places[event["pid"], event["ip"]] += 1
    expect("processes", sorted((*row, len(pages[pid])) for pid, row in rows.items()),
           sorted(tuple(row[name] for name in ("user", "kernel", "writes", "fetches", "protections", "pages"))
                  for row in tables["processes"]))
    expect("places", sorted(places.values(), reverse=True)[:100], [row["count"] for row in tables["places"]])


def check_processes(events, tables, expect):
    """Born processes: (pid, who made it, birth, end, program, threads)."""
    first, made, runs = events[0]["ts"], [], {}
    for at, event in enumerate(events):
        if event["event"] == "sched_process_exec":
            runs[event["pid"]] = event["filename"]
        if event["event"] != "sched_process_fork" or event["child_pid"] != event["child_tgid"]:
            continue
        pid, end, threads = event["child_pid"], None, 1
        program = runs[pid] = runs.get(event["pid"])
        for later in events[at + 1:]:
            if later["event"] == "sched_process_fork" and later["child_pid"] == pid:
                break
            threads += later["event"] == "sched_process_fork" and later["child_tgid"] == pid
            if later["event"] == "sched_process_exec" and later["pid"] == pid:
                program = later["filename"]
            left = later["event"] == "sched_switch" and later["prev_pid"] == pid and later["prev_state"]
            if left and left & 0x30 and not left & 0xf:
                end = later["ts"] - first
        made.append((pid, event["pid"], event["ts"] - first, end, program, threads))
    expect("tree", sorted(made, key=str),
           sorted(((row["pid"], thread(row["parent"]), row["begin_ns"], row["end_ns"], row["path"], row["threads"])
                   for row in tables["tree"] if row["begin_ns"] is not None), key=str))


INTERRUPTS = {"irq_handler": "irq", "softirq": "softirq", "irq_vector": "vector", "local_timer": "timer"}


def check_interruptions(events, tables, expect):
    """{(victim, who or what, kind): [count, sum, most]}: threads by switches, interrupts by their handlers' nesting."""
    pairs, taken, nests = collections.defaultdict(list), {}, collections.defaultdict(list)
    for event in events:
        ts, cpu, (base, _, side) = event["ts"], event["cpu"], event["event"].rpartition("_")
        if event["event"] == "sched_switch":
            left, comes, state = event["prev_pid"], event["next_pid"], event["prev_state"]
            if comes in taken:
                taker, since = taken.pop(comes)
                pairs[comes, "thread", taker].append(ts - since)
            if left and (state & 0x100 or not state & 0xff):
                taken[left] = (comes, ts)
        elif base in INTERRUPTS and side == "entry":
            number = event.get("irq", event.get("vec", event.get("vector"))) if base != "local_timer" else 0
            nests[cpu].append((INTERRUPTS[base], number, event["tid"], ts))
        elif base in INTERRUPTS and side == "exit":
            kind, number, tid, since = nests[cpu].pop() if nests[cpu] else (None, None, None, None)
            if kind == INTERRUPTS[base] and tid:
                pairs[tid, kind, number].append(ts - since)
    for victim, (taker, since) in taken.items():
        pairs[victim, "thread", taker].append(events[-1]["ts"] - since)
    born = {event["child_pid"] for event in events if event["event"] == "sched_process_fork"}

    def joined(rows):  # a tid may be several threads, one after another
        found = collections.defaultdict(lambda: [0, 0, 0])
        for victim, kind, taker, count, ns, most in rows:
            if victim not in born:
                continue  # when a stranger was observed is another matter
            sums = found[victim, kind, taker if kind == "thread" else 0]
            sums[:] = sums[0] + count, sums[1] + ns, max(sums[2], most)
        return sorted((*key, *sums) for key, sums in found.items())

    expect("interruptions", joined((*key, len(ns), sum(ns), max(ns)) for key, ns in pairs.items()),
           joined((thread(row["thread"]), row["kind"], row["by_tid"], row["count"], row["sum_ns"], row["most_ns"])
                  for row in tables["interruptions"]))


def check_rates(events, tables, expect):
    """Of system calls: (begun, ended, time under way), and how often each thread that ended was in one."""
    opens, took, begun, area, first = {}, [], 0, 0, events[0]["ts"]
    for event in events:
        tid, ts = event["tid"], event["ts"]
        if event["event"] == "sched_process_exit" and tid in opens:
            area += ts - opens.pop(tid)
        if event["event"] == "sys_enter":
            begun += 1
            opens[tid] = ts
        if event["event"] == "sys_exit" and tid in opens:
            took.append(ts - opens.pop(tid))
    area += sum(took) + sum(events[-1]["ts"] - ts for ts in opens.values())
    rows, length = tables["rates"], events[-1]["ts"] - first
    spans = [(row["mean"], min(later["time_ns"], length) - row["time_ns"])
             for row, later in zip(rows, [*rows[1:], {"time_ns": length}])]
    shown = sum(mean * span for mean, span in spans)
    expect("rates", [(begun, len(took), sum(took), True)],
           [(sum(row["begun"] for row in rows), sum(row["ended"] for row in rows),
             sum(row["running_ns"] + row["waiting_ns"] for row in rows), abs(shown - area) < 1e-6 * area)])


def check_sequences(events, tables, expect):
    """Every word of up to three types, in the stream, in each process, in each thread."""
    streams, births = collections.defaultdict(list), collections.Counter()
    for event in events:
        keys = ("global",), ("process", event["pid"]), ("thread", event["tid"], births[event["tid"]])
        for key in keys:
            streams[key].append(event["event"])
        if event["event"] == "sched_process_fork":
            births[event["child_pid"]] += 1
        if event["event"] == "sched_switch" and event["prev_state"] & 0x30 and not event["prev_state"] & 0x10f:
            births[event["prev_pid"]] += 1
    words = collections.Counter()
    for key, names in streams.items():
        for length in (1, 2, 3):
            for i in range(len(names) - length + 1):
                words[(key[0], *[None] * (3 - length), *names[i:i + length])] += 1
    sums = collections.Counter()
    for word, count in words.items():
        sums[word[:3]] += count
    shown = {(row["level"], row["first"], row["second"], row["event"]): row for row in tables["sequences"]}
    expect("sequences", sorted(words.items(), key=str), sorted(((word, row["count"]) for word, row in shown.items()), key=str))
    expect("shares", [], [word for word, count in words.items()
                          if abs(count / sums[word[:3]] - shown.get(word, {"share": 9})["share"]) > 1e-6])


CHECKS = {"interruptions": check_interruptions, "rates": check_rates, "sequences": check_sequences,
          "processes": check_processes, "syscalls": check_syscalls, "faults": check_faults}


def main():
    asterism, trace, *names = sys.argv[1:]
    events, wrong, compared = events_of(asterism, trace), 0, 0

    for name in names:
        def expect(what, wanted, shown):
            nonlocal wrong, compared
            compared += len(wanted)
            if wanted == shown:
                return
            wrong += 1
            print(f"{name}, {what}: {len(wanted)} rows are expected, {len(shown)} shown; they first differ in")
            print(*next(((a, b) for a, b in zip([*wanted, None], [*shown, None]) if a != b)), sep="\n")

        CHECKS[name](events, report_of(asterism, trace, name), expect)
    print(f"{compared} rows compared, {wrong} tables wrong")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
