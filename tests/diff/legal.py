# SPDX-License-Identifier: BSD-2-Clause
"""
Which rules the compiler must reject (settled meaning 3, 5, 6, 8 and 13). verdict() says "accept", "reject" or
"unclear" with a reason; unclear rules are those on whose legality the language page can be read both ways, and the
generator leaves them out.
"""

from lay import Pattern, first_specs, groups_of, possibly_empty
from model import Alt, Field, Func, Neg, Seq, Spec, children_of, is_repeated, leaves, walk_nodes
from values import KINDS


class Verdict(Exception):
    def __init__(self, word, reason):
        super().__init__(word, reason)
        self.word, self.reason = word, reason


def reject(reason):
    raise Verdict("reject", reason)


def unclear(reason):
    raise Verdict("unclear", reason)


def siblings(node):
    return node.parent.children if node.parent else [node]


def begins_with_negation(node):
    if isinstance(node, Neg):
        return True
    if isinstance(node, Seq):
        return begins_with_negation(node.children[0])
    return isinstance(node, Alt) and any(begins_with_negation(c) for c in node.children)


def ends_with_negation(node):
    if isinstance(node, Neg):
        return True
    if isinstance(node, Seq):
        return ends_with_negation(node.children[-1])
    return isinstance(node, Alt) and any(ends_with_negation(c) for c in node.children)


def begins_possibly_empty(node):
    if possibly_empty(node):
        return True
    parts = children_of(node)
    return any(map(begins_possibly_empty, parts if isinstance(node, Alt) else parts[:1]))


def ends_possibly_empty(node):
    if possibly_empty(node) and not isinstance(node, Neg):
        return True
    parts = [c for c in children_of(node) if not isinstance(c, Neg)]
    return any(map(ends_possibly_empty, parts if isinstance(node, Alt) else parts[-1:]))


def check_lengths(root):
    for node in walk_nodes(root):
        if isinstance(node, Spec) and (node.low < 1 or node.high is not None and node.high < node.low):
            reject("an array's bounds are empty")
        if is_repeated(node):
            if node.high is not None and node.high < max(node.low, 1):
                unclear("a group that never occurs")
            if any(possibly_empty(c) for c in ([node.children[0]] if isinstance(node, Seq) else node.children)):
                unclear("a repeated group whose round is possibly empty or begins with something possibly empty")
        if isinstance(node, Alt) and any(possibly_empty(c) for c in node.children):
            unclear("a branch that is possibly empty")
    first = root
    while not isinstance(first, Spec):
        if possibly_empty(first):
            reject("the first element is possibly empty")
        first = children_of(first)[0]


def check_negation_shape(negation):
    for node in walk_nodes(negation.child):
        if isinstance(node, Neg):
            reject("double negation")
        if isinstance(node, Spec) and node.is_array:
            reject("a negated array")
        if is_repeated(node):
            unclear("a repeat under a negation")


def check_negations(rule, pattern):
    root = rule.pattern
    if begins_with_negation(root):
        reject("the pattern begins with a negation")
    for node in walk_nodes(root):
        if isinstance(node, Alt) and any(begins_with_negation(c) for c in node.children):
            reject("a branch begins with a negation")
        if isinstance(node, Neg):
            check_negation_shape(node)
            check_neighbours(node)
            check_followers(rule, pattern, node)
    if ends_with_negation(root):
        if rule.within_ns is None:
            reject("a pattern that ends in a negation needs WITHIN")
        check_trailing(pattern, root)


def check_trailing(pattern, root):
    for node in walk_nodes(root):
        if is_repeated(node) and not any(isinstance(p, Neg) for p in chain(node)):
            if not all(pattern.followers(node, path) for path in pattern.paths(node)):
                unclear("a pattern that ends in a repeated group and a negation")


def chain(node):
    while node is not None:
        yield node
        node = node.parent


def check_neighbours(negation):
    around = siblings(negation)
    if not isinstance(negation.parent, Seq):
        reject("a negation alone")
    before = [s for s in around[:negation.index] if not isinstance(s, Neg)]
    after = [s for s in around[negation.index + 1:] if not isinstance(s, Neg)]
    if not before:
        unclear("an inner sequence that begins with a negation")
    if possibly_empty(before[-1]) or after and possibly_empty(after[0]):
        reject("a neighbour of a negation is possibly empty")
    if ends_possibly_empty(before[-1]) or after and begins_possibly_empty(after[0]):
        unclear("a neighbour of a negation whose end beside it is possibly empty")
    node = negation
    while not after and node.parent is not None:
        node = node.parent
        if isinstance(node.parent, Seq):
            after = [s for s in siblings(node)[node.index + 1:] if not isinstance(s, Neg)]
            if after and possibly_empty(after[0]):
                unclear("a possibly empty structure after a sequence that ends in a negation")


def check_followers(rule, pattern, negation):
    conditioned = {c.id for c in rule.conditions if c.kind == "negated"}
    child = negation.child
    if isinstance(child, Seq):
        return
    specs = [child] if isinstance(child, Spec) else [c for c in child.children if isinstance(c, Spec)]
    hard = {s.type for s in specs if s.id not in conditioned}
    after = [f for path in pattern.paths(negation) for f in pattern.followers(negation, path)]
    if after and all(f.type in hard for f in after):
        reject("every follower is forbidden unconditionally")


def check_ambiguity(rule, pattern):
    for node in walk_nodes(rule.pattern):
        if not isinstance(node, Alt) or any(isinstance(p, Neg) for p in chain(node)):
            continue
        if any(0 in most(pattern, g) for g in chain(node) if is_repeated(g)):
            unclear("an alternative in a group that never occurs")
        for i, a in enumerate(node.children):
            for b in node.children[i + 1:]:
                check_pair(rule, pattern, a, b)
        check_counted(pattern, node)


def most(pattern, group):
    """How often a group may occur, in each round of those around it."""
    return {pattern.most(group, path) for path in pattern.paths(group)}


def check_counted(pattern, node):
    """A limit of the compiler: it does not determinise a shared first event right after or inside a counted round."""
    firsts = [s.type for c in node.children for s in first_specs(c)]
    if len(set(firsts)) == len(firsts):
        return
    if any(is_repeated(g) and any((n or g.low) > 1 for n in most(pattern, g)) for g in chain(node)):
        unclear("branches that share their first event, in a counted group")
    if any(ends_counted(n) for n in before(node)):
        unclear("branches that share their first event, right after something counted")


def before(node):
    """The structures that may end right before a node."""
    out = []
    for inner in chain(node):
        if isinstance(inner.parent, Seq):
            for sibling in reversed(siblings(inner)[: inner.index]):
                out.append(sibling)
                if not possibly_empty(sibling):
                    return out
    return out


def ends_counted(node):
    if isinstance(node, Neg):
        return False
    if (isinstance(node, Spec) or is_repeated(node)) and node.low > 1:
        return True
    parts = [c for c in children_of(node) if not isinstance(c, Neg)]
    return any(map(ends_counted, parts if isinstance(node, Alt) else parts[-1:]))


def check_pair(rule, pattern, a, b):
    """Walks both branches along every event they share."""
    todo = [((), (), path) for path in pattern.paths(a)]
    while todo:
        left, right, path = todo.pop()
        x, y = pattern.laid(left, a, path), pattern.laid(right, b, path)
        if left and (x.ends or y.ends):
            reject("a branch is the beginning of another, or equal to it")
        if any(not isinstance(n.child, Spec) for n in [*x.forbidden, *y.forbidden]):
            unclear("a negated sequence or alternative directly after an event that branches share")
        for priority, s, role in x.next:
            for other_priority, t, other in y.next:
                if s.type != t.type:
                    continue
                if any(is_marked(rule, spec) for spec in (s, t)) or priority or other_priority:
                    reject("branches begin with the same event, and it has a name, length or guard")
                todo.append((left + (role,), right + (other,), path))


def is_marked(rule, spec):
    return spec.name or spec.is_array or rule.guards(spec)


def check_conditions(rule):
    for c in rule.conditions:
        if not c.ids:
            unclear("a condition that names no event")
        negated = [i for i in c.ids if rule.specs[i].negated]
        if len(negated) > 1:
            reject("a condition between negated elements")
        if negated and c.ids[-1] > negated[0]:
            reject("a condition between a negated and a later event")
        named = [x for x in leaves(c.expr) if isinstance(x, (Field, Func))]
        if any(isinstance(x, Func) and not rule.by_name[x.name].is_array for x in named):
            reject("an array function of a single event")
        for x in named:
            if isinstance(x, Field) and rule.by_name[x.name].is_array and (
                    len(c.ids) > 1 or any(isinstance(o, Func) for o in named)):
                reject("a plain field of an array in a condition with another event")
        if any(in_other_branches(rule.specs[i], rule.specs[j]) for i in c.ids for j in c.ids if i < j):
            unclear("names of different branches in a repeated group")
        if len({groups_of(rule.specs[i])[-1] if groups_of(rule.specs[i]) else None for i in c.ids}) > 1:
            unclear("a name inside a repeated group together with one outside")
    for expr, _, _ in rule.returns if isinstance(rule.returns, list) else []:
        for x in leaves(expr):
            if isinstance(x, (Field, Func)):
                check_returned(rule, x)


def in_other_branches(a, b):
    """Do two elements of one repeated group exclude each other in every round?"""
    above = list(chain(b))
    meet = next(n for n in chain(a) if n in above)
    return isinstance(meet, Alt) and any(is_repeated(n) for n in chain(meet))


def check_returned(rule, leaf):
    spec = rule.by_name[leaf.name]
    if spec.negated or groups_of(spec):
        reject("a returned value of a negated element or of one inside a repeated group")
    if isinstance(leaf, Field) == spec.is_array:
        reject("a returned plain field of an array, or an array function of a single event")


def check_fields(rule):
    for f in rule.joins:
        if any(rule.field_type(s.type, f) is None for s in rule.specs):
            reject("a join field that a type of the pattern lacks")
    check_partition(rule)
    if isinstance(rule.over, list) and not {s.type for s in rule.specs} <= set(rule.over):
        reject("OVER lacks a type of the pattern")


def check_partition(rule):
    """Where the joins are the key: what is unsigned in one type and signed in another is none."""
    strict = rule.kind_is() == "STRICTPARTITION"
    if not strict and (not rule.drop or rule.kind_is() == "STRICTSEQUENCE"):
        return
    used = {s.type for s in rule.specs}
    if strict and isinstance(rule.over, list):
        used.update(rule.over)
    for f in rule.joins:
        if len(kinds_of(rule, f, used)) > 1:
            reject("a partition by what is signed and unsigned")
        if rule.over == "*" and strict and len(kinds_of(rule, f, rule.types)) > 1:
            unclear("an event of the stream whose join field has another sign")


def kinds_of(rule, field_name, types):
    found = (rule.field_type(t, field_name) for t in types)
    return {KINDS.get(t, "i") for t in found if t}


def check_pool(rule):
    """LATEST and PER KEY go by what the next event must equal, which the oracle knows of plain sequences."""
    if rule.latest and rule.per_key:
        reject("PER KEY under LATEST")
    if rule.per_process and rule.kind_is() == "SKIPTILLANY":
        reject("PER PROCESS under SKIPTILLANY")
    if rule.latest and rule.kind_is() == "SKIPTILLANY":
        reject("LATEST under SKIPTILLANY")
    if rule.latest and rule.returns == "SEQUENCE":
        reject("LATEST with RETURN SEQUENCE")
    if rule.latest and any(is_repeated(n) or isinstance(n, Spec) and n.is_array for n in walk_nodes(rule.pattern)):
        reject("LATEST with an array or a repeat")
    if (rule.latest or rule.per_key) and not (rule.is_plain() and len(rule.specs) > 1):
        unclear("LATEST or PER KEY, and no plain sequence")
    if rule.per_key and not rule.joins and not rule.demanded(rule.specs[1]):
        reject("PER KEY without a key")


def verdict(rule):
    """("accept" | "reject" | "unclear", reason)"""
    try:
        check_lengths(rule.pattern)
        check_fields(rule)
        check_conditions(rule)
        pattern = Pattern(rule)
        check_negations(rule, pattern)
        check_ambiguity(rule, pattern)
        check_pool(rule)
    except Verdict as found:
        return found.word, found.reason
    return "accept", ""
