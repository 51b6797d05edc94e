#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs shipped rules and the cookbook's under a flood of what they begin with: they must still find what they look for.

usage: run.py ASTERISM FLOOD PROGRAMS [--long] [--only PART] [--share I/N] [--jobs N]

A case is a rule, the kind of event that its pattern or machine begins with (flood.c), a program that the rule is to find and
one that it is not to find, mostly those of the rule's own live tests with their parameters and expectations. One session
observes all: the flood, then, while it goes on, the innocent program and the guilty one.
The rule must report what is expected while the guilty program runs, and nothing of that name while the innocent one does. What
the flood itself is reported for does not count.

Rules are all of severity medium and above, and those that act. Where there is such a rule without a case, or a case without a
reason, the suite fails.
"""

import argparse
import concurrent.futures
import glob
import json
import operator
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
HERE = os.path.join(TOP, "tests", "load")
SMALL, LARGE = (20000, 500, 0), (100000, 20000, 60)  # events of one process, processes that raise one each, seconds
PATIENCE = int(os.environ.get("ASTERISM_TEST_PATIENCE", "4"))
COMPARE = {">=": operator.ge, "<=": operator.le, "!=": operator.ne, ">": operator.gt, "<": operator.lt}
DROPPER = {"programs": '"/none/*"', "programs_too": '"/none/*"'}


class Case:
    """Programs are named as in the rule's tests; with a slash, as in this folder. `share`: so much of COUNT is raised, where
    one event takes long. `found`: the matches that count; all of the rule otherwise. `known`: why it fails. `stays`: the flood is
    over when the programs run, as they are about time; otherwise it goes on. `anyone`: matches tell of others than the one
    that raised the last event."""

    def __init__(self, rule, kind, guilty, innocent, **more):
        self.rule, self.kind, self.guilty, self.innocent = rule, kind, guilty, innocent
        self.share = more.pop("share", 1)
        self.found = more.pop("found", None)
        self.set = more.pop("set", {})
        self.known = more.pop("known", None)
        self.stays = more.pop("stays", False)
        self.anyone = more.pop("anyone", False)
        assert not more

    def name(self):
        return f"{self.rule}: {self.kind}"

    def source(self):
        shipped = os.path.join(TOP, "rules", self.rule, self.rule + ".rule")
        return shipped if os.path.exists(shipped) else os.path.join(TOP, "examples", "cookbook", self.rule + ".rule")

    def program(self, name):
        return os.path.join(HERE, name[2:]) if name.startswith("./") else os.path.join(TOP, "rules", self.rule, "tests", name)

    def parameters(self):
        lines = [f"{name}={value}" for name, value in self.set.items()]
        for name in (self.guilty, self.innocent):
            path = os.path.splitext(self.program(name))[0] + ".set"
            if os.path.exists(path):
                with open(path) as file:
                    lines += [line.strip() for line in file if "=" in line]
        return sorted(set(lines))

    def expected(self):
        with open(os.path.splitext(self.program(self.guilty))[0] + ".expect") as file:
            lines = [json.loads(line) for line in file if line.startswith("{")]
        return [line for line in lines if not self.found or line["match"] in self.found]


CASES = [
    Case("secret-after-network", "receive", "./secret.sh", "./secret-apart.sh"),
    Case("leak", "open", "./leak.sh", "./leak-apart.sh"),
    Case("web-shell", "receive", "./web-shell.sh", "./web-shell-apart.sh"),
    Case("reverse-shell", "connected", "python.sh", "server.sh", share=0.05),
    Case("reverse-shell", "connected", "bind.sh", "server.sh", share=0.05),
    Case("reverse-shell", "piped", "relayed-later.sh", "server.sh"),
    Case("credential-change-exec", "user", "regain.sh", "drop.sh"),
    Case("credential-change-exec", "user", "child.sh", "drop.sh"),
    Case("chroot-escape", "jail", "outside.sh", "inside.sh"),
    Case("temp-exec-after-download", "accepted", "download.sh", "compiled.sh"),
    Case("temp-exec-after-download", "open", "redirect.sh", "compiled.sh"),
    Case("temp-exec-after-download", "downloaded", "download.sh", "compiled.sh"),
    Case("temp-exec-after-download", "downloaded", "redirect.sh", "compiled.sh"),
    Case("dropper", "exec", "folder.sh", "installer.sh", share=0.1),
    Case("closed-descriptor", "descriptor", "used.sh", "reopened.sh"),
    Case("closed-descriptor", "descriptor", "child.sh", "right.sh"),
    Case("connection-retry-storm", "refused", "refused.sh", "answered.sh"),
    Case("connection-retry-storm", "refused", "slowly.sh", "answered.sh"),
    Case("crash-loop", "fail", "segv.sh", "recovers.sh", share=0.2),
    Case("fork-bomb", "fork", "bomb.sh", "generations.sh", share=0.2, found=["fork_bomb"]),
    Case("fork-bomb", "fork", "flood.sh", "recursion.sh", share=0.2, found=["fork_flood"]),
    Case("deadlock", "futex", "deadly.sh", "orderly.sh"),
    Case("priority-inversion", "futex", "inversion.sh", "equals.sh", stays=True),
    Case("priority-inversion-resolve", "futex", "./resolve.sh", "./resolve-equals.sh", stays=True),
    Case("lock-misuse", "mutex", "destroyed.sh", "fresh.sh"),
    Case("lock-order", "nested", "inverted.sh", "ordered.sh"),
    Case("lock-order", "nested", "circle.sh", "ladder.sh"),
    Case("real-time", "sleep", "late.sh", "punctual.sh", stays=True, anyone=True),
    Case("stalled-thread", "sleep", "starved.sh", "shared.sh", stays=True, anyone=True),
    Case("stalled-thread", "sleep", "woken.sh", "shared.sh", stays=True, anyone=True),
    Case("syn-flood", "accepted", "flood.sh", "handshakes.sh"),
    Case("cpu-share", "name", "./share.sh", "./share-other.sh",
         known="it measures shares of processors, which other suites take as well"),
]
WITHOUT = {"kernel-locks": "no kernel here raises LTTng's lockdep events"}


def fits(wanted, value):
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(key in value and fits(item, value[key]) for key, item in wanted.items())
    if isinstance(wanted, list):
        return isinstance(value, list) and len(wanted) == len(value) and all(map(fits, wanted, value))
    compared = re.fullmatch(r"([<>]=?|!=)(-?\d+)", wanted) if isinstance(wanted, str) else None
    if compared and isinstance(value, (int, float)):
        return COMPARE[compared.group(1)](value, int(compared.group(2)))
    return wanted == value


def may_be_missing(line):
    return fits(line["count"], 0) if "count" in line else False


def is_of_flood(match):
    """Raised by it, or, where another thread raised the event, about it."""
    return any(re.match("flood(ing)?$|share10-|f[0-9]+-", str(name))
               for name in (match["comm"], (match.get("return") or {}).get("name", "")))


def judge(case, matches, times):
    """What is wrong, line by line."""
    expected = case.expected()
    names = {line["match"] for line in expected if not may_be_missing(line)}
    matches = [match for match in matches if case.anyone or not is_of_flood(match)]
    innocent = [match for match in matches if times[0] <= match["ts"] < times[1] and match["match"] in names]
    guilty = [match for match in matches if times[1] <= match["ts"] < times[2]]
    wrong = [f"reported for {case.innocent}: {json.dumps(match)}" for match in innocent[:3]]
    for line in expected:
        wanted = {key: value for key, value in line.items() if key != "count"}
        if not may_be_missing(line) and not any(fits(wanted, match) for match in guilty):
            wrong.append(f"not found in {case.guilty}: {json.dumps(line)}")
    return wrong


def cost(stats):
    """What the rules lost, and gave up for others, in words."""
    sums = [f"{name}: " + ", ".join(f"{value[key]} {what}" for key, what in
                                    (("pool_exhausted", "found no place"), ("replaced", "replaced"), ("lost", "lost")) if value.get(key))
            for name, value in stats["rules"].items()]
    return "; ".join(text for text in sums if not text.endswith(": ")) or "nothing lost or replaced"


def observe(case, options, folder):
    """(what is wrong, remarks) of one session."""
    count, processes, seconds = LARGE if options.long else SMALL
    programs = [case.program(name) for name in (case.innocent, case.guilty)]
    command = [options.asterism, "run", "-q", "-f", "json", "-o", "../matches"]
    for line in case.parameters():
        command += ["--set", line]
    command += [case.source(), "--", options.flood, case.kind, str(int(count * case.share)), str(processes), str(seconds),
                "stay" if case.stays else "on", "--", programs[0], "--", programs[1]]
    environment = {**os.environ, "ASTERISM_BIN": options.asterism, "ASTERISM_TEST_PROGRAMS": options.programs,
                   "ASTERISM_CATALOGS": os.path.join(TOP, "catalogs"),
                   "ASTERISM_TEST_FOLDER": os.path.dirname(case.source())}
    work = os.path.join(folder, "work")
    os.mkdir(work)
    ended = subprocess.run(command, cwd=work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           errors="replace", timeout=(300 if options.long else 60) * PATIENCE)
    times = [int(line) for line in ended.stdout.split("\n") if re.fullmatch(r"\d{10,}", line)]
    remarks = [line for line in ended.stderr.splitlines() if line.startswith("flood: ")]
    if len(times) != 3:
        return [f"status {ended.returncode}: {ended.stderr[-2000:]}"], remarks
    with open(os.path.join(folder, "matches")) as file:
        lines = [json.loads(line) for line in file]
    remarks.append(cost(lines[-1]["stats"]))
    return judge(case, [line for line in lines if "match" in line], times), remarks


def run(case, options):
    folder = tempfile.mkdtemp(prefix="asterism-load-", dir="/tmp")
    os.chmod(folder, 0o755)
    try:
        return observe(case, options, folder)
    except subprocess.TimeoutExpired as error:
        return [f"not done after {error.timeout} s"], []
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def demanding():
    """The rules that have to have a case: what acts, or is of severity medium and above."""
    for path in sorted(glob.glob(os.path.join(TOP, "rules", "*", "*.rule")) + glob.glob(os.path.join(TOP, "examples", "cookbook", "*.rule"))):
        with open(path) as file:
            text = file.read()
        if re.search(r"^SEVERITY (medium|high|critical)\b|CALL (?!Stack|Message|Count|Histogram)", text, re.M):
            yield os.path.splitext(os.path.basename(path))[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("asterism")
    parser.add_argument("flood")
    parser.add_argument("programs", help="folder with the programs of live tests")
    parser.add_argument("--long", action="store_true", help="the large floods")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--share", default="1/1", metavar="I/N", help="the Ith of N parts of the cases")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="sessions side by side")
    options = parser.parse_args()
    options.asterism, options.flood, options.programs = map(os.path.abspath, (options.asterism, options.flood, options.programs))
    part, parts = map(int, options.share.split("/"))
    cases = [case for case in CASES if options.only in case.name()][part - 1::parts]
    missing = sorted(set(demanding()) - {case.rule for case in CASES} - set(WITHOUT))
    lock, number, counts = threading.Lock(), 0, {"passed": 0, "failed": 0, "known": 0}

    def tell(good, name, lines):
        nonlocal number
        with lock:
            number += 1
            print("\n".join([f"{'ok' if good else 'not ok'} {number} - {name}"] + [f"# {line}" for line in lines]), flush=True)

    def judge_case(case):
        wrong, remarks = run(case, options)
        what = "passed" if not wrong else "known" if case.known and not options.long else "failed"
        counts[what] += 1
        if case.known:
            remarks.append(f"known: {case.known}" if wrong else f"passes, though it is known that {case.known}")
        tell(what != "failed", f"{case.name()}, {case.guilty}", wrong + remarks)

    print(f"1..{len(cases) + 1 + len(WITHOUT)}", flush=True)
    tell(not missing, "every rule that has to have a case has one", [f"without: {name}" for name in missing])
    for name, why in WITHOUT.items():
        tell(True, f"{name} # SKIP {why}", [])
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(judge_case, cases))
    print(f"# {counts['passed']} rules found theirs under a flood, {counts['failed']} did not, {counts['known']} are known not to")
    return 1 if counts["failed"] or missing else 0


if __name__ == "__main__":
    sys.exit(main())
