# SPDX-License-Identifier: BSD-2-Clause
"""
Generated rules and streams through `asterism replay` with --jobs 1 and --jobs 4: what comes out must be the same,
byte for byte, but for the time it took.

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


def run(binary, jobs, rule_path, events_path):
    command = [binary, "replay", "-f", "json", "--jobs", str(jobs), rule_path, events_path]
    environment = {"ASTERISM_CATALOGS": os.path.abspath(CATALOGS), **os.environ}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    return done.returncode, done.stderr, re.sub(r'"(seconds|events_per_second)":[0-9.e+-]+', r'"\1":0', done.stdout)


def lengthen(events, rng):
    """Some rounds of the stream, so that it fills several batches, with time going on and now and then jumping."""
    start, last = 0, max((e["ts"] for e in events), default=0)
    for _ in range(LENGTHEN):
        for event in events:
            yield {**event, "ts": event["ts"] + start}
        start += last + rng.choice([0, 1, 1000, 10**9])


def text_of(made, rules):
    pools = ["" if made.rng.random() < 0.7 else f" POOL {made.rng.choice([1, 2, 5])}" for _ in rules]
    return ruletext.print_types(made.types) + "".join(
        ruletext.print_rule(r).rstrip("\n") + (p if " POOL " not in ruletext.print_rule(r) else "") + "\n"
        for r, p in zip(rules, pools))


def compare(binary, seed, folder):
    """What differs, or None; and how many matches there were."""
    made = generate.Generator(seed, False)
    rules = [made.rule(f"r{i}") for i in range(RULES)]
    rule_path, events_path = os.path.join(folder, "rule.rule"), os.path.join(folder, "events.jsonl")
    with open(rule_path, "w", encoding="utf-8") as out:
        out.write(text_of(made, rules))
    with open(events_path, "w", encoding="utf-8") as out:
        out.writelines(json.dumps(e) + "\n" for e in lengthen(made.stream(rules), random.Random(seed)))
    one, four = run(binary, 1, rule_path, events_path), run(binary, 4, rule_path, events_path)
    if one == four and one[0] in (0, 3):
        return None, one[2].count('{"match"')
    for number, (a, b) in enumerate(itertools.zip_longest(one[2].splitlines(), four[2].splitlines())):
        if a != b:
            return f"line {number + 1}:\n  1 job:  {a}\n  4 jobs: {b}", 0
    return f"status {one[0]} and {four[0]}\n{one[1]}\n{four[1]}", 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--cases", type=int, default=20, help="files of rules")
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    failed, matches = 0, 0
    for case in range(options.cases):
        with tempfile.TemporaryDirectory(prefix="asterism-jobs-") as folder:
            wrong, count = compare(os.path.abspath(options.binary), f"{options.seed}:{case}", folder)
        matches += count
        failed += wrong is not None
        if wrong:
            print(f"FAIL seed {options.seed}:{case}, {wrong}")
    print(f"seed {options.seed}, {matches} matches")
    print(f"{options.cases - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
