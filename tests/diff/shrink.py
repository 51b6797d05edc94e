# SPDX-License-Identifier: BSD-2-Clause
"""Makes a failing case small: drops events, conditions, modifiers and parts of the pattern while it still fails."""

import legal
import ruletext
from model import Alt, Bin, Const, Join, Neg, Seq, Spec, leaves, walk_nodes


def pattern_edits(rule):
    """Functions that each make one part of the pattern simpler."""
    def drop(node, i):
        return lambda: node.children.pop(i)

    def put(node, name, value):
        return lambda: setattr(node, name, value)

    for node in list(walk_nodes(rule.pattern)):
        if isinstance(node, (Seq, Alt)):
            least = 1 if isinstance(node, Seq) else 2
            if len(node.children) > least:
                yield from (drop(node, i) for i in range(len(node.children)))
            if node.repeat:
                yield lambda n=node: (setattr(n, "repeat", ""), setattr(n, "low", 1), setattr(n, "high", 1))
        if isinstance(node, Alt):
            yield from (lambda n=node, c=c: replace(rule, n, c) for c in node.children)
        if isinstance(node, Neg) and isinstance(node.child, (Seq, Alt)):
            yield from (put(node, "child", c) for c in node.child.children)
        if isinstance(node, Spec):
            if node.length:
                yield lambda n=node: (setattr(n, "length", None), setattr(n, "low", 1), setattr(n, "high", 1))
            if node.name:
                yield put(node, "name", None)


def replace(rule, node, other):
    if node.parent is None:
        rule.pattern = other
    elif isinstance(node.parent, Neg):
        node.parent.child = other
    else:
        node.parent.children[node.index] = other


def other_edits(rule):
    for i, c in enumerate(rule.where):
        yield lambda i=i: rule.where.pop(i)
        if not isinstance(c, Join) and isinstance(c, Bin) and c.op in ("AND", "OR"):
            yield lambda i=i, c=c: rule.where.__setitem__(i, c.left)
            yield lambda i=i, c=c: rule.where.__setitem__(i, c.right)
    if rule.within:
        yield lambda: (setattr(rule, "within", None), setattr(rule, "within_ns", None))
    if rule.over:
        yield lambda: setattr(rule, "over", None)
    if rule.drop:
        yield lambda: setattr(rule, "drop", False)
    for name, plain in (("latest", False), ("per_key", None), ("per_process", None), ("full", None), ("severity", None), ("loss", None)):
        if getattr(rule, name):
            yield lambda name=name, plain=plain: setattr(rule, name, plain)
    if rule.pool and not rule.per_key and not rule.per_process and not rule.full:
        yield lambda: setattr(rule, "pool", None)
    for i in range(len(rule.excepts)):
        yield lambda i=i: rule.excepts.pop(i)
    if rule.returns != "SEQUENCE":
        yield lambda: setattr(rule, "returns", "SEQUENCE")
    elif rule.returns:
        yield lambda: setattr(rule, "returns", None)


def forget_lost_names(rule):
    """Drops what names an element that an edit has removed."""
    names = {n.name for n in walk_nodes(rule.pattern) if isinstance(n, Spec)}

    def known(expr):
        return all(isinstance(x, Const) or x.name in names for x in leaves(expr))

    rule.where = [c for c in rule.where if isinstance(c, Join) or known(c)]
    rule.excepts = [e for e in rule.excepts if known(e)]
    if isinstance(rule.returns, list):
        rule.returns = [r for r in rule.returns if known(r[0])] or None


def simpler_rules(text):
    """Texts of all rules that are one edit simpler."""
    number = 0
    while True:
        types, (rule,) = ruletext.parse(text)
        edits = list(other_edits(rule)) + list(pattern_edits(rule))
        if number >= len(edits):
            return
        edits[number]()
        number += 1
        forget_lost_names(rule)
        new = ruletext.print_types(types) + ruletext.print_rule(rule)
        try:
            _, (parsed,) = ruletext.parse(new)
            if new != text and legal.verdict(parsed)[0] == "accept":
                yield new
        except (KeyError, IndexError, SyntaxError):
            continue


def simpler_streams(events):
    for size in (8, 4, 2, 1):
        for at in range(0, len(events), size):
            if size < len(events):
                yield events[:at] + events[at + size:]


def shrink(text, events, fails, budget=300):
    """fails(text, events) tells whether a case still fails. Returns the smallest found (text, events)."""
    progress = True
    while progress and budget > 0:
        progress = False
        for candidate in simpler_streams(events):
            budget -= 1
            if budget > 0 and candidate and fails(text, candidate):
                events, progress = candidate, True
                break
        if progress:
            continue
        for candidate in simpler_rules(text):
            budget -= 1
            if budget > 0 and fails(candidate, events):
                text, progress = candidate, True
                break
    return text, events
