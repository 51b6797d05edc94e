# SPDX-License-Identifier: BSD-2-Clause
"""What texts say twice, and what files they name that are not there; for tools/lint."""

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


# Names that can only be those of files.
ENDING = r"\.(?:c|h|md|bats|py|sh|bash|build)"
NAME = re.compile(r"(?<![\w./$<>{}*=:@-])([\w*-]+(?:/[\w.*-]+)*/?)(?![\w*<>{}$/-])")


def comments(name, text):
    """What is text in a file: the page, or the comments of code."""
    if name.endswith(".md"):
        return re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    if name.endswith((".c", ".h")):
        return "\n".join(re.findall(r"/\*.*?\*/|//[^\n]*", text, re.S))
    return "\n".join(line for line in text.split("\n") if line.lstrip().startswith("#"))


def folders_above(name):
    """docs/formats/trace.md: docs/formats/, docs/"""
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name + "/"


class Tree:
    """What there is, and what of it a text may mean: a/b/c.c; a/b/c for c.c and c.h; a/b/c*.c; docs/internals/decisions/0003."""

    def __init__(self, files):
        self.folders = {folder for name in files for folder in folders_above(name)}
        self.words = {word for folder in self.folders for word in folder.split("/")}
        self.words.discard("asterism")  # <asterism/sensor.h> is put together when it is installed
        self.top = {folder.split("/")[0] for folder in self.folders}
        self.names = "\n" + "\n".join(sorted({*files, *self.folders})) + "\n"

    def is_path(self, name):
        """Whether it can only be meant to be one of these: docs/x is, and so is live/x.c, if some folder is called live."""
        first, slash, rest = name.partition("/")
        if not slash:
            return False
        return first in self.top and rest != "" or first in self.words and re.search(ENDING + "$", name)

    def has(self, name, source):
        """Seen from the top, from src/ or include/, or from a folder that the text is in."""
        pattern = re.escape(name.rstrip("/")).replace(r"\*", "[^/\n]*")
        ending = "\n" if re.search(ENDING + "$", name) else r"(?:[/\n.-])"
        starts = ["", "src/", "include/", *folders_above(source)]
        return any(re.search("\n" + re.escape(start) + pattern + ending, self.names) for start in starts)


def missing(sources, files):
    """Complaints of files and folders that comments and pages name, and that are not there."""
    tree, complaints, known = Tree(files), [], {}
    for source in sources:
        with open(source, errors="replace") as file:
            names = set(NAME.findall(comments(source, file.read())))
        for name in sorted(names):
            name = re.sub(r"[.,:-]+$", "", name)
            key = (name, source.rpartition("/")[0])
            if tree.is_path(name) and not known.setdefault(key, tree.has(name, source)):
                complaints.append(f"{source}: names {name}, which is not there")
    return complaints
