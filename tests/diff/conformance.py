# SPDX-License-Identifier: BSD-2-Clause
"""
Runs the hand-derived cases of tests/golden/conformance. A case is a folder with rule.rule (its first line says which
sentence of the language it proves), events.jsonl and expected.jsonl (all match lines, in order; members that it
leaves out are not compared), or with an empty file `rejected` instead: then the rule must be refused. stats.json, where it is
there, says what the statistics count of each rule. Cases with machines are called machine-*.

Usage: conformance.py BINARY [--engine kernel] [--oracle] [CASE ...]
--oracle judges the oracle instead of the binary (BINARY is then ignored).
"""

import argparse
import json
import os
import sys
from multiprocessing.pool import ThreadPool

import legal
import machine_oracle
import machine_text
import oracle
import ruletext
from replay import Binary, difference, same

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "conformance")


def read(name, file):
    with open(os.path.join(FOLDER, name, file), encoding="utf-8") as text:
        return text.read()


def read_lines(name, file):
    return [json.loads(line) for line in read(name, file).splitlines() if line.strip()]


def by_binary(binary, name):
    """What is wrong with a case, or None."""
    rule_path = os.path.join(FOLDER, name, "rule.rule")
    if os.path.exists(os.path.join(FOLDER, name, "rejected")):
        result = binary.replay_files(rule_path, os.devnull)
        if result.refused():
            return None
        return f"    the rule must be refused, but: exit status {result.status} {result.stderr.strip()[:300]}"
    want = read_lines(name, "expected.jsonl")
    result = binary.replay_files(rule_path, os.path.join(FOLDER, name, "events.jsonl"))
    if result.not_for_kernel():
        return "skip"
    if result.failure():
        return "    " + result.failure()
    found = difference(want, result.lines)
    found = found or wrong_stats(name, result.stats["rules"], binary.engine != "kernel")
    counted = sum(r["matches"] for r in result.stats["rules"].values())
    if not found and counted != len(want):
        return f"    the stats count {counted} matches of {len(want)}"
    return found


def wrong_stats(name, stats, live=True):
    """What differs from stats.json, or None. live: whether runs_live_max is what it says there."""
    if not os.path.exists(os.path.join(FOLDER, name, "stats.json")):
        return None
    want = json.loads(read(name, "stats.json"))
    if not live:  # in the kernel it counts the places that were ever in use: docs/internals/kernel-matching.md
        want = {rule: {k: v for k, v in counts.items() if k != "runs_live_max"} for rule, counts in want.items()}
    return None if same(want, stats) else f"    the stats must be {want}\n    but are {stats}"


def by_machine_oracle(name, text):
    told = machine_oracle.Oracle(machine_text.parse(text), read_lines(name, "events.jsonl"))
    return difference(read_lines(name, "expected.jsonl"), told.run()) or wrong_stats(name, told.stats())


def by_oracle(name):
    text = read(name, "rule.rule")
    if name.startswith("machine-"):
        return by_machine_oracle(name, text)
    if " DO " in text:
        return "skip"
    try:
        _, rules = ruletext.parse(text)
    except KeyError:
        return "skip"
    verdicts = [legal.verdict(rule) for rule in rules]
    if os.path.exists(os.path.join(FOLDER, name, "rejected")):
        # unknown fields and kinds are no business of legal.py
        return None if any(v[0] == "reject" for v in verdicts) else "skip"
    stats = {}
    for rule, verdict in zip(rules, verdicts):
        if verdict[0] == "reject":
            return f"    {rule.name}: {verdict}"
        want = [m for m in read_lines(name, "expected.jsonl") if m["match"] == rule.name]
        told = oracle.Oracle(rule, read_lines(name, "events.jsonl"))
        found = difference(want, told.run())
        if found:
            return found
        stats[rule.name] = told.counts()
    return wrong_stats(name, stats, live=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--engine")
    parser.add_argument("--oracle", action="store_true")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    names = options.cases or sorted(os.listdir(FOLDER))
    binary = Binary(options.binary, options.engine)
    judge = by_oracle if options.oracle else lambda name: by_binary(binary, name)
    with ThreadPool(2) as pool:
        results = pool.map(judge, names)
    for name, wrong in zip(names, results):
        if wrong and wrong != "skip":
            print(f"FAIL {name}: {read(name, 'rule.rule').splitlines()[0].lstrip('/ ')}\n{wrong}")
    skipped = results.count("skip")
    failed = sum(1 for r in results if r and r != "skip")
    print(f"{len(names) - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
