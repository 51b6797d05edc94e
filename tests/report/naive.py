#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares tables of `asterism report` with what is worked out here from the dumped events, in the plainest way.

Each report has a function that takes all events and gives the rows that it expects, as sets of tuples. Meant for traces
without losses.

usage: naive.py ASTERISM TRACE REPORT...
"""

import bisect
import collections
import errno
import functools
import itertools
import json
import subprocess
import sys

import recorded

FUTEX, FUTEX_WAIT_CALL, RESTART = 202, 455, 219
WAITS = (0, 6, 9, 11, 13)


def report_of(asterism, trace, name, *options):
    done = subprocess.run([asterism, "report", "-f", "json", "--only", name, *options, trace], stdout=subprocess.PIPE,
                          text=True, check=True)
    return json.loads(done.stdout)["reports"][name]["tables"]


def thread(cell, name="tid"):
    return cell and cell.get(name)


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


def check_syscalls(events, ask, expect):
    tables = ask("syscalls")
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


def check_faults(events, ask, expect):
    tables = ask("faults")
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


def check_processes(events, ask, expect):
    tables = ask("processes")
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


RUNS = {"sched_waking", "sched_wakeup_new", "sched_process_fork", "sched_process_exit", "sched_pi_setprio", "sys_enter",
        "sys_exit", "page_fault_user", "page_fault_kernel"}
INTERRUPTS = {"irq_handler": "irq", "softirq": "softirq", "irq_vector": "vector", "local_timer": "timer"}


def check_interruptions(events, ask, expect):
    """{(victim, who or what, kind): [count, sum, most]}: threads by switches, interrupts by their handlers' nesting."""
    tables = ask("interruptions")
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
        elif event["tid"] in taken and (base in INTERRUPTS or event["event"] in RUNS):
            taken.pop(event["tid"])  # it came back, after asterism, whose switches are not recorded
        if base in INTERRUPTS and side == "entry":
            number = event.get("irq", event.get("vec", event.get("vector"))) if base != "local_timer" else 0
            nests[cpu].append((INTERRUPTS[base], number, event["tid"], ts))
        elif base in INTERRUPTS and side == "exit":
            kind, number, tid, since = nests[cpu].pop() if nests[cpu] else (None, None, None, None)
            if kind == INTERRUPTS[base] and tid:
                pairs[tid, kind, number].append(ts - since)
    for victim, (taker, since) in taken.items():
        pairs[victim, "thread", taker].append(events.end - since)
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


def check_rates(events, ask, expect):
    """Of system calls: (begun, ended, time under way), and how often each thread that ended was in one."""
    tables = ask("rates")
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
    area += sum(took) + sum(events.end - ts for ts in opens.values())
    rows, length = tables["rates"], events.end - first
    spans = [(row["mean"], min(later["time_ns"], length) - row["time_ns"])
             for row, later in zip(rows, [*rows[1:], {"time_ns": length}])]
    shown = sum(mean * span for mean, span in spans)
    expect("rates", [(begun, len(took), sum(took), True)],
           [(sum(row["begun"] for row in rows), sum(row["ended"] for row in rows),
             sum(row["running_ns"] + row["waiting_ns"] for row in rows), abs(shown - area) < 1e-6 * area)])


def check_sequences(events, ask, expect):
    """Every word of up to three types, in the stream, in each process, in each thread."""
    tables = ask("sequences")
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


class Row:
    """Slices by their beginning, so that those at a time are found without a look at all of them."""

    def __init__(self, items):
        self.items = sorted(items, key=lambda item: item["begin_ns"])
        self.begins = [item["begin_ns"] for item in self.items]
        self.latest = list(itertools.accumulate((item["end_ns"] for item in self.items), max))  # end of them and those before

    def overlapping(self, begin, end):
        among = self.items[bisect.bisect_right(self.latest, begin):bisect.bisect_left(self.begins, end)]
        return [item for item in among if item["end_ns"] > begin]

    def last_before(self, end):
        at = bisect.bisect_left(self.begins, end)
        return self.items[at - 1] if at else None

    def first_at(self, begin):
        at = bisect.bisect_left(self.begins, begin)
        return self.items[at] if self.begins[at:at + 1] == [begin] else None


NOTHING = Row([])


class Past:
    """The slices of all threads, as the report 'slices' has them, and what else of the events tells of paths."""

    def __init__(self, events, slices):
        first = events[0]["ts"]
        self.threads, self.cpus = collections.defaultdict(list), collections.defaultdict(list)
        self.tids = {}
        for item in slices:
            if not item["thread"]:
                continue
            index = item["thread"]["thread"]
            self.threads[index].append(item)
            self.tids[index] = item["thread"]["tid"]
            if item["state"] == "running":
                self.cpus[item["cpu"]].append(item)
        self.rows, self.runs = ({key: Row(items) for key, items in of.items()} for of in (self.threads, self.cpus))
        self.births = {(event["child_pid"], event["ts"] - first): event["tid"]
                       for event in events if event["event"] == "sched_process_fork"}
        self.places = collections.defaultdict(list)
        for event in events:
            if event["event"] == "sched_switch":
                places = (event["prev_pid"], event["cpu"]), (event["next_pid"], event["cpu"])
            elif event["event"] in ("sched_wakeup_new", "thread_state"):
                places = (event["target_tid"], event["target_cpu"]),
            else:
                continue
            for tid, cpu in places:
                self.places[tid].append((event["ts"] - first, cpu, event["event"]))

    def place(self, item):
        """On which processor a ready thread had been."""
        places = self.places[self.tids[item["thread"]["thread"]]]
        if item["reason"] == "new":
            known = [cpu for ts, cpu, name in places if ts >= item["begin_ns"] and name == "sched_wakeup_new"][:1]
        else:
            known = [cpu for _, cpu, _ in places[:bisect.bisect_right(places, item["begin_ns"], key=lambda place: place[0])][-1:]]
        return known[0] if known else None

    def behind(self, item, begin, end):
        """Who ran there for longest at a stretch."""
        ran = [(min(end, run["end_ns"]) - max(begin, run["begin_ns"]), run["begin_ns"], run["thread"]["thread"])
               for run in self.runs.get(self.place(item), NOTHING).overlapping(begin, end)]
        return max(ran)[2] if ran else None

    def parent(self, index, at):
        """The one that was at that time the thread that made it."""
        tid = self.births.get((self.tids.get(index), at))
        found = [other for other, items in self.threads.items()
                 if self.tids[other] == tid and items[0]["begin_ns"] <= at <= items[-1]["end_ns"]]
        return found[0] if found else None

    def walk(self, index, begin, end):
        """[(begin, end, thread, what, reason, by)] from begin to end."""
        pieces = []
        while begin < end:
            item = self.rows.get(index, NOTHING).last_before(end) or {"end_ns": 0}
            if item["end_ns"] < end:
                maker = self.parent(index, end)
                since = max(begin, item["end_ns"])
                pieces.append(self.walk(maker, begin, end) if maker is not None else
                              [(since, end, index, "unknown", None, None)])
                end = begin if maker is not None else since
                continue
            since = max(begin, item["begin_ns"])
            if item["state"] == "blocked":
                pieces.append(self.waited(index, item, since, end))
            else:
                is_ready = item["state"] == "ready"
                pieces.append([(since, end, index, item["state"], item["reason"] if is_ready else None,
                                self.behind(item, since, end) if is_ready else None)])
            end = since
        return [row for piece in reversed(pieces) for row in piece]

    def waited(self, index, item, since, end):
        after = self.rows[index].first_at(item["end_ns"])
        waker = after["waker"] if after and after["state"] == "ready" else None
        who = waker and waker.get("thread")
        for name in ("timer", "interrupt"):
            if waker and waker.get(name):
                return [(since, end, index, name, item["reason"], name)]
        if who is not None and self.rows.get(who, NOTHING).overlapping(since, end):
            return self.walk(who, since, end)
        return [(since, end, index, "blocked", item["reason"], who)]


def check_path(events, ask, expect):
    past = Past(events, ask("slices")["slices"])
    busy = collections.Counter()
    for index, items in past.threads.items():
        busy[past.tids[index]] += len(items)
    for tid in [None, *(tid for tid, _ in busy.most_common(8))]:
        tables = ask("path", *(["--thread", str(tid)] if tid else []))
        rows = [(row["begin_ns"], row["end_ns"], thread(row["thread"], "thread"), row["what"], row["reason"],
                 row["by"] and row["by"].get("thread", next(iter(row["by"])))) for row in tables["path"]]
        whose = rows[-1][2]
        expect(f"path of {tid}", past.walk(whose, rows[0][0], rows[-1][1]), rows)
        expect("its length", [rows[-1][1] - rows[0][0]] * 2,
               [sum(row[1] - row[0] for row in rows), sum(row["sum_ns"] for row in tables["reasons"])])
        if tid in {child for child, _ in past.births}:
            ends = [(past.threads[index][0]["begin_ns"], past.threads[index][-1]["end_ns"])
                    for index in past.threads if past.tids[index] == tid]
            expect("its ends", [True], [(rows[0][0], rows[-1][1]) in ends])


def priority_histories(events, past):
    """Per thread [(since, priority)], in which neighbours differ."""
    first, of_tid, found = events[0]["ts"], collections.defaultdict(list), collections.defaultdict(list)
    for index in sorted(past.threads, key=lambda index: past.threads[index][0]["begin_ns"]):
        of_tid[past.tids[index]].append(index)

    def note(event, tid, prio):
        ts = event["ts"] - first
        lives = [index for index in of_tid.get(tid, []) if past.threads[index][0]["begin_ns"] <= ts]
        for index in lives[-1:] or of_tid.get(tid, [])[:1]:
            if not found[index] or found[index][-1][1] != prio and event["event"] != "thread_state":
                found[index].append((ts, prio))

    for event in events:
        if event["event"] == "sched_switch":
            note(event, event["prev_pid"], event["prev_prio"])
            note(event, event["next_pid"], event["next_prio"])
        elif event["event"] in ("sched_waking", "sched_wakeup_new", "thread_state"):
            note(event, event["target_tid"], event["prio"])
        elif event["event"] == "sched_pi_setprio":
            note(event, event["target_tid"], event["newprio"])
    return found


def check_priorities(events, ask, expect):
    past, tables = Past(events, ask("slices")["slices"]), ask("priorities")
    histories = priority_histories(events, past)
    shown = {thread(row["thread"], "thread") for row in tables["threads"]} & set(past.threads)
    pieces, times = collections.defaultdict(list), collections.defaultdict(lambda: [0, 0])
    for index in shown:
        history = [(0, histories[index][0][1]), *histories[index][1:]]
        for item in past.threads[index]:
            if item["state"] not in ("running", "ready"):
                continue
            for number, (since, prio) in enumerate(history):
                until = history[number + 1][0] if number + 1 < len(history) else item["end_ns"]
                begin, end = max(since, item["begin_ns"]), min(until, item["end_ns"])
                if begin >= end:
                    continue
                times[index, prio][item["state"] == "ready"] += end - begin
                if histories[index][0][0] < item["end_ns"] or item["state"] == "running" and histories[index][0][0] == end:
                    # What was set while it ran shows when it leaves.
                    later = [more for ts, more in history if ts == item["end_ns"] == end and item["state"] == "running"]
                    prio = min(prio, *later[:1]) if later else prio
                    pieces[item["state"]].append((begin, end, index, prio, item))
    expect("threads", sorted((index, history[0][1], history[-1][1], len(history) - 1)
                             for index, history in histories.items() if index in shown),
           sorted((thread(row["thread"], "thread"), row["first"], row["last"], row["changes"])
                  for row in tables["threads"] if thread(row["thread"], "thread") in shown))
    expect("times", sorted((*key, *ns) for key, ns in times.items()),
           sorted((thread(row["thread"], "thread"), row["prio"], row["running_ns"], row["ready_ns"])
                  for row in tables["times"] if thread(row["thread"], "thread") in shown))
    found = []
    for begin, end, index, prio, item in pieces["ready"]:
        for since, until, other, worse, run in pieces["running"]:
            if worse > prio and since < end and until > begin and run["cpu"] == past.place(item):
                found.append((min(end, until) - max(begin, since), max(begin, since), index, prio, other, worse, run["cpu"]))
    rows = [(row["took_ns"], row["begin_ns"], thread(row["thread"], "thread"), row["prio"],
             thread(row["behind"], "thread"), row["behind_prio"], row["cpu"]) for row in tables["inversions"]]
    found.sort(key=lambda row: (-row[0], *row[1:]))
    if len(found) > 1000:
        found, rows = [row for row in found[:1000] if row[0] > found[1000][0]], [row for row in rows if row[0] > found[1000][0]]
    expect("inversions", found, sorted(rows, key=lambda row: (-row[0], *row[1:])))


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
        end(tid, events.end)
    return objects, edges


def check_waits(events, ask, expect):
    tables = ask("waits")
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


CHECKS = {"waits": check_waits, "interruptions": check_interruptions, "rates": check_rates, "sequences": check_sequences,
          "path": check_path, "priorities": check_priorities, "processes": check_processes, "syscalls": check_syscalls, "faults": check_faults}


def main():
    asterism, trace, *names = sys.argv[1:]
    events, wrong, compared = recorded.Events(asterism, trace), 0, 0

    for name in names:
        def expect(what, wanted, shown):
            nonlocal wrong, compared
            compared += len(wanted)
            if wanted == shown:
                return
            wrong += 1
            print(f"{name}, {what}: {len(wanted)} rows are expected, {len(shown)} shown; they first differ in")
            print(*next(((a, b) for a, b in zip([*wanted, None], [*shown, None]) if a != b)), sep="\n")

        CHECKS[name](events, functools.partial(report_of, asterism, trace), expect)
    print(f"{compared} rows compared, {wrong} tables wrong")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
