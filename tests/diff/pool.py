# SPDX-License-Identifier: BSD-2-Clause
"""
Which runs there is room for. Where runs share a pool, or LATEST holds, they are no longer independent of each other, so
they are followed together, event by event. A run, or a copy of SKIPTILLANY, that finds no place is refused and is
nothing; or, with REPLACE, a run takes the place of the oldest. Under AFTER MATCH DROP the others of its join key depend
on one that was refused or replaced. LATEST and PER KEY ask in which state a run is and what the next event must equal
there; that is known here of plain sequences alone.
"""

from model import event_value

SIZE = 16384  # of a pool, where the rule does not say


class Run:
    def __init__(self, partial, first, key, tainted=False):
        self.partial, self.first, self.key, self.tainted = partial, first, key, tainted


class Pool:
    """What the oracle's rule does in a pool; what one run does is the oracle's."""

    def __init__(self, oracle):
        self.oracle, self.rule = oracle, oracle.rule
        self.size = self.rule.pool or SIZE
        self.open, self.matches = [], []  # runs in the order of their opening
        self.opened = self.refused = self.replaced = 0
        self.missed = None  # the key of what was refused or replaced at the event

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
        matches, entering, self.missed = [], [], None
        for run in list(self.open):
            self.step(run, position, matches, entering)
        for partial, key in self.oracle.begin(position):
            self.begin(Run(partial, position, key), matches, entering)
        self.drop(matches, spared=position)
        if self.missed is not None:
            self.mark(self.missed, spared=position)
        if self.rule.latest:
            self.enter(entering)
        if len(self.open) > self.size:
            self.mark(self.replace(self.open[0]), spared=position)

    def step(self, run, position, matches, entering):
        """One event for one open run."""
        copies = len(self.oracle.takings)
        left, advanced = self.oracle.step(run.partial, position)
        if len(self.oracle.takings) > copies:
            self.copy(Run(advanced, run.first, run.key, run.tainted), matches)
        elif advanced:
            left = advanced
            entering.append(run)
        run.partial = left
        if self.settle(run, matches):
            self.open.remove(run)

    def copy(self, run, matches):
        """A copy finds a place or is refused, also with REPLACE."""
        if self.settle(run, matches):
            self.opened += 1
        elif len(self.open) < self.size:
            self.opened += 1
            self.open.append(run)
        else:
            self.refuse(run)

    def begin(self, run, matches, entering):
        """The run that the event opens."""
        if self.settle(run, matches):
            self.opened += 1
        elif self.admits(run):
            self.opened += 1
            self.open.append(run)
            entering.append(run)
        else:
            self.refuse(run)

    def settle(self, run, matches):
        """Is the run over, by a match or otherwise? It needs no place then."""
        if run.partial and self.oracle.is_complete(run.partial):
            matches.append((run, self.oracle.matched(run.partial)))
            return True
        return not run.partial

    # -- who is refused, who is replaced

    def waits(self, run):
        """The key under which a run waits: its join key, and what the next event must equal, each by its name."""
        positions = run.partial.positions
        values = {(x.name, x.field): event_value(self.oracle.events[positions[self.rule.by_name[x.name].id]], x.field)
                  for x in self.rule.demanded(self.rule.specs[len(positions)])}
        return run.key, values

    def sharing(self, run):
        """The open runs that wait under the key of this one, in whatever state."""
        return [r for r in self.open if self.waits(r) == self.waits(run)]

    def opener(self, run):
        """The process that opened the run."""
        return event_value(self.oracle.events[run.first], "pid")

    def alike(self, run):
        """Those of them that wait in its state."""
        return [r for r in self.sharing(run) if len(r.partial.positions) == len(run.partial.positions)]

    def admits(self, run):
        """May the run be opened? Perhaps it takes the place of one of its key; that of the oldest it takes later."""
        if self.rule.per_process:
            opener = self.opener(run)
            if sum(self.opener(r) == opener for r in self.open) >= self.rule.per_process:
                return False
        if self.rule.per_key:
            sharing = self.sharing(run)
            if len(sharing) >= self.rule.per_key and not self.rule.replaces():
                return False
            if len(sharing) >= self.rule.per_key:
                self.missed = self.replace(sharing[0])
        if self.rule.replaces() or len(self.open) < self.size:
            return True
        return self.rule.latest and bool(self.alike(run))

    def enter(self, entering):
        """
        LATEST: in their order, runs enter their new states, and each ends the one of its key that is there already. No
        two enter a state under one key at one event: they would have been in one state, under one key, before it.
        """
        for run in [r for r in entering if r in self.open]:
            for other in [r for r in self.alike(run) if r is not run]:
                self.replace(other)

    def refuse(self, run):
        self.refused += 1
        self.missed = run.key

    def replace(self, run):
        """Ends the run. Returns its join key."""
        self.replaced += 1
        self.open.remove(run)
        return run.key

    # -- what depends on others

    def drop(self, matches, spared=None):
        for run, match in matches:
            match.tainted = run.tainted
            self.matches.append(match)
        keys = {run.key for run, _ in matches} if self.rule.drop else set()
        self.open = [r for r in self.open if r.key not in keys or r.first == spared]

    def mark(self, key, spared):
        """Under DROP: a match of what was refused or replaced might have ended the others of its key."""
        for run in [r for r in self.open if self.rule.drop and r.key == key and r.first != spared]:
            if self.rule.loss == "DISCARD":
                self.open.remove(run)
            elif self.rule.loss != "KEEP":
                run.tainted = True
