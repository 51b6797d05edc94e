#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Each shipped rule finds in a recording what it finds live, as far as docs/recording.md says so.

usage: library-recorded.py ASTERISM RULES DOCS [PATTERN...]

Every script among the rules' tests is run once per kind of recording, observed by its rule while somebody else records it:
by default, or what `record @NAME` takes. A replay of the recording has to find the same. What the docs say needs
`record @NAME` is refused over a default recording.
Ends with `N passed, N failed, N skipped`: one case per script and kind of recording, and one per refusal.
"""

import contextlib
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile


def needing(docs):
    """The entries that the table in the docs says a default recording is not enough for."""
    text = open(os.path.join(docs, "recording.md")).read()
    rows = re.findall(r"^\| `record @NAME` \| (.*?) \|", text, re.M)
    return set(re.findall(r"@([a-z-]+)", rows[0]))


def is_meant(what, patterns):
    return any(fnmatch.fnmatch(what, pattern) for pattern in patterns)


def scripts(rules, patterns):
    for name in sorted(os.listdir(rules)):
        tests = os.path.join(rules, name, "tests")
        for file in sorted(os.listdir(tests) if os.path.isdir(tests) else []):
            if file.endswith(".sh") and is_meant(f"{name}/{file[:-3]}", patterns):
                yield name, os.path.join(tests, file[:-3])


def settings(test):
    try:
        with open(test + ".set") as file:
            lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    except FileNotFoundError:
        lines = []
    return [part for line in lines for part in ("--set", line)]


def matches(path):
    found = []
    for line in open(path):
        item = json.loads(line)
        if "match" in item and item["comm"] != "asterism":
            found.append(item)
        elif "by" in item and "asterism" not in item["by"].values():
            found.append(item)
    return found


# What a rule tells of processes beside its own: here the session that runs the rule is one of those that are recorded, for
# which the rule itself does not look.
BESIDE = {"real_time_period": ("; before it: .*", "[wtp][0-9]")}


def shape(match):
    """What is the same whoever's clock it was: all but times, which are numbers too large to be anything else."""
    text, names = BESIDE.get(match.get("match"), ("$^", "$^"))

    def plain(value):
        if isinstance(value, str):
            return re.sub(r"\d{4,}", "#", value)
        return "#" if isinstance(value, (int, float)) and abs(value) >= 1000 else value
    if "by" in match:  # of an aggregate its keys: the rest is times
        return json.dumps([match["aggregate"], [plain(value) for value in match["by"].values()]])
    values = {key: plain(value) for key, value in match.get("return", {}).items() if not re.fullmatch(names, key)}
    warning = plain(re.sub(text, "", match.get("warning", "")))
    return json.dumps([match["match"], match["tid"], warning, values], sort_keys=True)


def observe(asterism, name, test, chosen, folder):
    """Live matches, the trace, and what was said."""
    live, trace, work = (os.path.join(folder, part) for part in ("live", "trace", "work"))
    os.mkdir(work)
    environment = dict(os.environ, ASTERISM_TEST_FOLDER=os.path.dirname(os.path.dirname(test)))
    command = [asterism, "record", "-q", "--ring", "16M", "-o", trace, *chosen, "--", asterism, "run", "-q", "-f", "json",
               "-o", live, *settings(test), "@" + name, "--", test + ".sh"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          cwd=work, env=environment, timeout=180)
    return live, trace, done


def compare(asterism, name, test, live, trace, folder):
    """None, or what is wrong; and how much there was to find."""
    found = os.path.join(folder, "found")
    done = subprocess.run([asterism, "replay", "-q", "-f", "json", "-o", found, *settings(test), "@" + name, trace],
                          stderr=subprocess.PIPE, text=True, timeout=300)
    if done.returncode not in (0, 3):
        return f"replay ends with {done.returncode}: {done.stderr}", 0
    if "not recorded" in done.stderr:
        return done.stderr, 0
    there, here = sorted(map(shape, matches(live))), sorted(map(shape, matches(found)))
    if there != here:
        missing, extra = [m for m in there if m not in here], [m for m in here if m not in there]
        return f"{len(there)} live, {len(here)} replayed; only live: {missing[:3]}, only replayed: {extra[:3]}", len(there)
    return None, len(there)


def refuse(asterism, name):
    """None where a default recording is not enough for the entry, and a replay says so."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace")
        subprocess.run([asterism, "record", "-q", "-o", trace, "--", "true"], timeout=60, check=True)
        done = subprocess.run([asterism, "replay", "-q", "@" + name, trace], stderr=subprocess.PIPE, text=True, timeout=60)
    if done.returncode == 2 and "not recorded" in done.stderr:
        return None
    return f"docs/recording.md says that this needs record @{name}, but a replay of a default recording gives {done.returncode}"


def elsewhere(asterism, stack):
    """The session that runs the rule is recorded, too. Where it is itself a program in a folder for temporary files, it would
    be the one that such a rule means, so it runs as a copy in another folder."""
    if not asterism.startswith(("/tmp/", "/var/tmp/", "/dev/shm/")):
        return asterism
    return shutil.copy(asterism, stack.enter_context(tempfile.TemporaryDirectory(dir="/var/lib", prefix="asterism-test-")))


def check(asterism, name, test, kind):
    with tempfile.TemporaryDirectory() as folder:
        live, trace, done = observe(asterism, name, test, ["@" + name] if kind == "@" + name else [], folder)
        if "error: " in done.stderr or not os.path.exists(live) or not os.path.exists(trace):
            return f"nothing was observed: {done.returncode} {done.stderr[-500:]}", 0
        return compare(asterism, name, test, live, trace, folder)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    asterism, rules, docs = map(os.path.abspath, sys.argv[1:4])
    if os.geteuid() != 0:
        print("recording needs root\n0 passed, 0 failed, 1 skipped")
        return 0
    patterns = sys.argv[4:] or ["*"]
    need, found, passed, failed = needing(docs), {}, 0, 0

    def count(what, wrong):
        nonlocal passed, failed
        passed, failed = passed + (wrong is None), failed + (wrong is not None)
        if wrong:
            print(f"FAILED {what}: {wrong}", flush=True)

    with contextlib.ExitStack() as stack:
        asterism = elsewhere(asterism, stack)
        for name in sorted(need):
            if is_meant(name + "/", patterns):
                count(name, refuse(asterism, name))
        for name, test in scripts(rules, patterns):
            for kind in ["@" + name] + ["default"] * (name not in need):
                wrong, matches = check(asterism, name, test, kind)
                found[name] = found.get(name, 0) + matches
                count(f"{name}/{os.path.basename(test)}, {kind}", wrong)
    for name in found:
        count(name, None if found[name] else "none of its scripts has anything to find")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
