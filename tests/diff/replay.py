# SPDX-License-Identifier: BSD-2-Clause
"""Runs `asterism replay` and compares what it prints with what is expected."""

import json
import os
import random
import re
import subprocess
import tempfile


CATALOGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "catalogs")


class Result:
    """What one replay printed: result lines, those of aggregates, the stats line's content, the exit status and stderr."""

    def __init__(self, process):
        self.status, self.stderr = process.returncode, process.stderr
        self.lines, self.aggregates, self.stats, self.broken = [], [], {}, None
        for text in process.stdout.splitlines():
            try:
                line = json.loads(text)
            except ValueError:
                self.broken = f"not JSON: {text[:200]}"
                continue
            if "match" in line:
                self.lines.append(line)
            elif "aggregate" in line:
                self.aggregates.append(line)
            elif "stats" in line:
                self.stats = line["stats"]

    def refused(self):
        """Was it the rule that was found wrong?"""
        return self.status == 2 and "rule.rule:" in self.stderr and not self.not_for_kernel()

    def not_for_kernel(self):
        """Names of the rules that the kernel engine says it cannot run."""
        return re.findall(r"(?:rule|machine) (\w+) cannot run in the kernel", self.stderr)

    def too_large(self):
        """Whether the verifier has given up on a program: a live session would run these rules in user space."""
        return "it is too large for the verifier" in self.stderr

    def failure(self):
        """Why the replay as a whole cannot be used; None when it can."""
        if self.broken:
            return self.broken
        if self.status not in (0, 1, 3) or not self.stats:  # 3: events were lost, which the statistics tell
            return f"exit status {self.status}: {self.stderr.strip()[:2000]}"
        return None


class Binary:
    """order: in which order conditions are asked, "written": that of the text, "any": one by chance; None: the usual one"""

    def __init__(self, path, engine=None, timeout=120, order=None):
        self.path, self.engine, self.timeout, self.order = os.path.abspath(path), engine, timeout, order

    def run(self, *options):
        command = [self.path, "replay", *options, "--input", "jsonl", "-f", "json"]
        environment = {"ASTERISM_CATALOGS": os.path.abspath(CATALOGS), **os.environ}
        try:
            return subprocess.run(command, capture_output=True, text=True, timeout=self.timeout, check=False, env=environment)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, "", f"no end after {self.timeout} s")

    def replay_files(self, rule_path, events_path):
        options = [rule_path, events_path]
        if self.engine:
            options += ["--engine", self.engine]
        if self.order == "any":
            measures = os.path.join(os.path.dirname(rule_path), "measures.jsonl")
            if self.make_up_measures(measures, rule_path, events_path):
                options += ["--order-by", measures]
        elif self.order:
            options += ["--order-by", self.order]
        return Result(self.run(*options))

    def make_up_measures(self, path, rule_path, events_path):
        """Writes what would be measured with the numbers replaced by chance. False where nothing can be measured."""
        whys = [line for line in self.run(rule_path, events_path, "--why").stdout.splitlines() if line.startswith('{"why"')]
        chance, any_condition = random.Random("".join(whys)), False
        with open(path, "w", encoding="utf-8") as out:
            for why in map(json.loads, whys):
                for condition in (one for row in why["transitions"] for one in row["conditions"]):
                    condition["asked"] = chance.choice([0, 10**9])
                    condition["true"] = condition["asked"] - min(condition["asked"], chance.choice([1, 10**3, 10**6, 10**9]))
                    any_condition = True
                out.write(json.dumps(why, separators=(",", ":")) + "\n")
        return any_condition

    def replay(self, rule_text, events):
        with tempfile.TemporaryDirectory(prefix="asterism-diff-") as folder:
            rule_path, events_path = os.path.join(folder, "rule.rule"), os.path.join(folder, "events.jsonl")
            with open(rule_path, "w", encoding="utf-8") as out:
                out.write(rule_text)
            with open(events_path, "w", encoding="utf-8") as out:
                out.writelines(json.dumps(e) + "\n" for e in events)
            return self.replay_files(rule_path, events_path)


def same(want, got):
    """
    Equal, where `got` may have more members than `want`, though no more returned values, and floats need not agree in the
    last bits.
    """
    if isinstance(want, dict):
        if "return" in want and set(want["return"]) != set(got.get("return", {})):
            return False
        return isinstance(got, dict) and all(k in got and same(v, got[k]) for k, v in want.items())
    if isinstance(want, list):
        return isinstance(got, list) and len(want) == len(got) and all(same(a, b) for a, b in zip(want, got))
    if isinstance(want, bool) or isinstance(got, bool) or want is None or isinstance(want, str):
        return type(want) is type(got) and want == got
    if isinstance(want, float) or isinstance(got, float):
        return isinstance(got, (int, float)) and abs(want - got) <= 1e-9 * max(1.0, abs(want))
    return want == got


def brief(line):
    """A result line on one short line, for people."""
    if "sequence" in line:
        return f"ts {line['ts']}, events {[e['seq'] for e in line['sequence']]}"
    if "warning" in line:
        return f"{line['match']} ts {line['ts']} {json.dumps(line['warning'])}"
    return f"ts {line['ts']} tid {line.get('tid')}, {json.dumps(line.get('return', {}))}"


def difference(want, got):
    """What differs between two lists of result lines, or None."""
    if same(want, got):
        return None
    out = ["    expected:"] + [f"      {brief(m)}" for m in want] + ["    got:"] + [f"      {brief(m)}" for m in got]
    if [brief(m) for m in want] == [brief(m) for m in got]:
        at = next(i for i, (a, b) in enumerate(zip(want, got)) if not same(a, b))
        out += ["    in full:", f"      {json.dumps(want[at])}", f"      {json.dumps(got[at])}"]
    return "\n".join(out)
