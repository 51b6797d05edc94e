# SPDX-License-Identifier: BSD-2-Clause
"""
Generated rules and streams through `asterism replay` with --jobs 1 and with more: what comes out must be the same,
byte for byte, but for the time it took. Rules are many or few, and recorded traces bring losses and several inputs.
How often several threads matched is counted: a run where that never happened fails.

Usage: jobs.py BINARY [--cases N] [--seed S]
"""

import argparse
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import generate
import ruletext
from replay import CATALOGS

RULES, LENGTHEN = 24, 4
THREADS = re.compile(r"asterism: note: matched in \d+ threads\n")
TYPES = """EVENT tick { n: u64, part: u32 }
EVENT call { name: string, nr: i32, ok: bool, arg: addr, fd: i16, load: f64 }
EVENT idle { }
"""
PATTERNS = ["[tick:a, call:b]", "[call:a, ~idle:n, tick:b]", "[tick:a, tick[>=2]:m, idle:b]", "[idle:a, (call | tick), idle:b]",
            "[tick:a, tick:b]", "[call:a, call:b]", "[tick:a, ~[idle, call], idle:b]"]
WHERES = ["[tid]", "[tid]", "[pid], [tid]", "[pid]", "[comm]", "[cpu], [tid]", "a.tid == b.pid", "[tid], b.ts - a.ts > 300"]


class Tally:
    """What the comparisons have seen."""

    def __init__(self):
        self.matches = self.threaded = 0


def run(binary, jobs, options, inputs, tally):
    command = [binary, "replay", "-v", "-f", "json", "--jobs", str(jobs), *options, *inputs]
    environment = {"NO_COLOR": "1", "ASTERISM_CATALOGS": os.path.abspath(CATALOGS), **os.environ}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    errors, threaded = THREADS.subn("", done.stderr)
    tally.threaded += threaded
    return done.returncode, errors, re.sub(r'"(seconds|events_per_second)":[0-9.e+-]+', r'"\1":0', done.stdout)


def lengthen(events, rng):
    """Some rounds of the stream, so that it fills several batches, with time going on and now and then jumping."""
    start, last = 0, max((e["ts"] for e in events), default=0)
    for _ in range(LENGTHEN):
        for event in events:
            yield {**event, "ts": event["ts"] + start}
        start += last + rng.choice([0, 1, 1000, 10**9])


def pool_of(rng, text, pools):
    return text + ("" if "POOL " in text or rng.random() < 0.6 else f" POOL {rng.choice(pools)}{rng.choice(['', ' REPLACE'])}") + "\n"


def text_of(made, rules):
    return ruletext.print_types(made.types) + "".join(
        pool_of(made.rng, ruletext.print_rule(r).rstrip("\n"), [1, 2, 5, 20]) for r in rules)


def differ(binary, all_jobs, options, inputs, tally):
    """What differs from one job, or None."""
    one = run(binary, 1, options, inputs, tally)
    tally.matches += one[2].count('{"match"')
    for jobs in all_jobs:
        other = run(binary, jobs, options, inputs, tally)
        if one == other and one[0] in (0, 3):
            continue
        for number, (a, b) in enumerate(itertools.zip_longest(one[2].splitlines(), other[2].splitlines())):
            if a != b:
                return f"line {number + 1}:\n  1 job:  {a}\n  {jobs} jobs: {b}"
        return f"{jobs} jobs: status {one[0]} and {other[0]}\n{one[1]}\n{other[1]}"
    return None


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def window(rng, last_ns):
    """--from and --to, or nothing."""
    if rng.random() < 0.6:
        return []
    begin = rng.randrange(last_ns // 2 + 1)
    return ["--from", f"{begin}ns", "--to", f"{begin + rng.randrange(1, last_ns + 2)}ns"]


def generated(made, count):
    """That many generated rules; where they are few, most have a join."""
    rules = []
    while len(rules) < count:
        rule = made.rule(f"r{len(rules)}")
        if count == RULES or rule.joins or made.rng.random() < 0.1:
            rules.append(rule)
    return rules


def compare_lines(binary, seed, folder, tally, count):
    """Generated rules over JSON lines, in one file or in two."""
    made = generate.Generator(seed, False)
    rules = generated(made, count)
    rng = random.Random(seed)
    events = list(lengthen(made.stream(rules), rng))
    parts = [[], []]
    for event in events:
        parts[0 if count == RULES else rng.randrange(2)].append(json.dumps(event) + "\n")
    inputs = [write(folder, f"events{i}.jsonl", "".join(part)) for i, part in enumerate(parts) if part]
    options = window(rng, events[-1]["ts"]) if events else []
    return differ(binary, [4] if count == RULES else [2, 3, 4], options,
                  [write(folder, "rule.rule", text_of(made, rules)), *inputs], tally)


def trace_rule(rng, name):
    where = rng.choice(WHERES)
    text = f"RULE {name} {rng.choice(['', '', 'SKIPTILLANY', 'STRICTPARTITION'])} PATTERN {{ {rng.choice(PATTERNS)} }}"
    text += f" WHERE {{ {where} }}"
    # Under SKIPTILLANY nothing else ends a run, and there are as many as there are ways to choose events.
    if "SKIPTILLANY" in text:
        text += " WITHIN 500ns"
    elif rng.random() < 0.6:
        text += f" WITHIN {rng.choice([500, 3000, 20000])}ns"
    text += rng.choice([" RETURN { a.ts, a.tid AS t }", " RETURN SEQUENCE"])
    if "a.tid ==" not in where and rng.random() < 0.2:
        text += " AFTER MATCH DROP"
    text += rng.choice(["", " ON LOSS DISCARD", " ON LOSS KEEP"])
    return pool_of(rng, text, [3, 8, 40])


def compare_traces(binary, seed, folder, tally):
    """Recorded traces, with losses, on several processors, one or two at once, some of them cut."""
    rng = random.Random(seed)
    maker = os.path.join(os.path.dirname(binary), "..", "..", "tests", "trace", "make-trace")
    traces = []
    for i in range(rng.choice([1, 1, 2])):
        traces.append(os.path.join(folder, f"trace{i}"))
        subprocess.run([maker, "-n", str(rng.choice([3000, 60000])), "-c", str(rng.choice([1, 2, 3])), "-l",
                        str(rng.choice([0, 1, 7])), traces[-1]], check=True)
    text = TYPES + "".join(trace_rule(rng, f"r{i}") for i in range(rng.choice([2, 2, 3, 4])))
    return differ(binary, [2, 3, 4], window(rng, 2000000), [write(folder, "rule.rule", text), *traces], tally)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--cases", type=int, default=20, help="of each kind")
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    binary, tally, failed, kinds = os.path.abspath(options.binary), Tally(), 0, {
        "many": lambda seed, folder: compare_lines(binary, seed, folder, tally, RULES),
        "few": lambda seed, folder: compare_lines(binary, seed, folder, tally, random.Random(seed).choice([2, 2, 3])),
        "traces": lambda seed, folder: compare_traces(binary, seed, folder, tally),
    }
    for case, kind in itertools.product(range(options.cases), kinds):
        seed = f"{options.seed}:{case}"
        with tempfile.TemporaryDirectory(prefix="asterism-jobs-") as folder:
            wrong = kinds[kind](seed, folder)
        failed += wrong is not None
        if wrong:
            print(f"FAIL {kind}, seed {seed}, {wrong}")
    print(f"seed {options.seed}, {tally.matches} matches, {tally.threaded} replays in several threads")
    if not failed and options.cases >= 10 and not (tally.matches and tally.threaded):
        print("FAIL: not all of this happened")
        failed = 1
    print(f"{len(kinds) * options.cases - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
