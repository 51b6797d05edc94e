#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""exposition.py FILE: checks Prometheus' text format 0.0.4 line by line; prints the samples' names and values."""

import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABELS = r'\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*"(?:,(?!\})|(?=\})))*\}'
types, seen, done, last = {}, set(), set(), None
with open(sys.argv[1], encoding="utf-8", newline="\n") as file:
    text = file.read()
assert text.endswith("\n")
for line in text[:-1].split("\n"):
    if match := re.fullmatch(rf"# HELP ({NAME}) .+", line):
        last = match.group(1)
        assert last not in types, line
    elif match := re.fullmatch(rf"# TYPE ({NAME}) (counter|gauge|histogram)", line):
        assert match.group(1) == last, line
        types[last] = match.group(2)
    else:
        match = re.fullmatch(rf"({NAME})({LABELS})? (-?[0-9.e+-]+|\+Inf|NaN)", line)
        assert match, line
        name = re.sub("_(bucket|count|sum)$", "", match.group(1)) if types.get(last) == "histogram" else match.group(1)
        assert name == last, f"{line} stands under {last}"
        assert line.rsplit(" ", 1)[0] not in seen, line
        seen.add(line.rsplit(" ", 1)[0])
        assert types[last] != "counter" or last.endswith("_total"), last
        assert float(match.group(3)) >= 0, line
        print(match.group(1), match.group(3))
