# SPDX-License-Identifier: BSD-2-Clause
"""
Rules that raise events for each other (EMIT): generated chains, and what they must give. The oracle knows one rule and
one stream; here each rule is given its stream: the events of the input, and among them those that other rules raise.

Where a raised event stands follows from how events are dealt with (docs/internals/execution.md): an event is taken through all
rules, in their order, before anything that it raised, and raised events come in the order in which they were raised. So every event
has a way: the place of the input's event, whether the time was up before it (then when, and who was armed when), how many
matches led to it, and at each of these (rule, match, statement). Sorted by their ways events stand in the order in which rules see them.
"""

import generate
import legal
import ruletext
from generate import VALUES, constant
from lay import groups_of
from model import Bin, Field, Join
from oracle import Env, Oracle, TooMany
from replay import difference
from values import KINDS, DivisionByZero, evaluate

RULES, STREAMS, LIMIT, EVENTS_MAX = 8, 3, 300, 100
BITS = {"u8": 8, "u16": 16, "u32": 32, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "u64": 64, "time": 64, "addr": 64}


# --- generated rules


class Generator(generate.Generator):
    """Types A to D are raised by nobody; P is raised from these, Q also from P, R also from Q."""

    def __init__(self, seed, kernel=False):
        super().__init__(seed, kernel)
        self.base = list(self.types)
        self.derived = ["P", "Q", "R"][: self.rng.choice([1, 2, 2, 3])]
        for name in self.derived:
            self.types[name] = self.derived_fields()
        self.all_types = self.types

    def derived_fields(self):
        fields = {"x": self.types["A"].get("x", "u32")}
        for name, kinds in (("y", ["i8", "i16", "u8", "u16", "i32"]), ("w", ["u64", "i64", "time", "u32"])):
            if self.chance(0.6):
                fields[name] = self.rng.choice(kinds)
        for name, kind in (("z", "string"), ("b", "bool")):
            if self.chance(0.4):
                fields[name] = kind
        return fields

    def argument(self, rule, kind):
        usable = [s for s in rule.specs if s.name and not s.negated and not groups_of(s)]
        if not usable or self.chance(0.12):
            return constant(self.rng.choice(VALUES[kind]))
        spec = self.rng.choice(usable)
        if kind == "string":
            return Field(spec.name, self.rng.choice(self.fields(spec, "s"))) if not spec.is_array else constant("aa")
        value = self.value(spec)
        if kind == "bool":
            fields = self.fields(spec, "b")
            if fields and not spec.is_array and self.chance(0.5):
                return Field(spec.name, self.rng.choice(fields))
            return Bin(self.rng.choice(["<", "==", ">="]), value, constant(self.rng.choice([0, 1, 2])))
        if self.chance(0.4):
            return Bin(self.rng.choice(["+", "-", "*", "/", "%"]), value, constant(self.rng.choice([1, 2, 100, 300])))
        if self.chance(0.15):
            return Bin("/", constant(7), value)
        return value

    def emissions(self, rule, types):
        out = []
        for name in types:
            fields = [f for f in self.types[name] if self.chance(0.8)]
            out.append((name, [(f, self.argument(rule, self.types[name][f])) for f in fields]))
        return out

    def chained_rule(self, name, level):
        """A rule that takes what rules of lower levels raise, and raises what only higher ones take."""
        taken, raised = self.derived[:level], self.derived[level:]
        self.types = {t: f for t, f in self.all_types.items() if t in self.base or t in taken}
        while True:
            rule = self.rule(name)
            positive = {s.type for s in rule.specs if not s.negated}
            emits = bool(raised) and self.chance(0.8)
            if level and not positive & set(taken):
                continue
            if rule.over == "*" and rule.kind_is().startswith("STRICT"):
                continue  # it would hear itself
            if emits and legal.ends_with_negation(rule.pattern) and rule.kind_is() == "SKIPTILLANY":
                continue  # cases/deadline-order-of-copies.json
            rule.pool = rule.per_key = rule.per_process = rule.full = None  # its oracle knows no refused runs
            if self.chance(0.6):  # so that more of them match
                rule.where = [c for c in rule.where if isinstance(c, Join)]
                if legal.verdict(rule.resolve(self.types))[0] != "accept":
                    continue
            self.types = self.all_types
            rule = ruletext.parse(ruletext.print_types(self.all_types) + ruletext.print_rule(rule))[1][0]
            if emits:
                next_types = raised[:1] if self.chance(0.7) else self.rng.sample(raised, self.rng.choice([1, len(raised)]))
                rule.emits = self.emissions(rule, next_types)
            return rule.resolve(self.all_types)

    def rules(self, count):
        levels = [0, 0, 1] + [self.rng.randrange(len(self.derived) + 1) for _ in range(count - 3)]
        self.rng.shuffle(levels)
        return [self.chained_rule(f"r{i}", level) for i, level in enumerate(levels)]

    def random_event(self, type_name=None):
        return super().random_event(type_name or self.rng.choice(self.base if self.chance(0.9) else self.derived))

    def planted(self, rule):
        return [e for e in super().planted(rule) if e["event"] in self.base or self.chance(0.4)]


# --- what they must give


def narrow(value, kind):
    if kind in ("bool", "string"):
        return value
    bits = BITS[kind]
    value = int(value) & (2**bits - 1)
    return value - 2**bits if kind[0] not in "ua" and value >> (bits - 1) else value


class Flow:
    """What the rules of one file give for one stream."""

    def __init__(self, types, rules, events):
        self.types, self.rules = types, rules
        self.events = [{**e, "seq": i + 1, "way": (i, 1, 0, (), 0, ())} for i, e in enumerate(events)]
        self.raised, self.lines, self.opened, self.ways = [], {}, {}, []
        self.deadlines = []
        for index in self.in_order():
            self.run(index)

    def in_order(self):
        """Those that raise before those that take."""
        left, out = list(range(len(self.rules))), []
        while left:
            for i in left:
                takes = {s.type for s in self.rules[i].specs} | (self.rules[i].stream_types() or set())
                if not any(t in takes for j in left if j != i for t, _ in self.rules[j].emits):
                    out.append(i)
                    left.remove(i)
                    break
            else:
                raise AssertionError("a circle")
        return out

    def stream_of(self, index):
        types = self.rules[index].stream_types()
        found = self.events + [e for e in self.raised if types is None or e["event"] in types]
        if len(found) > EVENTS_MAX:
            raise TooMany
        return sorted(found, key=lambda e: e["way"])

    def run(self, index):
        rule, stream = self.rules[index], self.stream_of(index)
        self.avoid_ties(rule, stream)
        told = Oracle(rule, stream, LIMIT)
        self.lines[rule.name], self.opened[rule.name] = told.run(), told.runs_opened
        count, before = 0, None
        for match, line in zip(told.found, self.lines[rule.name]):
            way = self.way_of(match, stream, index)
            count = count + 1 if way == before else 0
            before = way
            self.ways.append((way, (index, count), rule.name))
            for number, (name, fields) in enumerate(rule.emits):
                self.raised.append(self.make(told, match, line, name, fields))
                self.raised[-1]["way"] = way[:4] + (way[4] + 1, way[5] + ((index, count, number),))
                self.raised[-1]["seq"] = self.events[way[0] - (not match.moment[1])]["seq"]
                self.raised[-1]["late"] = len(match.moment) == 3 and match.moment[1] == 0

    def way_of(self, match, stream, index):
        if match.moment[1]:
            return stream[match.moment[0]]["way"]
        deadline = match.moment[2]
        first = next(i for i, e in enumerate(self.events) if e["ts"] > deadline)
        # a copy's deadline is armed when it is made, with the last event that it takes
        opened = stream[match.positions[-1 if self.rules[index].semantics == "SKIPTILLANY" else 0]]["way"]
        self.deadlines.append((first, deadline))
        return (first, 0, deadline, (opened, index), 0, ())

    @staticmethod
    def avoid_ties(rule, stream):
        """An event raised at one deadline and a run due at the same: which comes first is not the oracle's matter."""
        if rule.within_ns is None:
            return
        due = {e["ts"] + rule.within_ns for e in stream}
        if any(e.get("late") and e["ts"] in due for e in stream):
            raise TooMany

    def make(self, told, match, line, name, fields):
        kinds = self.types[name]
        event = {"event": name, "ts": line["ts"]}
        for field in ("cpu", "pid", "tid", "comm"):
            event[field] = line[field]
        for field, kind in kinds.items():
            event[field] = "" if kind == "string" else False if kind == "bool" else 0
        env = Env(told, match.word, match.positions, (None, ()))
        for field, expr in fields:
            try:
                event[field] = narrow(evaluate(told.rule, expr, env), kinds[field])
            except DivisionByZero:
                pass
        return event

    def order(self):
        return [name for _, _, name in sorted(self.ways)]

    def has_ties(self):
        return len(set(self.deadlines)) < len(self.deadlines)


# --- the batch


class Batch:
    """Some rules in one file, run over some streams."""

    def __init__(self, binary, seed, tally):
        self.binary, self.tally = binary, tally
        self.made = Generator(seed, True)
        self.rules = self.made.rules(RULES)

    def source(self):
        return ruletext.print_types(self.made.types) + "".join(ruletext.print_rule(r) for r in self.rules)

    def run(self):
        first = self.made.stream(self.rules)
        for events in [first] + [self.made.near_miss(first) for _ in range(STREAMS - 1)]:
            self.stream(events)
        return self.tally

    def stream(self, events):
        result = self.binary.replay(self.source(), events)
        if result.not_for_kernel():
            self.tally.skipped += len(self.rules)
            return
        try:
            flow = Flow(self.made.types, self.rules, events)
        except TooMany:
            self.tally.skipped += len(self.rules)
            return
        if result.failure():
            self.fail("    " + result.failure(), events)
            return
        failures = len(self.tally.failures)
        for rule in self.rules:
            self.compare(rule, flow, result, events)
        kernel_ties = self.binary.engine == "kernel" and flow.has_ties()
        if failures == len(self.tally.failures) and not kernel_ties:
            want, got = flow.order(), [m["match"] for m in result.lines]
            if want != got:
                self.fail(f"    order across rules: expected {want}\n    got {got}", events)

    def compare(self, rule, flow, result, events):
        want, stats = flow.lines[rule.name], result.stats["rules"][rule.name]
        wrong = difference(want, [m for m in result.lines if m["match"] == rule.name])
        if not wrong and (stats["matches"], stats["runs_opened"], stats["lost"]) != (
                len(want), flow.opened[rule.name], 0):
            wrong = f"    the stats are {stats}, expected {len(want)} matches, {flow.opened[rule.name]} runs opened"
        if wrong:
            self.fail(f"    rule {rule.name}:\n{wrong}", events)
            return
        self.tally.passed += 1
        self.tally.matched += bool(want)
        self.tally.raised += sum(e["event"] in {s.type for s in rule.specs} for e in flow.raised) > 0 and bool(want)

    def fail(self, what, events):
        self.tally.failures.append((what, self.source(), events))
