# SPDX-License-Identifier: BSD-2-Clause
"""What functions cost in truth: stacks that reach main, of which every call is one that the simulated run has made."""

import re

CUT = ("@", ".cold", ".part.", ".constprop.", ".isra.", ".localalias", ".lto_priv.")
VARIANT = re.compile(r"^__(.+?)_(?:sse|ssse|avx|evex|erms|fma|generic|rtm|ifunc).*$")


def canonical(name):
    """A name without versions, stubs, parts that the compiler has moved and variants for a processor."""
    for mark in CUT:
        name = name[:1] + name[1:].split(mark)[0]
    found = VARIANT.match(name)
    return found.group(1) if found else name


def read_stacks(text):
    """Lists of names, the innermost first, from the text of perf script -F ip,sym,dso."""
    stacks, stack = [], []
    for line in text.splitlines():
        found = re.match(r"\s+[0-9a-f]+ (.+) \((.*)\)$", line)
        if found:
            stack.append(canonical(found.group(1)))
        elif stack:
            stacks.append(stack)
            stack = []
    return stacks + ([stack] if stack else [])


def read_calls(path):
    """The (caller, callee) of a file of callgrind's, by canonical names."""
    names, calls, function, callee = {}, set(), None, None
    with open(path) as file:
        for line in file:
            found = re.match(r"(c?fn)=(?:\((\d+)\))? ?(.*)", line)
            if not found:
                continue
            kind, number, name = found.groups()
            if number:
                name = names.setdefault(number, name) if name else names[number]
            name = canonical(name.split("'")[0])
            if kind == "fn":
                function = name
            else:
                calls.add((function, name))
    return calls


def is_true(stack, calls):
    return all((caller, callee) in calls for callee, caller in zip(stack, stack[1:]))


def below_main(stack):
    """Up to main, or None."""
    return stack[:len(stack) - stack[::-1].index("main")] if "main" in stack else None


def inclusive(stacks):
    """{function: percent of the stacks that have it}"""
    shares = {}
    for stack in stacks:
        for name in set(stack):
            shares[name] = shares.get(name, 0) + 100 / len(stacks)
    return shares


def judge(stacks, calls):
    """Stacks that are true, and the percentages of all that miss main, or have a call that never was."""
    below = [below_main(stack) for stack in stacks]
    reached = [stack for stack in below if stack]
    kept = [stack for stack in reached if is_true(stack, calls)]
    count = len(stacks) or 1
    return kept, 100 * (count - len(reached)) / count, 100 * (len(reached) - len(kept)) / count
