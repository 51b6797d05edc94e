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


FUTEX, FUTEX_WAIT_CALL, RESTART = 202, 455, 219
WAITS = (0, 6, 9, 11, 13)


def wait_of(event):
    """(operation, whether it is private, value) of a call that waits, or None"""
    if event["id"] == FUTEX_WAIT_CALL:
        return 9, bool(event["arg3"] & 128), event["arg1"]
    op = event["arg1"] & 127 if event["id"] == FUTEX else None
    return (op, bool(event["arg1"] & 128), event["arg2"] & 0xffffffff) if op in WAITS else None


def futexes(events):
    """({object: [times]}, {(born thread, object): [times]}), an object being its process, address and kind"""
    open_waits, resumes, births = {}, {}, collections.Counter()
    memories, pids = collections.Counter(), {}
    objects, edges = collections.defaultdict(list), collections.defaultdict(list)

    def end(tid, ts):
        if tid not in open_waits:
            return None
        key, begin = open_waits.pop(tid)
        objects[key].append(ts - begin)
        edges[(tid, births[tid]), key].append(ts - begin)
        return key

    for event in events:
        tid, pid, name, ts = event["tid"], event["pid"], event["event"], event["ts"]
        pids[tid] = pid
        if name == "sched_process_fork":
            child = event["child_pid"]
            births[child] += 1
            pids[child] = event["child_tgid"]
            open_waits.pop(child, None)
            resumes.pop(child, None)
            memories[child] += child == event["child_tgid"]
        elif name == "sched_process_exec":
            memories[pid] += 1
        elif name == "sched_waking":
            pids.setdefault(event["target_tid"], event["target_pid"])
        elif name == "sched_process_exit":
            end(tid, ts)
        elif name == "sys_exit" and event["id"] in (FUTEX, FUTEX_WAIT_CALL, RESTART):
            if event["ret"] == -errno.EAGAIN:
                open_waits.pop(tid, None)
            key = end(tid, ts)
            resumes[tid] = key if event["ret"] == -516 else None
        elif name == "sys_enter":
            open_waits.pop(tid, None)
            resumed, wait = resumes.pop(tid, None), wait_of(event)
            if event["id"] == RESTART and resumed:
                open_waits[tid] = resumed, ts
            elif wait:
                op, private, value = wait
                joins = op == 9 and not private and value != tid and pids.get(value) == pid
                kind = ("join", value, births[value]) if joins else (
                    "mutex" if (op, value) == (0, 2) or op in (6, 13) else "condition")
                open_waits[tid] = (pid, memories[pid], event["arg0"], kind), ts
    for tid in list(open_waits):
        end(tid, events[-1]["ts"])
    return objects, edges


def check_waits(events, tables, expect):
    objects, edges = futexes(events)
    kind = lambda key: key[3] if isinstance(key[3], str) else key[3][0]
    expect("objects", sorted((kind(key), key[0], hex(key[2]), len(took), sum(took), max(took),
                              len({thread for thread, of in edges if of == key})) for key, took in objects.items()),
           sorted((row["object"].split()[0], row["process"]["pid"], row["address"], row["count"], row["sum_ns"],
                   row["most_ns"], row["threads"]) for row in tables["objects"] if row["count"]))
    addresses = {row["object"]: row["address"] for row in tables["objects"]}
    expect("edges", sorted((kind(key), tid, hex(key[2]), len(took), sum(took), max(took))
                           for ((tid, _), key), took in edges.items()),
           sorted((row["object"].split()[0], thread(row["thread"]), addresses[row["object"]], row["count"],
                   row["sum_ns"], row["most_ns"]) for row in tables["edges"] if row["count"]))


CHECKS = {"waits": check_waits, "processes": check_processes, "syscalls": check_syscalls, "faults": check_faults}


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
