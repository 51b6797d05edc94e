# SPDX-License-Identifier: BSD-2-Clause
"""
The differential suite: generated rules and streams through `asterism replay` and through the oracle. Compared are,
per rule, the match lines with their order and all their members, and what the statistics count. Many
rules share a file and a stream, and one of them is run alone as well, since a rule's result must not depend on
others. Cases of tests/diff/cases run first. A difference is made small and printed; --save keeps it as a case.

Usage: run.py BINARY [--cases N] [--seed S] [--engine kernel] [--emit] [--aggregate] [--pools] [--order written|any] [--save] [--jobs J]
"""

import argparse
import glob
import itertools
import json
import os
import sys
import time
from multiprocessing import Pool

import aggregates
import emission
import generate
import legal
import oracle
import ruletext
from replay import Binary, difference
from shrink import shrink

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases")
RULES, STREAMS, LIMIT = 16, 3, 400


def source(types, rules):
    return ruletext.print_types(types) + "".join(ruletext.print_rule(r) for r in rules)


def judge(rule, events, result, places=None, index=0):
    """
    What differs between the oracle and a replay for one rule: text, or None; raises TooMany. places gets the places
    of the rule's matches in the output of all rules.
    """
    told = oracle.Oracle(rule, events, LIMIT)
    want = told.run()
    if places is not None:
        places += [(place, rule.name) for place in told.places(index)]
    got = [line for line in result.lines if line["match"] == rule.name]
    found = difference(want, got)
    if found:
        return found
    stats = result.stats["rules"].get(rule.name)
    if stats is None:
        return "    the stats lack the rule"
    if stats.get("excepted") != (told.excepted if rule.excepts else None):
        return f"    excepted is {stats.get('excepted')}, expected {told.excepted}"
    for name, number in told.counts().items():
        if stats.get(name, 0) != number:
            return f"    {name} is {stats.get(name, 0)}, expected {number}"
    return None


class Tally:
    def __init__(self):
        self.passed, self.skipped, self.failures, self.matched, self.raised = 0, 0, [], 0, 0

    def add(self, other):
        self.passed += other.passed
        self.skipped += other.skipped
        self.matched += other.matched
        self.raised += other.raised
        self.failures += other.failures


class Batch:
    """Some rules in one file, run over some streams."""

    def __init__(self, binary, seed, pool_share):
        self.binary, self.tally = binary, Tally()
        self.made = generate.Generator(seed, binary.engine == "kernel", pool_share)
        self.rules = [self.made.rule(f"r{i}") for i in range(RULES)]

    def fail(self, what, rules, events):
        self.tally.failures.append((what, source(self.made.types, rules), events))

    def run(self):
        self.refuse()
        first = self.made.stream(self.rules)
        streams = [first] + [self.made.near_miss(first) for _ in range(STREAMS - 1)]
        for events in streams:
            self.stream(events)
        self.alone(first)
        return self.tally

    def refuse(self):
        """One rule that the compiler must refuse."""
        rule = self.made.rejected_rule("bad")
        result = self.binary.replay(source(self.made.types, [rule]), [])
        if result.refused():
            self.tally.passed += 1
        else:
            self.fail(f"    not refused: {legal.verdict(rule)[1]}", [rule], None)

    def stream(self, events):
        result = self.binary.replay(source(self.made.types, self.rules), events)
        while result.not_for_kernel():
            self.rules = [r for r in self.rules if r.name not in result.not_for_kernel()]
            result = self.binary.replay(source(self.made.types, self.rules), events)
        self.tally.skipped += RULES - len(self.rules)
        if result.failure():
            for rule in list(self.rules):
                self.one(rule, events)
            return
        failures, skipped, places = len(self.tally.failures), set(), []
        for index, rule in enumerate(self.rules):
            if not self.compare(rule, events, result, places, index):
                skipped.add(rule.name)
        if len(self.tally.failures) == failures:
            self.order(events, places, [m["match"] for m in result.lines if m["match"] not in skipped])

    def order(self, events, places, got):
        """Are the matches of all rules in the right order?"""
        places = sorted(places)
        want = [name for _, name in places]
        if self.binary.engine == "kernel":
            # cases/deadline-order-of-copies.json is open: rules tied at one deadline are compared as a set
            got = tied(places, got)
            want = tied(places, want)
        if want != got:
            self.fail(f"    order across rules: expected {want}\n    got {got}", self.rules, events)

    def one(self, rule, events):
        result = self.binary.replay(source(self.made.types, [rule]), events)
        if not result.failure():
            self.compare(rule, events, result)
            return
        if result.not_for_kernel():
            self.tally.skipped += 1
            return
        if result.refused():
            self.rules.remove(rule)
        self.fail("    " + result.failure(), [rule], events)

    def compare(self, rule, events, result, places=None, index=0):
        """False if the oracle gave up."""
        try:
            wrong = judge(rule, events, result, places, index)
        except oracle.TooMany:
            self.tally.skipped += 1
            return False
        if wrong:
            self.fail(wrong, [rule], events)
        else:
            self.tally.passed += 1
            self.tally.matched += bool(result.stats["rules"][rule.name]["matches"])
        return True

    def alone(self, events):
        if self.rules:
            self.one(self.made.rng.choice(self.rules), events)


def tied(places, names):
    """The names with those of each deadline sorted."""
    out = []
    for moment, group in itertools.groupby(places, key=lambda p: p[0][0]):
        size = len(list(group))
        part = names[len(out):len(out) + size]
        out += part if moment[1] else sorted(part)
    return out + names[len(out):]


def run_batch(task):
    binary, seed = task
    return Batch(binary, seed, generate.POOL_SHARE).run()


def run_pooling_batch(task):
    binary, seed = task
    return Batch(binary, seed, generate.POOL_SHARE_ASKED).run()


def run_emitting_batch(task):
    binary, seed = task
    return emission.Batch(binary, seed, Tally()).run()


def run_aggregating_batch(task):
    binary, seed = task
    return aggregates.Batch(binary, seed, Tally()).run()


# --- kept cases


def kept_cases():
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.json"))):
        with open(path, encoding="utf-8") as text:
            yield os.path.basename(path), json.load(text)


def run_kept(binary, case):
    """What is wrong with a kept case, or None. Both the oracle and the binary must give what it expects."""
    if case.get("rejected"):
        result = binary.replay(case["rule"], [])
        return None if result.refused() else f"    not refused: exit status {result.status}"
    text, expected = case["rule"], case["expected"]
    wrong = told_by_oracle(text, case["events"], expected)
    if wrong:
        return wrong
    result = binary.replay(text, case["events"])
    if result.not_for_kernel():
        return "skip"
    if result.failure():
        return "    " + result.failure()
    for rule in ruletext.parse(text)[1]:
        wrong = judge(rule, case["events"], result)
        if wrong:
            return wrong
    want, got = [m["match"] for m in expected], [m["match"] for m in result.lines]
    return None if want == got else f"    order across rules: expected {want}\n    got {got}"


def told_by_oracle(text, events, expected):
    for rule in ruletext.parse(text)[1]:
        want = [m for m in expected if m["match"] == rule.name]
        wrong = difference(want, oracle.matches(rule, events)[0])
        if wrong:
            return "    the oracle disagrees\n" + wrong
    return None


def is_open(binary, case):
    """`open` lists the engines for which a case is a known difference."""
    return (binary.engine or "user") in case.get("open", [])


def open_case(name, case, wrong):
    """Told, not counted as failed, until it passes."""
    if not wrong:
        return "    it passes now: take the mark `open` away"
    print(f"OPEN {name}: {case['note']}")
    return "skip"


# --- reporting


def fails_with(binary, refused):
    """What the shrinker asks; a rule wrongly refused must stay one, any other failure may change its face."""
    def fails(text, events):
        _, (rule,) = ruletext.parse(text)
        result = binary.replay(text, events)
        try:
            if refused or result.refused() or result.not_for_kernel():
                return refused and result.refused()
            return bool(result.failure() or judge(rule, events, result))
        except oracle.TooMany:
            return False
    return fails


def report(binary, failure, save):
    what, text, events = failure
    print("FAIL")
    if events is None or len(ruletext.parse(text)[1]) > 1:
        print(text + "\n".join(json.dumps(e) for e in events or []) + "\n" + what)
        return
    fails = fails_with(binary, binary.replay(text, events).refused())
    if fails(text, events):
        text, events = shrink(text, events, fails)
        _, (rule,) = ruletext.parse(text)
        result = binary.replay(text, events)
        what = "    " + result.failure() if result.failure() else judge(rule, events, result)
    else:
        what += "\n    (only together with other rules)"
    print(text + "\n".join(json.dumps(e) for e in events) + "\n" + what + "\n", flush=True)
    if save:
        keep(text, events)


def keep(text, events):
    _, (rule,) = ruletext.parse(text)
    os.makedirs(FOLDER, exist_ok=True)
    number = len(glob.glob(os.path.join(FOLDER, "*.json"))) + 1
    case = {"note": "", "rule": text, "events": events, "expected": oracle.matches(rule, events)[0]}
    with open(os.path.join(FOLDER, f"new-{number:03}.json"), "w", encoding="utf-8") as out:
        json.dump(case, out, indent=1)
        out.write("\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--engine")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--emit", action="store_true", help="rules that raise events for each other")
    parser.add_argument("--aggregate", action="store_true", help="rules that aggregate their matches")
    parser.add_argument("--pools", action="store_true", help="a third of the rules is about runs that make room for others")
    parser.add_argument("--order", choices=["written", "any"],
                        help="ask conditions in the order of the text, or in one by chance; else the cheapest first")
    parser.add_argument("--shown", type=int, default=5, help="how many failures to make small and print")
    options = parser.parse_args()
    binary, total, begun = Binary(options.binary, options.engine, order=options.order), Tally(), time.time()
    for name, case in kept_cases():
        wrong = run_kept(binary, case)
        if is_open(binary, case) and wrong != "skip":
            wrong = open_case(name, case, wrong)
        if wrong == "skip":
            total.skipped += 1
        elif wrong:
            print(f"FAIL {name}: {case['note']}\n{wrong}")
            total.failures.append(None)
        else:
            total.passed += 1
    size, batch = RULES * STREAMS + 2, run_batch
    if options.pools:
        batch = run_pooling_batch
    if options.emit:
        size, batch = emission.RULES * emission.STREAMS, run_emitting_batch
    if options.aggregate:
        size, batch = aggregates.RULES * aggregates.STREAMS, run_aggregating_batch
    batches = -(-options.cases // size)
    tasks = [(binary, f"{options.seed}:{i}") for i in range(batches)]
    with Pool(options.jobs) as pool:
        for tally in pool.imap_unordered(batch, tasks):
            total.add(tally)
    different = {f[1]: f for f in total.failures if f}  # one of each rule
    for failure in list(different.values())[: options.shown]:
        report(binary, failure, options.save)
    print(f"seed {options.seed}, {total.matched} cases with matches, {total.raised} of rules that raised events reached, "
          f"{time.time() - begun:.1f} s")
    print(f"{total.passed} passed, {len(total.failures)} failed, {total.skipped} skipped")
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
