# SPDX-License-Identifier: BSD-2-Clause
"""
What `replay --why` counts of generated rules and machines over generated streams: the same by one engine, by several threads, and by the
programs in the kernel; and matches and statistics are those of a replay that does not count. Counts must also add up: a run that was opened,
or copied, was refused, matched, ended or is open.

Usage: why.py BINARY [--cases N] [--seed S] [--user-only]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import generate
import machine_generate
import machine_text
import ruletext
from replay import CATALOGS

RULES, WHERE_IT_RUNS = 3, ("too large for the verifier", "cannot run in the kernel", "would have to remember")
VARIES = ("seconds", "events_per_second", "runs_live_max")


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = self.kernel = self.threads = 0
        self.seen = dict.fromkeys(["taken", "failed", "by_other_process", "by_other_thread", "expired", "open", "in_between", "dropped",
                                   "refused", "met", "conditions"], 0)


def replay(binary, folder, *options):
    """(status, lines without whys, whys as they stand, stderr)"""
    command = [binary, "replay", "-f", "json", *options, os.path.join(folder, "rule.rule"), os.path.join(folder, "events.jsonl")]
    environment = {"NO_COLOR": "1", "ASTERISM_CATALOGS": os.path.abspath(CATALOGS), **os.environ}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    lines = done.stdout.splitlines()
    whys = [line for line in lines if line.startswith('{"why"')]
    return done.returncode, [steady(line) for line in lines if not line.startswith('{"why"')], whys, done.stderr


def steady(line):
    """The line without what differs from one replay to another."""
    members = json.loads(line)
    if "stats" in members:
        for part in [members["stats"], *members["stats"]["rules"].values()]:
            for name in VARIES:
                part.pop(name, None)
    return members


def sums(why):
    """All numbers of a rule's line, added up by their names."""
    found = {name: why[name] for name in ("dropped", "discarded", "refused")}
    for row in why["events"] + why["states"] + why["transitions"]:
        for name, value in row.items():
            if isinstance(value, int):
                found[name] = found.get(name, 0) + value
    return found


def wrong_sum(why, lost):
    """Why the runs of a rule do not add up, or None. Losses end runs in ways that are not counted."""
    if lost or any("in place" in str(row) for row in why["transitions"]):
        return None
    found = sums(why)
    ended = sum(row["taken"] if row["target"] == "end" else row["failed"] for row in why["transitions"])
    ended += found.get("expired", 0) + found.get("in_between", 0) + why["dropped"] + why["discarded"]
    all_of_them = ended + found.get("open", 0) + why["matches"] + why["excepted"]
    return None if all_of_them == why["runs_opened"] else f"{why['runs_opened']} runs were opened, and {all_of_them} are known"


def wrong_conditions(row):
    """Why the counts of a transition's conditions do not add up, or None: each is asked where those before it are true."""
    asked, failed = row["tried"], row["taken"] - row["failed"]
    for i, one in enumerate(row["conditions"]):
        if i and row["conditions"][i - 1]["of"] != one["of"]:
            asked = row["taken"]
        if one["asked"] != asked or one["true"] > asked:
            return f"{one} of {row}"
        asked = one["true"]
    ends = {one["of"]: one["true"] for one in row["conditions"]}
    if row["taken"] > row["tried"] or ends.get("fit", row["taken"]) != row["taken"] or ends.get("hold", failed) != failed:
        return str(row)
    return None


def judge(binary, folder, is_machine, user_only, tally):
    """What is wrong, None, or "skip"."""
    plain, counted = replay(binary, folder, "--jobs", "1"), replay(binary, folder, "--jobs", "1", "--why")
    if plain[0] not in (0, 3):
        return "skip"
    if plain[1] != counted[1]:
        return "with --why other matches or statistics"
    if not counted[2]:
        return "nothing was counted"
    for line in counted[2]:
        why = json.loads(line)
        wrong = None if is_machine else wrong_sum(why, plain[0] == 3)
        if wrong:
            return f"{wrong}: {line}"
        for row in why["transitions"]:
            wrong = wrong_conditions(row)
            if wrong:
                return f"conditions do not add up: {wrong}"
            own = [one for one in row["conditions"] if one["of"] == "fit"]
            tally.seen["conditions"] += sum(one["asked"] != one["true"] and i + 1 < len(own) for i, one in enumerate(own))
        for name, number in sums(why).items():
            if name in tally.seen:
                tally.seen[name] += number
    others = [("--jobs", "3")] if user_only else [("--jobs", "3"), ("--engine", "kernel")]
    for options in others:
        other = replay(binary, folder, *options, "--why")
        if other[0] not in (0, 3) and options[0] == "--engine" and any(words in other[3] for words in WHERE_IT_RUNS):
            continue
        if other[2] != counted[2]:
            return difference(counted[2], other[2], " ".join(options)) + other[3]
        tally.kernel += options[0] == "--engine"
        tally.threads += options[0] == "--jobs"
    return None


def difference(one, other, name):
    for a, b in zip(one, other):
        if a != b:
            return f"by {name}:\n  {a}\n  {b}\n"
    return f"by {name}: {len(one)} and {len(other)} lines\n"


def write(folder, text, events):
    with open(os.path.join(folder, "rule.rule"), "w", encoding="utf-8") as out:
        out.write(text)
    with open(os.path.join(folder, "events.jsonl"), "w", encoding="utf-8") as out:
        out.writelines(json.dumps(event) + "\n" for event in events)


def rules_of(seed):
    made = generate.Generator(seed, True)
    rules = [made.rule(f"r{i}") for i in range(made.rng.choice([1, RULES]))]
    text = ruletext.print_types(made.types)
    for rule in rules:
        printed = ruletext.print_rule(rule).rstrip("\n")
        text += printed + (" POOL 3\n" if "POOL " not in printed and made.rng.random() < 0.1 else "\n")
    return text, made.stream(rules)


def machine_of(seed):
    made = machine_generate.Generator(seed, True)
    file = made.make()
    return machine_text.print_file(file), made.stream()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--cases", type=int, default=100, help="of each kind")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--user-only", action="store_true")
    options = parser.parse_args()
    tally, binary = Tally(), os.path.abspath(options.binary)
    for case in range(options.cases):
        for kind, make in (("rules", rules_of), ("machine", machine_of)):
            text, events = make(f"{options.seed}:{case}")
            with tempfile.TemporaryDirectory(prefix="asterism-why-") as folder:
                write(folder, text, events)
                wrong = judge(binary, folder, kind == "machine", options.user_only, tally)
            tally.skipped += wrong == "skip"
            tally.passed += wrong is None
            if wrong and wrong != "skip":
                tally.failed += 1
                print(f"FAIL {kind}, seed {options.seed}:{case}: {wrong}\n{text}")
                print("\n".join(json.dumps(event) for event in events[:60]), flush=True)
    print(f"seed {options.seed}, compared with threads {tally.threads} times, with the kernel {tally.kernel} times; counted: {tally.seen}")
    if options.cases >= 100 and not (all(tally.seen.values()) and (tally.kernel or options.user_only)):
        print("FAIL: not all of this happened")
        tally.failed += 1
    print(f"{tally.passed} passed, {tally.failed} failed, {tally.skipped} skipped")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
