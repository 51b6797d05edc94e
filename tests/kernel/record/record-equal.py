#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Rules in the kernel while it is recorded, and the same rules over the recording, find the same.

usage: record-equal.py [--again N] ASTERISM PLANT [ROUNDS]

Lost events are a failure. With --again, which is for emulated machines, where interrupts meet the long programs of a
processor, all is done again so many times, with a third of the rounds; after that what differs is no evidence and is
left out, but must still have been told as lost.

Where a rule finds nothing since its window is too short for a machine so slow, all begins again with longer ones.

Ends with `N passed, N failed, N skipped`: one case per rule, and one for the recording itself.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

CALLS = {"pid": 39, "uid": 102, "gid": 104, "ppid": 110, "openat": 257, "close": 3}
SLOWEST = 100  # times as long as written may windows be

# Keys are threads, or what one thread causes in another: events of one key on two processors in the same microsecond are
# handled in some order, which need not be that of their times. So the idle threads, all called 0, are left out.
RULES = """
RULE pair PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid], b.ts - a.ts > 20us }
RETURN { a.id AS id, b.ret, b.ts - a.ts AS took }

RULE missing STRICTPARTITION PATTERN { [sys_enter_openat:a, sys_exit_openat:b] } WHERE { [tid], b.ret == -2 } RETURN { a.filename AS file }

RULE between PATTERN { [sys_enter:a, ~sys_enter:n, sys_enter:c] }
WHERE { [tid], a.id == %(uid)d, n.id == %(close)d, c.id == %(pid)d } RETURN { c.ts - a.ts AS after }

RULE strict STRICTPARTITION PATTERN { [sys_enter:a, sys_enter:b] }
WHERE { [tid], a.id == %(uid)d, b.id == %(gid)d } RETURN { b.ts - a.ts AS after }

RULE three PATTERN { [sys_enter:a, sys_enter[=3]:m, sys_enter:z] }
WHERE { [tid], a.id == %(uid)d, m.id == %(ppid)d, z.id == %(gid)d } WITHIN %(round)dus RETURN { m.len, m.first.ts - a.ts AS first }

RULE again PATTERN { [sys_enter:a, [sys_enter:b, sys_enter:c]{2,3}, sys_enter:z] }
WHERE { [tid], a.id == %(uid)d, b.id == %(openat)d, c.id == %(close)d, z.id == %(gid)d } WITHIN %(round)dus
RETURN { z.ts - a.ts AS took }

RULE either PATTERN { [sys_enter_getuid:p, (sys_enter_clone | sys_enter_close), sys_enter_getgid:g] }
WHERE { [tid] } WITHIN %(round)dus RETURN { g.ts - p.ts AS took }

RULE every SKIPTILLANY PATTERN { [sys_enter:a, sys_enter:b, sys_enter:c] }
WHERE { [tid], a.id == %(uid)d, b.id == %(openat)d, c.id == %(close)d } WITHIN %(part)dus RETURN { c.ts - a.ts AS took }

RULE story STRICTPARTITION PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid], a.id == %(openat)d, b.ret == -2 } RETURN SEQUENCE

RULE child PATTERN { [sched_process_fork:f, sched_process_exit:e] } WHERE { f.child_pid == e.tid }
RETURN { f.tid AS parent, e.tid AS child, e.ts - f.ts AS lived }

RULE away PATTERN { [sched_switch:off, sched_switch:on] }
WHERE { off.prev_pid == off.tid, off.prev_pid != 0, on.next_pid == off.prev_pid, on.ts - off.ts > 500us } RETURN { on.ts - off.ts AS away }

RULE faults PATTERN { page_fault_user[>20]:p } WHERE { [tid] } WITHIN 1s AFTER MATCH DROP RETURN { p.len AS n, p.first.ts AS t }

RULE quiet PATTERN { [sys_enter:a, ~sys_enter:n] } WHERE { [tid], a.id == 35, n.id == %(pid)d } WITHIN %(sleep)dus
RETURN { a.tid AS who }
"""
NOTHING, LOSSES = "it found nothing", "the recording"


def rules(slower):
    return RULES % {**CALLS, "part": 10 * slower, "round": 100 * slower, "sleep": 200 * slower}


def run(command, out):
    with open(out, "w") as file:
        return subprocess.run(command, stdout=file, stderr=subprocess.PIPE, text=True, timeout=300)


def read(path):
    """The matches of each rule, in a fixed order, and the statistics."""
    matches, stats = {}, None
    for line in open(path):
        item = json.loads(line)
        if "stats" in item:
            stats = item["stats"]
            continue
        item.pop("time", None)  # a replay does not say, unless it is asked
        item.pop("host", None)
        for event in item.get("sequence", []):
            event.pop("seq", None)  # the kernel counts events in no one order
            event.pop("names", None)  # of addresses, which a replay does not know
        matches.setdefault(item["match"], []).append(json.dumps(item, sort_keys=True))
    return {rule: sorted(found) for rule, found in matches.items()}, stats


def compare(live, replayed, live_stats, trace_stats):
    """What is wrong, per case."""
    wrong = {LOSSES: None}
    if live_stats["lost"] or trace_stats["lost"]:
        wrong[LOSSES] = f"events were lost: {live_stats['lost']} live, {trace_stats['lost']} in the trace"
    for rule in live_stats["rules"]:
        mine, other = live.get(rule, []), replayed.get(rule, [])
        wrong[rule] = None
        if not mine:
            wrong[rule] = NOTHING
        elif mine != other:
            there, here = sorted(set(mine) - set(other)), sorted(set(other) - set(mine))
            wrong[rule] = f"{len(mine)} in the kernel, {len(other)} replayed; only there: {there[:2]}, only here: {here[:2]}"
    return wrong


def observe(asterism, plant, rounds, text):
    """(what is wrong per case, what was seen); (None, why) where a session fails."""
    with tempfile.TemporaryDirectory() as folder:
        path = {name: os.path.join(folder, name) for name in ("rules.rule", "trace", "live", "replayed")}
        with open(path["rules.rule"], "w") as file:
            file.write(text)
        done = run([asterism, "record", "-f", "json", "--ring", "32M", "-o", path["trace"], "--rules", path["rules.rule"],
                    "--", plant, "mix", str(rounds)], path["live"])
        again = run([asterism, "replay", "-f", "json", path["rules.rule"], path["trace"]], path["replayed"])
        if done.returncode not in (0, 3) or again.returncode not in (0, 3):
            return None, f"{done.returncode} {done.stderr} {again.returncode} {again.stderr}"
        live, live_stats = read(path["live"])
        replayed, trace_stats = read(path["replayed"])
    seen = f"{live_stats['events']} events, {sum(map(len, live.values()))} matches of {len(live)} rules"
    return compare(live, replayed, live_stats, trace_stats), seen


def settle(options):
    """(what is wrong per case, what was seen) once windows are long enough and nothing is lost, or it has to do."""
    slower, rounds, again = 1, options.rounds, options.again
    while True:
        wrong, seen = observe(options.asterism, options.plant, rounds, rules(slower))
        if wrong is None:
            return wrong, seen
        print(f"{seen}, {rounds} rounds, windows {slower} times as long as written", flush=True)
        if NOTHING in wrong.values() and slower < SLOWEST:
            slower *= 10
        elif wrong[LOSSES] and again:
            print(f"  {wrong[LOSSES]}", flush=True)
            again, rounds = again - 1, rounds // 3
        else:
            return wrong, seen


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].splitlines()[0])
    parser.add_argument("--again", type=int, default=0)
    parser.add_argument("asterism")
    parser.add_argument("plant")
    parser.add_argument("rounds", type=int, nargs="?", default=60000)
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("recording needs root")
        print("0 passed, 0 failed, 14 skipped")
        return 0
    wrong, seen = settle(options)
    if wrong is None:
        print(f"FAILED: {seen}")
        print("0 passed, 1 failed, 0 skipped")
        return 1
    excused = bool(options.again and wrong[LOSSES])
    bad = {name: what for name, what in wrong.items() if what}
    for name, what in bad.items():
        print(f"{'skipped' if excused and what != NOTHING else 'FAILED'} {name}: {what}")
    failed = sum(not excused or what == NOTHING for what in bad.values())
    print(f"{len(wrong) - len(bad)} passed, {failed} failed, {len(bad) - failed} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
