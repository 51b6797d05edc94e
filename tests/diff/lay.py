# SPDX-License-Identifier: BSD-2-Clause
"""
Laying a pattern over the events taken so far. The events' roles - which element, in which round of each repeated
group around it - form a word; laid() walks the pattern tree along the word by plain backtracking and says what the
definitions allow next: the roles a further event may take, what is forbidden meanwhile, whether the pattern may
end here. No state is kept between words: everything is found anew from the tree (a cache only saves time).
"""

import itertools

from model import Alt, Neg, Seq, Spec, is_repeated


def groups_of(node):
    """The repeated groups around a node, outermost first."""
    out, node = [], node.parent
    while node is not None:
        if is_repeated(node):
            out.insert(0, node)
        node = node.parent
    return out


def possibly_empty(node):
    if isinstance(node, Spec):
        return False
    if isinstance(node, Neg):
        return True
    if node.low == 0:
        return True
    test = all if isinstance(node, Seq) else any
    return test(possibly_empty(c) for c in node.children)


def first_specs(node):
    """The elements that may come first in a structure."""
    if isinstance(node, Spec):
        return [node]
    if isinstance(node, Neg):
        return []
    out = []
    for child in node.children:
        out += first_specs(child)
        if isinstance(node, Seq) and not possibly_empty(child):
            break
    return out


class Word:
    """What is known of one word."""

    def __init__(self):
        self.next = []  # (priority, spec, role): what the next event may become; smaller priority wins
        self.overflow = []  # (spec, role): an event that fits one is one more than a full array or group holds
        self.forbidden = {}  # negation -> number of events taken before it came into force
        self.ends = []  # for each way to end here: the negations that trail it


class Pattern:
    """A repeated group is its round written as often: what may follow and what closes are asked of one round each."""

    def __init__(self, rule):
        self.rule = rule
        self.words = {}
        self.closing = {}

    # -- closing (settled meaning 6). A path has the number of the round, from 0, of every repeated group around a node.

    def most(self, node, path):
        """How many rounds a group can have: one that closes early never exceeds its minimum."""
        return node.low if self.eager(node, path) else node.high

    def paths(self, node):
        """A path for each way in which the rounds around a node can differ in what may follow it."""
        out = [()]
        for group in groups_of(node):
            differing = {0, group.low - 1, group.low, (group.high or 1) - 1}
            out = [p + (r,) for p in out for r in differing if r == 0 or 0 < r < (self.most(group, p) or r + 1)]
        return out

    def followers(self, node, path):
        """The positive elements that may come right after node is closed."""
        out, parent = [], node.parent
        while parent is not None:
            if isinstance(parent, Seq):
                for sibling in parent.children[node.index + 1:]:
                    out += first_specs(sibling)
                    if not isinstance(sibling, Neg) and not possibly_empty(sibling):
                        return out
            if is_repeated(parent):
                path, done = path[:-1], path[-1] + 1
                most = self.most(parent, path)
                if most is None or done < most:
                    out += first_specs(parent)
                if done < parent.low:
                    return out
            node, parent = parent, parent.parent
        return out

    def eager(self, node, path):
        """Does the array or group close as soon as its count may?"""
        if (node, path) not in self.closing:
            after = self.followers(node, path)
            kinds = {s.type for s in first_specs(node)}
            self.closing[node, path] = not after or any(f.type in kinds and not self.rule.guards(f) for f in after)
        return self.closing[node, path]

    # -- walking

    def laid(self, word, node=None, path=()):
        """What the words of the whole pattern, or of one structure in the given rounds, allow next."""
        node = node or self.rule.pattern
        key = node, word, path
        if key not in self.words:
            result = Word()
            for out in self.walk(node, word, 0, 0, path, ()):
                what = out[0]
                if what == "end" and out[1] == len(word):
                    result.ends.append(out[4])
                elif what == "next":
                    result.next.append((out[3], out[1], (out[1].id, out[2])))
                elif what == "over":
                    result.overflow.append((out[1], (out[1].id, out[2])))
                elif what == "forbid":
                    result.forbidden[out[1]] = min(out[2], result.forbidden.get(out[1], out[2]))
            self.words[key] = result
        return self.words[key]

    # Every walk yields ("end", i, early, priority, trail): the node is laid over word[..i), and might have ended at
    # `early` events already (an array or group beyond its minimum); or, with the word used up, what may follow, and
    # ("within", early) where the node has begun a further round and might have ended at `early` events.

    def walk(self, node, word, i, early, path, priority):
        if isinstance(node, Spec):
            yield from self.walk_spec(node, word, i, path, priority)
        elif is_repeated(node):
            yield from self.walk_rounds(node, word, (0, i, early, ()), path, priority)
        else:
            yield from self.walk_body(node, word, i, early, path, priority)

    def walk_spec(self, spec, word, i, path, priority):
        role = (spec.id, path)
        count = 0
        while i + count < len(word) and word[i + count] == role and (spec.is_array or count == 0):
            count += 1
        rest = i + count < len(word)
        if not spec.is_array:
            if count:
                yield "end", i + 1, i + 1, priority, ()
            elif not rest:
                yield "next", spec, path, priority
            return
        high = spec.low if self.eager(spec, path) else spec.high
        if count >= spec.low:
            yield "end", i + count, i + spec.low, priority + (0,), ()
        if rest:
            return
        if high is None or count < high:
            yield "next", spec, path, priority + (1,)
        elif not self.eager(spec, path):
            yield "over", spec, path

    def walk_body(self, node, word, i, early, path, priority):
        if isinstance(node, Alt):
            for child in node.children:
                yield from self.walk(child, word, i, early, path, priority)
        else:
            yield from self.walk_sequence(node.children, word, (i, early, ()), path, priority)

    def walk_sequence(self, children, word, at, path, priority):
        i, early, trail = at
        if not children:
            yield "end", i, early, priority, trail
            return
        child, rest = children[0], children[1:]
        if isinstance(child, Neg):
            if i == len(word):
                yield "forbid", child, early
                trail += (child,)
            yield from self.walk_sequence(rest, word, (i, early, trail), path, priority)
            return
        for out in self.walk(child, word, i, early, path, priority):
            if out[0] == "within":
                yield from self.walk_within(rest, out[1])
                continue
            if out[0] != "end":
                yield out
                continue
            _, j, child_early, child_priority, child_trail = out
            then = (j, child_early, child_trail) if j > i else (i, early, trail + child_trail)
            yield from self.walk_sequence(rest, word, then, path, child_priority)

    @staticmethod
    def walk_within(rest, early):
        """What of a sequence is in force while a structure before `rest` has a further round."""
        negations = list(itertools.takewhile(lambda c: isinstance(c, Neg), rest))
        yield from (("forbid", n, early) for n in negations)
        if all(map(possibly_empty, rest)):
            yield "within", early

    def walk_rounds(self, node, word, at, path, priority):
        """at: rounds done, events used, where the group might have ended, trail."""
        rounds, i, early, trail = at
        most = self.most(node, path)
        if rounds >= node.low:
            yield "end", i, early, priority + (0,), trail
        if most is not None and rounds >= most:
            if i == len(word) and not self.eager(node, path):
                for spec in first_specs(node):
                    deeper = len(groups_of(spec)) - len(path) - 1
                    yield "over", spec, path + (rounds,) + (0,) * deeper
            return
        for out in self.walk_body(node, word, i, early, path + (rounds,), priority + (1,)):
            if out[0] == "end":
                _, j, round_early, round_priority, round_trail = out
                if j > i:
                    then = (rounds + 1, j, early if rounds >= node.low else round_early, round_trail)
                    yield from self.walk_rounds(node, word, then, path, round_priority)
            elif out[0] != "within":
                yield out
                if rounds >= node.low and i < len(word):
                    yield "within", early
            elif rounds + 1 >= node.low:
                yield "within", early if rounds >= node.low else out[1]
