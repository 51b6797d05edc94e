#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Fails every system call of a session once, one session each, and holds what is left against docs/failures.md.

usage: run.py ASTERISM ASTERISMD PLANT SHIM [--sample N] [--only SCENARIO[:CLASS:NUMBER:ERROR]]

A session either does not begin - then it says so, its status is 2 or 4, the command has not run and no trace is left -
or it lasts until the command has ended: then the rule has killed whom it forbids, and what was raised is written or
told as missing. In no case does it hang, die of a signal or leave a process behind.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# Errors that a class of calls may come to, besides EINTR and short writes where the kernel knows them.
ERRORS = {"write": ("ENOSPC", "EIO", "EINTR", "short"), "open": ("EMFILE", "EIO", "ENOSPC"), "mmap": ("ENOMEM",),
          "epoll": ("ENOMEM", "EINTR"), "bpf": ("EPERM", "ENOMEM"), "perf": ("EMFILE", "EPERM"),
          "waited": ("EMFILE",)}
LIMIT_S = 30
CALLS = 400  # before the forbidden one
FORBIDDEN = 1000077
KILL = ("SYNCHRONOUS RULE forbidden PATTERN { sys_enter_getpgid:a } WHERE { a.target_pid == %d, a.comm == \"plant\" } "
        "DO { CALL Kill(a#PID) }\n" % FORBIDDEN)
EVERY = "RULE every PATTERN { sys_enter_getpgid:a } WHERE { a.comm == \"plant\" } RETURN { a.target_pid AS p }\n"
# 400 calls in portions that stay below the forbidden one, then up to it.
VICTIM = ': >ran; for i in 1 2 3 4 5 6 7 8; do "$0" flood 50; done; sleep 0.1; "$0" flood 100; echo $? >after; sleep 0.1; exit 0'
RAISED = CALLS + FORBIDDEN - 1000000 + 1


class Scenario:
    name = ""
    rules = True  # the victim is to be killed

    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def command(self):
        return [self.options.asterism, *self.arguments(), "--", "bash", "-c", VICTIM, self.options.plant]

    def began(self):
        return os.path.exists(os.path.join(self.folder, "ran"))

    def left(self):
        """What must not be there where a session did not begin."""
        return []

    def complain(self, status, said):
        """What is wrong with a session that began, or None."""
        return None

    def path(self, name):
        return os.path.join(self.folder, name)

    def after(self):
        try:
            with open(self.path("after")) as file:
                return file.read().strip()
        except OSError:
            return "nothing"


def told(said, pattern):
    return sum(int(number) for number in re.findall(r"warning: (\d+) " + pattern, said))


def lines_of(path):
    """The matches in a file of JSON lines; a line that is not whole is an error."""
    with open(path) as file:
        text = file.read()
    if text and not text.endswith("\n"):
        raise ValueError("the last line is not whole")
    return [json.loads(line) for line in text.splitlines()]


class Run(Scenario):
    name = "run"

    def arguments(self):
        return ["run", "--allow-actions", "-f", "json", "-o", "out", "rule"]

    def complain(self, status, said):
        try:
            lines = lines_of(self.path("out"))
        except (OSError, ValueError) as error:
            return f"out: {error}"
        written = sum(line.get("match") == "every" for line in lines)
        stats = lines[-1]["stats"] if lines and "stats" in lines[-1] else None
        missing = told(said, r"match(?:es)? could not be written")
        lost = told(said, r"events or runs were lost")
        if written + missing + lost < RAISED:
            return f"{written} written, {missing} told as missing, {lost} as lost, of {RAISED}"
        if stats is None and "with the statistics" not in said and "cannot write the end of" not in said:
            return "the statistics are missing and nothing says so"
        if written < RAISED and status != 3:
            return f"{RAISED - written} matches are missing, but the status is {status}"
        return None


class Snapshot(Scenario):
    name = "snapshot"

    def arguments(self):
        return ["run", "--allow-actions", "-q", "-o", "out", "--snapshot", "box", "-e", "sys_enter_getpgid", "rule"]

    def complain(self, status, said):
        whole = [name for name in os.listdir(self.path("box"))] if os.path.isdir(self.path("box")) else []
        cut = told(said, r"snapshots? could not be written completely")
        if cut and status != 3:
            return f"a snapshot is not whole, but the status is {status}"
        return None if whole or cut else "there is no snapshot, and nothing says so"


class Record(Scenario):
    name, rules, more = "record", False, []

    def arguments(self):
        return ["record", "-o", "trace", "-e", "sys_enter_getpgid", *self.more]

    def left(self):
        return [self.path("trace")]

    def complain(self, status, said):
        stat = subprocess.run([self.options.asterism, "stat", "-f", "json", self.path("trace")], text=True,
                              capture_output=True)
        try:
            facts = json.loads(stat.stdout)
        except ValueError:
            return f"cannot read the trace: {stat.stderr}"
        raised = RAISED if self.rules else CALLS + 100
        calls = sum(row["events"] for row in facts["types"] if row["event"] == "sys_enter_getpgid")
        lost = told(said, r"events were lost: ")
        if calls + lost != raised:
            return f"{calls} in the trace, {lost} told as lost, of {raised}"
        if facts["lost"] > lost:
            return f"the trace says {facts['lost']} lost, standard error {lost}"
        return f"{lost} lost, but the status is {status}" if lost and status != 3 else None


class RecordRules(Record):
    name, rules, more = "record --rules", True, ["--rules", "kill", "--allow-actions", "-f", "json"]


class Replay(Scenario):
    name, rules = "replay", False

    def command(self):
        return [self.options.asterism, "replay", "-f", "json", "-o", "out", "rule", "events"]

    def began(self):
        return False

    def complain(self, status, said):
        return None


class Daemon(Scenario):
    """The victim is what is observed; it begins once the daemon is there."""
    name = "daemon"

    def command(self):
        return [self.options.asterismd, "--rules", "rules", "--socket", "socket", "--output", "file", "--allow-actions",
                "--pid", str(self.victim.pid)]

    def complain(self, status, said):
        return None


def prepare(scenario):
    folder = scenario.folder
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "rules"))
    with open(os.path.join(folder, "rule"), "w") as file:
        file.write(KILL + EVERY)
    with open(os.path.join(folder, "kill"), "w") as file:
        file.write(KILL)
    shutil.copy(os.path.join(folder, "rule"), os.path.join(folder, "rules", "unit.rule"))
    with open(os.path.join(folder, "events"), "w") as file:
        for i in range(RAISED):
            file.write('{"event":"sys_enter_getpgid","ts":%d,"cpu":0,"pid":1,"tid":1,"comm":"plant","target_pid":%d}\n' %
                       (i + 1, 1000000 + i))


def survivors(group):
    """Whoever is left of a session's process group, after some patience."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.02)
    return True


def execute(scenario, environment):
    """Runs the session. Returns (status, what it said, whether it hung, whether anybody is left)."""
    environment = {**os.environ, **environment, "LD_PRELOAD": scenario.options.shim, "NO_COLOR": "1"}
    with open(scenario.path("said"), "w+") as said:
        process = subprocess.Popen(scenario.command(), cwd=scenario.folder, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=said, start_new_session=True)
        try:
            status, hung = attend(scenario, process), False
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            status, hung = process.wait(), True
        left = survivors(process.pid)
        if left:
            os.killpg(process.pid, signal.SIGKILL)
        said.seek(0)
        return status, said.read(), hung, left


def attend(scenario, process):
    if not isinstance(scenario, Daemon):
        return process.wait(LIMIT_S)
    for _ in range(500):
        if process.poll() is not None or os.path.exists(scenario.path("socket")):
            break
        time.sleep(0.02)
    scenario.is_up = process.poll() is None
    if scenario.is_up:
        time.sleep(0.3)
        open(scenario.path("go"), "w").close()
        scenario.victim.wait(LIMIT_S)
        scenario.is_up = process.poll() is None
        process.terminate()
    return process.wait(LIMIT_S)


def judge(scenario, status, said, hung, left):
    if hung:
        return "it hangs"
    if left:
        return "a process is left behind"
    if status < 0:
        return f"it died of signal {-status}"
    if isinstance(scenario, Daemon):
        return judge_daemon(scenario, status, said)
    if isinstance(scenario, Replay):
        return judge_replay(scenario, status, said)
    if not scenario.began():
        if status not in (2, 4):
            return f"it did not begin, but the status is {status}"
        if "error: " not in said:
            return "it did not begin, and nothing says why"
        return next((f"{path} is left behind" for path in scenario.left() if os.path.exists(path)), None)
    if scenario.rules and scenario.after() != "137":
        return f"the rule was off: {scenario.after()}"
    if not scenario.rules and scenario.after() != "0":
        return f"the command was harmed: {scenario.after()}"
    return scenario.complain(status, said)


def judge_replay(scenario, status, said):
    if status == 2 and "error: " in said:
        return None
    try:
        found = sum(line.get("match") == "every" for line in lines_of(scenario.path("out")))
    except (OSError, ValueError) as error:
        return f"out: {error}"
    return None if status == 0 and found == RAISED else f"status {status}, {found} matches of {RAISED}"


def judge_daemon(scenario, status, said):
    if not scenario.is_up:
        return None if status in (1, 2, 4) and said.strip() else f"it is gone with status {status}: {said!r}"
    return None if scenario.after() == "137" else f"it is up, but the rule was off: {scenario.after()}"


def attempt(scenario, environment):
    prepare(scenario)
    if not isinstance(scenario, Daemon):
        return execute(scenario, environment)
    script = "until [ -e go ]; do sleep 0.02; done; " + VICTIM
    scenario.victim = subprocess.Popen(["bash", "-c", script, scenario.options.plant], cwd=scenario.folder,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        return execute(scenario, environment)
    finally:
        open(scenario.path("go"), "w").close()
        scenario.victim.kill()
        scenario.victim.wait()


def counts_of(scenario):
    """How many calls of each class a session makes that nothing happens to."""
    path = os.path.join(scenario.folder, "..", "counts")
    result = attempt(scenario, {"FAULT_COUNTS": path})
    complaint = judge(scenario, *result)
    if complaint:
        raise SystemExit(f"not ok 1 - {scenario.name}: {complaint}\n{result[1]}")
    with open(path) as file:
        return {name: int(count) for name, count in (line.split() for line in file)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("asterism", "asterismd", "plant", "shim"):
        parser.add_argument(name, type=os.path.abspath)
    parser.add_argument("--sample", type=int, help="so many faults of each scenario, evenly spread (default: all)")
    parser.add_argument("--only", default="", help="what the name of a fault begins with, such as run:write:3")
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as top:
        for kind in (Run, Record, RecordRules, Snapshot, Replay, Daemon):
            scenario = kind(options, os.path.join(top, "session"))
            if not scenario.name.startswith(options.only.split(":")[0]):
                continue
            faults = [f"{name}:{number}:{error}" for name, count in counts_of(scenario).items()
                      for number in range(1, count + 1) for error in ERRORS[name]]
            if options.sample and len(faults) > options.sample:
                faults = [faults[i * len(faults) // options.sample] for i in range(options.sample)]
            for fault in faults:
                name = f"{scenario.name}:{fault}"
                if not name.startswith(options.only):
                    continue
                result = attempt(scenario, {"FAULT": fault})
                complaint = judge(scenario, *result)
                passed, failed = passed + (not complaint), failed + bool(complaint)
                if complaint:
                    print(f"FAILED {name}: {complaint} (status {result[0]})\n    " + "\n    ".join(result[1].splitlines()),
                          flush=True)
            print(f"{scenario.name}: {len(faults)} faults", flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
