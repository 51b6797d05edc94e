# SPDX-License-Identifier: BSD-2-Clause
"""
The rules that stand beside machines in generated files: one event, two joined events, or one event and then none of another
in a time. They are executed event by event, since what machines raise is known only as time goes on.
"""

from dataclasses import dataclass

from emission import narrow
from model import Neg, Seq, event_value
from values import KINDS, DivisionByZero, evaluate, holds

LAST = float("inf")
HEADER = ("ts", "cpu", "pid", "tid", "comm")


@dataclass
class Run:
    event: dict
    order: int


class Env:
    def __init__(self, bound):
        self.bound = bound  # {name: event}

    def single(self, name, field):
        return event_value(self.bound[name], field)


class RuleStats:
    def __init__(self):
        self.matches = self.runs_opened = 0


class RuleSteps:
    """SKIPTILLNEXT over the patterns `A:a`, `[A:a, B:b]` and `[A:a, ~B:b]` with WITHIN."""

    def __init__(self, whole, rule):
        self.whole, self.rule, self.name = whole, rule, rule.name
        parts = rule.pattern.children if isinstance(rule.pattern, Seq) else [rule.pattern]
        self.forbids = len(parts) > 1 and isinstance(parts[1], Neg)
        self.specs = [p.child if isinstance(p, Neg) else p for p in parts]
        self.types = {s.type for s in self.specs}
        self.stats, self.runs = RuleStats(), []

    def fits(self, at, event, run=None):
        bound = {self.specs[at].name: event}
        if run:
            bound[self.specs[0].name] = run.event
            if any(event_value(event, f) != event_value(run.event, f) for f in self.rule.joins):
                return False
        names = set(bound) if run else {self.specs[at].name}
        asked = [c for c in self.rule.conditions if c.id == at and
                 {self.rule.specs[i].name for i in c.ids} <= names]
        return event["event"] == self.specs[at].type and all(holds(self.rule, c.expr, Env(bound)) for c in asked)

    def step(self, event):
        for run in list(self.runs):
            if self.fits(1, event, run):
                self.runs.remove(run)
                if not self.forbids:
                    self.match(event, event["ts"], {self.specs[0].name: run.event, self.specs[1].name: event})
        if self.fits(0, event):
            self.stats.runs_opened += 1
            if len(self.specs) == 1:
                self.match(event, event["ts"], {self.specs[0].name: event})
            else:
                self.runs.append(Run(event, self.whole.next_order()))

    def match(self, event, ts, bound):
        header = {k: event_value(event, k) for k in HEADER}
        header["ts"] = ts
        self.stats.matches += 1
        values = {}
        for expr, _, key in self.rule.returns or []:
            try:
                values[key] = evaluate(self.rule, expr, Env(bound))
            except DivisionByZero:
                values[key] = None
        self.whole.matches.append({"match": self.name, **header, "return": values, "tainted": False})
        if not self.rule.returns:
            del self.whole.matches[-1]["return"]
        for name, fields in self.rule.emits:
            self.whole.raise_event(self.raised(name, fields, header, bound))

    def raised(self, name, fields, header, bound):
        kinds = self.whole.file.types[name]
        event = {"event": name, **header}
        for field, kind in kinds.items():
            event[field] = {"s": "", "f": 0.0, "b": False}.get(KINDS.get(kind, "i"), 0)
        for field, expr in fields:
            try:
                value = evaluate(self.rule, expr, Env(bound))
                event[field] = float(value) if kinds[field] == "f64" else narrow(value, kinds[field])
            except DivisionByZero:
                pass
        return event

    def next_due(self):
        if self.rule.within_ns is None or not self.runs:
            return None
        # what only ends then does so after everything that happens at that time
        return min((r.event["ts"] + self.rule.within_ns, r.order if self.forbids else LAST, r.order) for r in self.runs)

    def fire(self, which):
        run = next(r for r in self.runs if r.order == which[2])
        self.runs.remove(run)
        if self.forbids:
            self.match(run.event, which[0], {self.specs[0].name: run.event})
