#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every entry of the shipped library loads in the running kernel, and its rules stay there.

usage: shipped.py ASTERISM

One that a kernel refuses is skipped only where the message names what is missing: the Linux that has it, or that no
kernel raises its events. Whether the rules find what they should is for their own tests (docs/rule-tests.md). Writes TAP.
"""

import json
import os
import re
import subprocess
import sys

PATIENCE = int(os.environ.get("ASTERISM_TEST_PATIENCE", "1"))
LOST = 3  # it ran, and events were lost: whether that may be is for the rule's own tests
ELSEWHERE = re.compile(r".*(?:Linux \d+\.\d+|the kernel does not raise it).*")


def entries(asterism):
    said = subprocess.run([asterism, "rules", "-f", "json"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [json.loads(line)["name"] for line in said.splitlines()]


def load(asterism, name):
    """(status, messages) of a session with the entry's rules that observes next to nothing."""
    try:
        done = subprocess.run([asterism, "run", "-v", "--allow-actions", "@" + name, "--", "true"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=30 * PATIENCE)
    except subprocess.TimeoutExpired:
        return None, f"does not end within {30 * PATIENCE} s"
    return done.returncode, done.stderr


def main():
    asterism = sys.argv[1]
    names = entries(asterism)
    print(f"1..{len(names)}")
    failed = not names
    for number, name in enumerate(names, 1):
        status, said = load(asterism, name)
        refused = status in (2, 4) and ELSEWHERE.search(said)
        good = status in (0, LOST) and "note: observing" in said and "runs in user space" not in said
        failed |= not good and not refused
        print(f"{'ok' if good or refused else 'not ok'} {number} - {name}" + (f" # SKIP {refused.group()}" if refused else ""))
        if not good and not refused:
            print(f"# status {status}\n" + "".join(f"# {line}\n" for line in said.splitlines()), end="")
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
