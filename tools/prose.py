# SPDX-License-Identifier: BSD-2-Clause
"""What texts say twice, for tools/lint."""

import collections
import re

# Shorter ones may be meant to be alike.
PARAGRAPH = 120


def paragraphs(text):
    """(line, words) of each paragraph; code and lists aside, as an item may belong to two entries of a reference."""

    def blank(match):
        return "\n" * match.group(0).count("\n")

    text, line = re.sub(r"^(?:```.*?^```|\s*[-*] [^\n]*)", blank, text, flags=re.S | re.M), 1
    for part in re.split(r"(\n\s*\n|\n(?=[#|]))", text):
        if part.strip():
            yield line, " ".join(part.split())
        line += part.count("\n")


def repeated(files):
    """Complaints of paragraphs that stand somewhere else, too."""
    places = collections.defaultdict(list)
    for name in files:
        with open(name) as file:
            for line, words in paragraphs(file.read()):
                if len(words) >= PARAGRAPH:
                    places[words].append(f"{name}:{line}")
    return [f"{where[0]}: stands in {', '.join(where[1:])}, too: {words[:60]}..."
            for words, where in places.items() if len(where) > 1]
