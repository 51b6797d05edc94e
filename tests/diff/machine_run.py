# SPDX-License-Identifier: BSD-2-Clause
"""
The differential suite for state machines: generated files and streams through `asterism replay` and through machine_oracle.py.
Compared are all match lines with their order and all their members, and the statistics. A difference is made small
and printed. A case is one file over one stream.

Usage: machine_run.py BINARY [--cases N] [--seed S] [--engine kernel] [--jobs J] [--shown N]
"""

import argparse
import json
import sys
import time
from multiprocessing import Pool

import machine_generate
import machine_text
from machine_oracle import Oracle, Unsaid
from machine_shrink import shrink
from replay import Binary, difference, same

STREAMS, FILES = 3, 8  # of a batch
BATCH = STREAMS * FILES
MEANINGS = ("two times cannot be added", "they mean different things")  # the generator does not know what numbers mean


class Tally:
    def __init__(self):
        self.passed, self.skipped, self.failures = 0, 0, []
        self.matched = self.fired = self.raised = self.refused = self.replaced = 0

    def add(self, other):
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


def judge(oracle, matches, result, kernel=False):
    """What differs between the oracle and a replay: text, or None."""
    found = difference(matches, result.lines)
    if found:
        return found
    want, stats = without(oracle.stats(), "divisions_by_zero"), result.stats["rules"]  # of WHEREs it knows none
    if kernel:  # counts the places that were ever in use: docs/internals/kernel-matching.md
        want = without(want, "runs_live_max")
    return None if same(want, stats) else f"    the stats must be {want}\n    but are {told(want, stats)}"


def without(stats, member):
    return {name: {k: v for k, v in members.items() if k != member} for name, members in stats.items()}


def told(want, stats):
    return {name: {k: stats.get(name, {}).get(k) for k in members} for name, members in want.items()}


def run_one(binary, file, events):
    """(what is wrong or None, the oracle); raises Unsaid."""
    oracle = Oracle(file, events)
    matches = oracle.run()
    result = binary.replay(machine_text.print_file(file), events)
    if result.not_for_kernel() or result.too_large() or "would have to remember" in result.stderr:
        return "skip", oracle
    if any(words in result.stderr for words in MEANINGS):
        return "skip", oracle
    if result.failure():
        return "    " + result.failure(), oracle
    return judge(oracle, matches, result, binary.engine == "kernel"), oracle


def run_batch(task):
    binary, seed = task
    tally = Tally()
    for number in range(FILES):
        made = machine_generate.Generator(f"{seed}:{number}", binary.engine == "kernel")
        file = made.make()
        for _ in range(STREAMS):
            run_stream(binary, file, made.stream(), tally)
    return tally


def run_stream(binary, file, events, tally):
    try:
        wrong, oracle = run_one(binary, file, events)
    except Unsaid:
        tally.skipped += 1
        return
    if wrong == "skip":
        tally.skipped += 1
    elif wrong:
        tally.failures.append((wrong, file, events))
    else:
        tally.passed += 1
        tally.matched += bool(oracle.matches)
        tally.fired += bool(oracle.fired)
        tally.raised += bool(oracle.raised)
        tally.refused += any(s.get("pool_exhausted") for s in oracle.stats().values())
        tally.replaced += any(s.get("replaced") for s in oracle.stats().values())


# --- reporting


def kind_of(wrong):
    """The first line of a complaint; a smaller case must fail alike."""
    line = wrong.strip().splitlines()[0]
    return line.split(": ", 1)[0] if "exit status" in line or "stats" not in line else "stats"


def fails_like(binary, wrong):
    kind = kind_of(wrong)
    message = error_of(wrong)

    def fails(file, events):
        try:
            found = run_one(binary, file, events)[0]
        except Exception:  # a part that another one needs has been taken away
            return False
        return bool(found) and found != "skip" and kind_of(found) == kind and error_of(found) == message
    return fails


def error_of(wrong):
    """The message of the compiler without its place, where it is one."""
    found = [line.split("error: ")[1] for line in wrong.splitlines() if "error: " in line]
    return " ".join(w for w in found[0].split() if "'" not in w) if found else None


def report(binary, failure):
    wrong, file, events = failure
    file, events = shrink(file, events, fails_like(binary, wrong))
    try:
        wrong = run_one(binary, file, events)[0] or wrong
    except Unsaid:
        pass
    print("FAIL\n" + machine_text.print_file(file) + "\n".join(json.dumps(e) for e in events) + "\n" + wrong + "\n", flush=True)


def as_text(failure):
    wrong, file, events = failure
    return machine_text.print_file(file) + "\n".join(json.dumps(e) for e in events) + "\n" + wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--engine")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--shown", type=int, default=5, help="how many failures to make small and print")
    options = parser.parse_args()
    binary, total, begun = Binary(options.binary, options.engine), Tally(), time.time()
    tasks = [(binary, f"{options.seed}:{i}") for i in range(-(-options.cases // BATCH))]
    with Pool(options.jobs) as pool:
        for tally in pool.imap_unordered(run_batch, tasks):
            total.add(tally)
    for failure in total.failures[: options.shown]:
        report(binary, failure)
    print(f"seed {options.seed}, {total.matched} cases with matches, {total.fired} with timers, {total.raised} with raised events, "
          f"{total.refused} with refused, {total.replaced} with replaced instances, {time.time() - begun:.1f} s")
    print(f"{total.passed} passed, {len(total.failures)} failed, {total.skipped} skipped")
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
