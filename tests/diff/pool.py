# SPDX-License-Identifier: BSD-2-Clause
"""
Which runs there is room for. Where runs share a pool they are no longer independent of each other, so they are followed
together, event by event: a run, or a copy of SKIPTILLANY, that finds no place is refused and is nothing; under AFTER
MATCH DROP the others of its key depend on it.
"""


class Run:
    def __init__(self, partial, first, key, tainted=False):
        self.partial, self.first, self.key, self.tainted = partial, first, key, tainted


class Pool:
    """What the oracle's rule does in a pool; what one run does is the oracle's."""

    def __init__(self, oracle):
        self.oracle, self.rule = oracle, oracle.rule
        self.open, self.matches = [], []  # runs in the order of their opening
        self.opened = self.refused = 0
        self.missed = None  # the key of what was refused at the event

    def run(self):
        stream = set(self.oracle.stream)
        for position in range(len(self.oracle.events)):
            self.pass_time(position)
            if position in stream:
                self.event(position)

    def pass_time(self, position):
        """Deadlines that are over before the event, in their order; those of one time match together."""
        due = [(self.oracle.deadline(r.partial), r) for r in self.open if self.rule.within_ns is not None]
        due = [(t, r) for t, r in due if self.oracle.first_after(t) == position]
        for time in sorted({t for t, _ in due}):
            over = [r for t, r in due if t == time and r in self.open]
            self.open = [r for r in self.open if r not in over]
            self.drop([(r, self.oracle.matched(r.partial, time)) for r in over if self.oracle.trails(r.partial)])

    def event(self, position):
        matches, self.missed = [], None
        for run in list(self.open):
            copies = len(self.oracle.takings)
            left, advanced = self.oracle.step(run.partial, position)
            is_copy = len(self.oracle.takings) > copies
            if left:
                run.partial = left
            else:
                self.open.remove(run)
            if advanced or is_copy:
                self.live(Run(advanced, run.first, run.key, run.tainted), matches, is_copy)
        for partial, key in self.oracle.begin(position):
            self.live(Run(partial, position, key), matches, True)
        self.drop(matches, spared=position)
        if self.missed is not None and self.rule.drop:
            self.mark(self.missed, position)

    def live(self, run, matches, is_new):
        """What becomes of a run that has just taken an event."""
        complete = run.partial and self.oracle.is_complete(run.partial)
        if is_new and run.partial and not complete and len(self.open) >= self.rule.pool:
            self.refused += 1
            self.missed = run.key
            return
        self.opened += is_new
        if complete:
            matches.append((run, self.oracle.matched(run.partial)))
        elif run.partial:
            self.open.append(run)

    def drop(self, matches, spared=None):
        for run, match in matches:
            match.tainted = run.tainted
            self.matches.append(match)
        keys = {run.key for run, _ in matches} if self.rule.drop else set()
        self.open = [r for r in self.open if r.key not in keys or r.first == spared]

    def mark(self, key, spared):
        for run in [r for r in self.open if r.key == key and r.first != spared]:
            if self.rule.loss == "DISCARD":
                self.open.remove(run)
            elif self.rule.loss != "KEEP":
                run.tainted = True
