#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The sessions that a page shows: what is typed, and whether what comes out looks like what the page shows.

usage: session.py commands PAGE HEADING         the commands, one a line
       session.py compare PAGE HEADING OUTPUT   each line that the page shows must be in OUTPUT (a file)
       session.py other PAGE HEADING PROGRAM    the first command of PROGRAM among the blocks that are no sessions

A session is a code block that begins with `$ `; each such line is a command, and lines with `> ` behind it belong to it. HEADING is the beginning of the section's
heading, without the #. Lines are compared without their numbers, times, bars and blanks, a host's name is any, and
a busy machine may have more keys than are shown; `[...]` stands for lines that are left out.
"""

import re
import sys

TYPED = ("$ ", "> ")
UNITS = r"(?: ?(?:ns|us|ms|min|s|B|KiB|MiB|GiB)\b)?"
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:0x[0-9a-f]+|\d(?:[\d.,:TZ+-]|e[-+])*)" + UNITS)
CUT = re.compile(r", the first \d+$")
HOST = re.compile(r"^(\d{4}-\d\d-\d\dT\S+) +\S+")


def section(page, heading):
    with open(page, encoding="utf-8") as file:
        parts = re.split(r"^#+ +", file.read(), flags=re.M)
    found = [part for part in parts if part.startswith(heading)]
    if len(found) != 1:
        sys.exit(f"{page}: {len(found)} sections begin with '{heading}'")
    return found[0]


def sessions(page, heading):
    blocks = re.findall(r"^```\n(.*?)^```$", section(page, heading), flags=re.M | re.S)
    return [block.splitlines() for block in blocks if block.startswith("$ ")]


def shape(line):
    line = CUT.sub("", HOST.sub(r"\1 HOST", line.rstrip()))
    return re.sub(r"[# ]+", " ", NUMBER.sub("#", line)).strip()


def other(page, heading, program):
    blocks = re.findall(r"^```\n(.*?)^```$", section(page, heading), flags=re.M | re.S)
    lines = [line for block in blocks if not block.startswith("$ ") for line in block.splitlines()]
    starts = [i for i, line in enumerate(lines) if line.startswith(program + " ")]
    if not starts:
        sys.exit(f"{page}: '{heading}' has no line of {program}")
    end = next((i for i in range(starts[0] + 1, len(lines)) if not lines[i].startswith(" ")), len(lines))
    print("\n".join(lines[starts[0]:end]))


def commands(page, heading):
    found = [line[2:] for lines in sessions(page, heading) for line in lines if line.startswith(TYPED)]
    if not found:
        sys.exit(f"{page}: '{heading}' has no command")
    print("\n".join(found))


def compare(page, heading, output):
    with open(output, encoding="utf-8", errors="replace") as file:
        there = {shape(line) for line in file}
    missing = [line for lines in sessions(page, heading) for line in lines
               if line and not line.startswith(TYPED) and line != "[...]" and shape(line) not in there]
    for line in missing:
        print(f"{page}: '{heading}': no line looks like\n  {line}\n  {shape(line)}")
    if missing:
        sys.exit("what there was:\n" + "\n".join(sorted(there)))


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "commands":
        commands(*sys.argv[2:])
    elif len(sys.argv) == 5 and sys.argv[1] == "compare":
        compare(*sys.argv[2:])
    elif len(sys.argv) == 5 and sys.argv[1] == "other":
        other(*sys.argv[2:])
    else:
        sys.exit(__doc__)
