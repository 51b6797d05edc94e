# SPDX-License-Identifier: BSD-2-Clause
"""
The oracle: all matches of a rule over a stream, enumerated from the definitions of the language page. For every
event that fits the first element it follows the ways in which later events can be laid over the pattern (lay.py)
and judges every event in between: forbidden, taken, rightly passed over, or the run's end. Runs know nothing of each
other; AFTER MATCH DROP is applied afterwards, on the list of candidate matches in order of time. Slow on purpose.

Usage: oracle.py RULE-FILE EVENTS.jsonl
"""

import json
import sys

import ruletext
from lay import Pattern, groups_of
from model import Func, Seq, Spec, event_value, leaves
from pool import Pool
from values import KINDS, DivisionByZero, evaluate, holds

LAST = float("inf")  # in a creation order: after every run that was there


class TooMany(Exception):
    """More partial matches than the oracle cares to follow."""


class Partial:
    """Events taken so far (positions in the input) and the words of roles that explain them."""

    def __init__(self, positions, words):
        self.positions = positions
        self.words = words


class Env:
    """Values of the elements as seen at one role; `before` hides events from that position on."""

    def __init__(self, oracle, word, positions, viewer, before=None):
        self.oracle, self.rule, self.word, self.positions = oracle, oracle.rule, word, positions
        self.viewer, self.before = viewer, before

    def bound(self, spec):
        """Indices of the events of an element, in its latest round, if the viewer shares that round."""
        path = None
        for spec_id, p in self.word:
            if spec_id == spec.id:
                path = p
        if path is None or not self.oracle.same_round(spec.id, path, self.viewer):
            return []
        return [
            i for i, role in enumerate(self.word)
            if role == (spec.id, path) and (self.before is None or self.positions[i] < self.before)
        ]

    def single(self, name, field):
        spec = self.rule.by_name[name]
        found = self.bound(spec)
        if not found:
            kind = KINDS.get(self.rule.field_type(spec.type, field), "i")
            return {"s": "", "f": 0.0, "b": False}.get(kind, 0)
        return event_value(self.oracle.events[self.positions[found[-1]]], field)

    def array(self, name, field):
        found = self.bound(self.rule.by_name[name])
        if field is None:
            return found
        return [event_value(self.oracle.events[self.positions[i]], field) for i in found]


class Event:
    """The values of one event alone, for guards; elements of `env` may be named besides."""

    def __init__(self, name, event, env=None):
        self.name, self.event, self.env = name, event, env

    def single(self, name, field):
        return event_value(self.event, field) if name == self.name else self.env.single(name, field)

    def array(self, name, field):
        return self.env.array(name, field)


class Match:
    def __init__(self, oracle, partial, deadline=None):
        positions = partial.positions
        self.word, self.positions, self.tainted = min(partial.words), positions, False
        self.opened = positions[0]
        skip_any = oracle.semantics == "SKIPTILLANY"
        self.order = (tuple(reversed(positions)) if skip_any else (positions[0],)) + (LAST,)
        self.key = oracle.key_of(oracle.events[positions[0]])
        self.last = oracle.events[positions[-1]]
        if deadline is None:
            self.moment, self.ts = (positions[-1], 1, 0), event_value(self.last, "ts")
        else:
            self.moment, self.ts = (oracle.first_after(deadline), 0, deadline), deadline


class Oracle:
    def __init__(self, rule, events, limit=4000):
        self.rule, self.events, self.limit = rule, events, limit
        self.semantics = rule.kind_is()
        self.pattern = Pattern(rule)
        self.groups = {s.id: groups_of(s) for s in rule.specs}
        types = rule.stream_types()
        self.stream = [i for i, e in enumerate(events) if types is None or e["event"] in types]
        self.relations = [c for c in rule.conditions if c.kind == "relation"]
        self.takings = []  # (position, first event): every copy made under SKIPTILLANY
        self.openings = self.refused = self.replaced = 0
        self.candidates = []

    # -- small definitions

    def same_round(self, spec_id, path, viewer):
        """Does the viewer (a role) stand in the same round of every group that it shares with the element?"""
        viewer_id, viewer_path = viewer
        if viewer_id is None:
            return True
        for depth, (a, b) in enumerate(zip(self.groups[spec_id], self.groups[viewer_id])):
            if a is not b:
                break
            if path[depth] != viewer_path[depth]:
                return False
        return True

    def key_of(self, event):
        return tuple(event_value(event, f) for f in self.rule.joins)

    def has_joins(self, event):
        return all(self.rule.field_type(event["event"], f) for f in self.rule.joins)

    def joins(self, event, first):
        return self.has_joins(event) and self.key_of(event) == self.key_of(first)

    def first_after(self, deadline):
        """Position of the first event of the whole input that lets the time run out; None without one."""
        for i, event in enumerate(self.events):
            if event_value(event, "ts") > deadline:
                return i
        return None

    def deadline(self, partial):
        first = event_value(self.events[partial.positions[0]], "ts")
        return None if self.rule.within_ns is None else first + self.rule.within_ns

    # -- does an event fit an element?

    def fits(self, spec, role, event, first, partial, word):
        """Type, join fields, guards (4a) and correlations (4b)."""
        if event["event"] != spec.type or not self.joins(event, first):
            return False
        env = Env(self, word, partial.positions if partial else (), role)
        values = Event(spec.name, event, env)
        for c in self.rule.conditions:
            if c.id != spec.id or c.kind not in ("guard", "correlation"):
                continue
            others = [self.rule.specs[i] for i in c.ids if i != spec.id]
            if all(env.bound(o) for o in others) and not holds(self.rule, c.expr, values):
                return False
        return True

    # -- relations (4c): tested once, when the last operand becomes known

    def operands(self, condition, word, positions, viewer, still_open):
        """The bound events of every operand, or None while one is not known."""
        env, out = Env(self, word, positions, viewer), []
        for leaf in leaves(condition.expr):
            if not hasattr(leaf, "name"):
                continue
            spec = self.rule.by_name[leaf.name]
            found = env.bound(spec)
            if not found or (isinstance(leaf, Func) and still_open and word[-1][0] == spec.id):
                return None
            if any(not self.same_round(*word[found[0]], word[other[0]]) for other in out):
                return None
            out.append(tuple(found))
        return out

    def open_array(self, word):
        """Is the last event's element an array that may still grow?"""
        spec = self.rule.specs[word[-1][0]]
        if not spec.is_array or self.complete(word):
            return False
        if not self.pattern.eager(spec, word[-1][1]):
            return True
        return any(role == word[-1] for _, _, role in self.pattern.laid(word).next)

    def complete(self, word):
        return any(not trail for trail in self.pattern.laid(word).ends)

    def relations_hold(self, word, role, positions):
        """positions has one event more than word: the one that just took `role`."""
        longer = word + (role,)
        growing = self.open_array(longer)
        for c in self.relations:
            known = None
            if word:
                viewer = word[-1]
                known = self.operands(c, word, positions[:-1], viewer, self.open_array(word))
                closed = self.operands(c, word, positions[:-1], viewer, role == word[-1])
                if closed is not None and known is None:
                    known = closed
                    if not holds(self.rule, c.expr, Env(self, word, positions[:-1], viewer)):
                        return False
            now = self.operands(c, longer, positions, role, growing)
            if now is not None and now != known:
                if not holds(self.rule, c.expr, Env(self, longer, positions, role)):
                    return False
        return True

    # -- negation (5)

    def forbidden(self, negation, since, partial, word, position):
        """Does the event at `position` complete the negated structure, begun after `since` taken events?"""
        after = partial.positions[since - 1]
        gap = [i for i in self.stream if after < i <= position and i not in partial.positions]
        return len(gap) in self.negated_ends(negation.child, gap, 0, partial, word)

    def negated_ends(self, node, gap, start, partial, word):
        """Numbers of gap events after which the structure, begun at `start` or later, can just be complete."""
        if isinstance(node, Spec):
            return {i + 1 for i in range(start, len(gap)) if self.is_negated(node, gap[i], partial, word)}
        ends = {start}
        for _ in range(node.low):
            ends = {e for s in ends for e in self.negated_round(node, gap, s, partial, word)}
        return ends

    def negated_round(self, node, gap, start, partial, word):
        if not isinstance(node, Seq):
            return {e for c in node.children for e in self.negated_ends(c, gap, start, partial, word)}
        ends = {start}
        for child in node.children:
            ends = {e for s in ends for e in self.negated_ends(child, gap, s, partial, word)}
        return ends

    def is_negated(self, spec, position, partial, word):
        """Type, join fields and every condition naming the element whose other operands are bound."""
        event = self.events[position]
        if event["event"] != spec.type or not self.joins(event, self.events[partial.positions[0]]):
            return False
        env = Env(self, word, partial.positions, word[-1], before=position)
        for c in self.rule.conditions:
            if c.kind == "negated" and c.id == spec.id:
                others = [self.rule.specs[i] for i in c.ids if i != spec.id]
                if all(env.bound(o) for o in others) and not holds(self.rule, c.expr, Event(spec.name, event, env)):
                    return False
        return True

    # -- one event for one partial match

    def step(self, partial, position):
        """Returns (partial or None when it ended, partial advanced by the event or None)."""
        event, first = self.events[position], self.events[partial.positions[0]]
        words = [w for w in partial.words if not any(
            self.forbidden(n, since, partial, w, position) for n, since in self.pattern.laid(w).forbidden.items())]
        if not words:
            return None, None
        partial = Partial(partial.positions, words)
        taken = [(w, role) for w in words for role in self.roles(w, event, first, partial)]
        if taken:
            positions = partial.positions + (position,)
            self.count_taking(position, partial)
            left = {w + (role,) for w, role in taken if self.relations_hold(w, role, positions)}
            advanced = Partial(positions, left) if left else None
            return (partial if self.semantics == "SKIPTILLANY" else None), advanced
        return self.passed(partial, event, first), None

    def roles(self, word, event, first, partial):
        """The roles that the event may take after a word: those of the best priority that it fits."""
        out, best = [], None
        for priority, spec, role in sorted(self.pattern.laid(word).next, key=lambda n: n[0]):
            if best is not None and priority != best:
                break
            if self.fits(spec, role, event, first, partial, word):
                out.append(role)
                best = priority
        return out

    def passed(self, partial, event, first):
        """What is left of a partial match that does not take the event."""
        if self.semantics == "SKIPTILLANY":
            return partial
        if self.semantics == "STRICTSEQUENCE":
            return None
        if self.semantics == "STRICTPARTITION":
            return None if self.joins(event, first) else partial
        words = [w for w in partial.words if not any(
            self.fits(spec, role, event, first, partial, w) for spec, role in self.pattern.laid(w).overflow)]
        return Partial(partial.positions, words) if words else None

    def count_taking(self, position, partial):
        if self.semantics == "SKIPTILLANY":
            self.takings.append((position, partial.positions[0]))
            if len(self.takings) > self.limit:
                raise TooMany

    # -- the search

    def follow(self, partial, after):
        """All matches of a partial match over the stream from index `after` on."""
        if self.is_complete(partial):
            self.candidates.append(self.matched(partial))
            return
        deadline = self.deadline(partial)
        for index in range(after, len(self.stream)):
            position = self.stream[index]
            if deadline is not None and event_value(self.events[position], "ts") > deadline:
                break
            partial, advanced = self.step(partial, position)
            if advanced:
                self.follow(advanced, index + 1)
            if not partial:
                return
        if self.trails(partial) and deadline is not None and self.first_after(deadline) is not None:
            self.candidates.append(self.matched(partial, deadline))

    def is_complete(self, partial):
        return any(self.complete(w) for w in partial.words)

    def trails(self, partial):
        """Does it match when the time is up?"""
        return any(self.pattern.laid(w).ends for w in partial.words)

    def matched(self, partial, deadline=None):
        return Match(self, partial, deadline)

    def begin(self, position):
        """For the run that the event opens, if it does, what is left of it (None where it has ended) and its key."""
        event = self.events[position]
        roles = self.roles((), event, event, None) if self.has_joins(event) else []
        if roles:
            left = {(role,) for role in roles if self.relations_hold((), role, (position,))}
            yield Partial((position,), left) if left else None, self.key_of(event)

    def open(self, index):
        for partial, _ in self.begin(self.stream[index]):
            self.openings += 1
            if partial:
                self.follow(partial, index + 1)

    def dropped(self):
        """Applies AFTER MATCH DROP: a match ends every run of its key that was opened before it and is not over."""
        kept, drops = [], []
        for match in sorted(self.candidates, key=lambda m: m.moment):
            if not self.ended(match.opened, match.key, match.moment, drops):
                kept.append(match)
                drops.append((match.moment, match.key))
        if self.rule.drop:
            self.takings = [t for t in self.takings if not self.ended(
                t[1], self.key_of(self.events[t[1]]), (t[0], 1, 0), drops)]
        return kept

    @staticmethod
    def ended(opened, key, moment, drops):
        return any(k == key and opened < m[0] and m < moment for m, k in drops)

    def alone(self):
        """All matches where every run has a place."""
        for index in range(len(self.stream)):
            self.open(index)
        found = self.dropped() if self.rule.drop else self.candidates
        self.runs_opened = self.openings + len(self.takings)
        return found

    def pooled(self):
        """All matches where runs depend on each other."""
        pool = Pool(self)
        pool.run()
        self.runs_opened, self.refused, self.replaced = pool.opened, pool.refused, pool.replaced
        return pool.matches

    def run(self):
        """All matches as the result lines of the language page, in order. runs_opened is then known too."""
        found = sorted(self.pooled() if self.rule.has_pool() else self.alone(), key=lambda m: (m.moment, m.order))
        self.found = [m for m in found if not self.is_excepted(m)]
        self.excepted = len(found) - len(self.found)
        return [self.line(m) for m in self.found]

    def counts(self):
        """What the statistics count of the rule, after run()."""
        return {"matches": len(self.found), "runs_opened": self.runs_opened, "pool_exhausted": self.refused,
                "replaced": self.replaced, "lost": self.refused}

    def is_excepted(self, match):
        """Does all of EXCEPT hold? A condition on what the match lacks does not. What it ends, it ends all the same."""
        env = Env(self, match.word, match.positions, (None, ()))
        return bool(self.rule.excepts) and all(
            all(env.bound(self.rule.by_name[leaf.name]) for leaf in leaves(c) if hasattr(leaf, "name"))
            and holds(self.rule, c, env) for c in self.rule.excepts)

    def places(self, rule_index):
        """
        For every match a key that sorts the matches of all rules into the order of the output: at one event by rule;
        where the time is up by deadline, then by when the run arose.
        """
        return [
            (m.moment, (rule_index, m.order) if m.moment[1] else (m.order[0], rule_index, m.order))
            for m in self.found
        ]

    # -- output

    def line(self, match):
        out = {"match": self.rule.name, "ts": match.ts}
        for name in ("cpu", "pid", "tid", "comm"):
            out[name] = event_value(match.last, name)
        if self.rule.returns == "SEQUENCE":
            out["sequence"] = [self.sequence_event(p, role) for p, role in zip(match.positions, match.word)]
        elif self.rule.returns:
            env = Env(self, match.word, match.positions, (None, ()))
            out["return"] = {key: self.returned(expr, env) for expr, _, key in self.rule.returns}
        out["tainted"] = match.tainted
        return out

    def returned(self, expr, env):
        if any(hasattr(leaf, "name") and not env.bound(self.rule.by_name[leaf.name]) for leaf in leaves(expr)):
            return None  # of a branch that was not taken
        try:
            return evaluate(self.rule, expr, env)
        except DivisionByZero:
            return None

    def sequence_event(self, position, role):
        event = self.events[position]
        out = {"event": event["event"], "seq": event.get("seq", position + 1)}
        if self.rule.specs[role[0]].name:
            out["name"] = self.rule.specs[role[0]].name
        for name in ("ts", "cpu", "pid", "tid"):
            out[name] = event_value(event, name)
        return {**out, **{f: event[f] for f in self.rule.types[event["event"]]}}


def matches(rule, events, limit=4000):
    """(result lines, runs opened)"""
    oracle = Oracle(rule, events, limit)
    lines = oracle.run()
    return lines, oracle.runs_opened


def main():
    _, rules = ruletext.parse(open(sys.argv[1], encoding="utf-8").read())
    events = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8") if line.strip()]
    for rule in rules:
        for line in matches(rule, events)[0]:
            print(json.dumps(line))


if __name__ == "__main__":
    main()
