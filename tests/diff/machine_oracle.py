# SPDX-License-Identifier: BSD-2-Clause
"""
The oracle for state machines: what docs/machines.md says, done event by event over the objects of machine_model.py, with the
few kinds of rules (machine_rules.py) that raise events for machines and take theirs. Everything is looked for by going through all of it.
Where the page leaves something open, Unsaid is raised; what it was read to say is in READINGS.md.

Usage: machine_oracle.py RULE-FILE EVENTS.jsonl
"""

import json
import sys
from dataclasses import dataclass, field

import machine_text
from emission import narrow
from machine_model import DEFAULT_POOL, DEFAULT_STRING, DEFAULT_TRAIL, Assign, Call, Emit, Machine, Scope, Warn, key_fields
from machine_rules import RuleSteps
from model import Const, event_value
from ruletext import print_expr
from machine_text import VALUE
from values import KINDS, MASK, DivisionByZero, evaluate, holds, kind

HEADER = ("ts", "cpu", "pid", "tid", "comm")
EVENT_STRING = 255  # bytes that a field of an event holds, docs/formats/catalog.md
TIMERS_MAX = 2000


class Unsaid(Exception):
    """The case asks for something that the page does not tell."""


class Stats:
    def __init__(self):
        self.matches = self.runs_opened = self.runs_live_max = self.pool_exhausted = self.replaced = 0
        self.divisions_by_zero = 0  # in assignments


@dataclass
class Instance:
    """Of a machine. key holds the values as 64 bit, as they are compared."""

    key: tuple
    state: object
    values: dict
    armed: int = 0  # when its timers were started, in the order of everything that is due
    epoch: int = 0
    entered: int = 0
    due: list = field(default_factory=list)  # (time, place in the file, transition) still to fire
    moved: dict = None  # header of the last event that moved it
    trail: list = field(default_factory=list)
    kept: bool = False
    opener: int = None  # the process that opened it, or copied it
    touched: int = 0  # when it last took a transition at an event, its first one too, in their order


class Env:
    """The values that names have at one place, for values.py."""

    def __init__(self, file, machine, instance, event):
        self.file, self.machine, self.instance, self.event = file, machine, instance, event

    def single(self, name, field_name):
        if name is not None:
            return event_value(self.event, field_name)
        if field_name in self.instance.values:
            return self.instance.values[field_name]
        if field_name in self.machine.keys:
            return self.key(field_name)
        if field_name in self.file.parameters:
            return self.file.parameters[field_name].value
        return event_value(self.event, field_name)

    def key(self, name):
        value = self.instance.key[self.machine.keys.index(name)]
        if isinstance(value, int) and not isinstance(value, bool):
            unsigned = KINDS.get(Scope(self.file, self.machine).bare_type(name)) == "u"
            return value - 2**64 if value >> 63 and not unsigned else value
        return value


class Steps:
    """One machine and its instances."""

    def __init__(self, whole, machine):
        self.whole, self.file, self.machine = whole, whole.file, machine
        self.name, self.types = machine.name, machine.types()
        self.pool = self.file.value_of(machine.pool) if machine.pool else DEFAULT_POOL
        self.trail = self.file.value_of(machine.trail) if machine.trail is not None else DEFAULT_TRAIL
        self.stats, self.instances, self.epoch = Stats(), [], 0

    # -- looking up

    def key_of(self, fields, event):
        values = [None if f == "*" else event_value(event, f.split(".")[-1]) for f in fields]
        return tuple(v & MASK if isinstance(v, int) and not isinstance(v, bool) else v for v in values)

    def by_key(self, key):
        return next((i for i in self.instances if i.key == key), None)

    def ordered(self, state, chosen):
        """The transitions that may be taken, in the order in which they are tried."""
        own = [t for t in state.transitions if chosen(t)]
        outside = [t for t in self.machine.transitions if chosen(t)]
        return ([t for t in own if t.where] + [t for t in outside if t.where] +
                [t for t in own if not t.where] + [t for t in outside if not t.where])

    def holds(self, transition, instance, event):
        scope = Scope(self.file, self.machine, transition.type, transition.name)
        env = Env(self.file, self.machine, instance, event)
        return all(holds(scope, w, env) for w in transition.where)

    def first(self, transitions, instance, event):
        return next((t for t in transitions if self.holds(t, instance, event)), None)

    # -- at an event

    def step(self, event):
        mine = [t for t in self.machine.all_transitions() if t.type == event["event"]]
        plain = [t for t in mine if "*" not in key_fields(self.machine, t)]
        for t in mine:
            if t not in plain:
                self.step_all(t, event)
        keys = {self.key_of(key_fields(self.machine, t), event) for t in plain}
        if len(keys) > 1:
            raise Unsaid("one event, two keys")
        for key in keys:
            self.step_one(key, event)

    def step_all(self, transition, event):
        """A `*`: every instance that agrees on the rest ends."""
        key = self.key_of(key_fields(self.machine, transition), event)
        for instance in list(self.instances):
            agrees = all(a is None or a == b for a, b in zip(key, instance.key))
            if agrees and self.holds(transition, instance, event):
                if instance.state.exit:
                    raise Unsaid("an EXIT block and a `*`")
                self.instances.remove(instance)

    def step_one(self, key, event):
        instance = self.by_key(key) or self.fresh(key)
        if instance.kept:
            self.copy(instance, event)
        found = self.first(self.ordered(instance.state, lambda t: t.type == event["event"] and t.copy_by is None),
                           instance, event)
        if found:
            self.take(found, instance, event)
        while len(self.instances) > self.pool:  # with REPLACE
            self.instances.remove(min(self.instances, key=lambda i: i.touched))
            self.stats.replaced += 1

    def fresh(self, key):
        """What has no instance: in the start state, every variable at its initial value."""
        values = {}
        for v in self.machine.variables:
            zero = {"s": "", "f": 0.0, "b": False}.get(KINDS.get(v.type, "i"), 0)
            values[v.name] = self.cut(v, self.file.value_of(v.initial) if v.initial else zero)
        return Instance(key, self.machine.states[0], values, epoch=self.epoch)

    def cut(self, variable, value):
        if variable.type == "string":
            return value[: -(-(variable.bytes or DEFAULT_STRING) // 8) * 8 - 1]
        return float(value) if variable.type == "f64" else as_integer(value, variable.type)

    def copy(self, original, event):
        copies = self.ordered(original.state, lambda t: t.type == event["event"] and t.copy_by is not None)
        for found in copies:
            key = self.key_of(found.copy_by, event)
            child = Instance(key, original.state, dict(original.values), epoch=original.epoch, trail=list(original.trail))
            if self.holds(found, child, event):
                break
        else:
            return
        original.touched = self.whole.next_order()
        if self.by_key(key):
            return
        if found.target == "END":
            raise Unsaid("a copy that ends")
        effects = self.move(found, child, event)
        if effects:
            raise Unsaid("a copy that tells")
        child.opener = event_value(event, "pid")
        if not self.keep(child):
            return
        self.enter(child, event["ts"])  # also where it has not changed its state

    def keep(self, instance):
        """Gives an instance its place; False: there is none."""
        share = self.file.value_of(self.machine.per_process) if self.machine.per_process and self.machine.keys else self.pool + 1
        if (sum(i.opener == instance.opener for i in self.instances) >= share or
                len(self.instances) >= self.pool and not self.machine.replaces()):
            self.stats.pool_exhausted += 1
            return False
        self.stats.runs_opened += 1
        instance.kept = True
        self.instances.append(instance)
        self.stats.runs_live_max = max(self.stats.runs_live_max, min(len(self.instances), self.pool))
        return True

    def take(self, transition, instance, event):
        """The transition with everything that follows from it."""
        before = instance.state
        effects = self.move(transition, instance, event)
        if instance.kept and transition.target == "END":
            self.instances.remove(instance)
        if not instance.kept and transition.target not in ("END", "STAY", before.name):
            instance.opener = event_value(event, "pid")
            if not self.keep(instance):
                return
        if transition.target not in ("END", "STAY"):
            self.enter(instance, event["ts"])
        self.tell(instance, effects, event)

    def enter(self, instance, ts):
        instance.armed = self.whole.next_order()
        instance.due = [(ts + self.file.value_of(t.after), i, t)
                        for i, t in enumerate(self.ordered(instance.state, lambda t: t.type is None))]

    def move(self, transition, instance, event):
        """Blocks, state and trail; returns what is to be told, as (what, ...) in order."""
        before, after = instance.state, instance.state
        blocks = [(transition.block, transition)]
        if transition.target != "STAY":
            blocks.insert(0, (before.exit, None))
        if transition.target not in ("STAY", "END"):
            after = self.machine.state(transition.target)
            blocks.append((after.entry, None))
        effects = []
        for block, at in blocks:
            scope = Scope(self.file, self.machine, at.type if at else None, at.name if at else None)
            for action in block:
                self.act(action, scope, Env(self.file, self.machine, instance, event), effects)
        to = "END" if transition.target == "END" and instance.kept else after.name
        instance.trail.append({"event": event["event"], "from": before.name, "to": to,
                               **{k: event_value(event, k) for k in ("ts", "cpu", "pid", "tid")}})
        if event["event"] != "AFTER":
            instance.touched = self.whole.next_order()
        instance.state, instance.moved = after, {k: event_value(event, k) for k in HEADER}
        return effects

    # -- what blocks do

    def act(self, action, scope, env, effects):
        if isinstance(action, Assign):
            try:
                variable = next(v for v in self.machine.variables if v.name == action.name)
                env.instance.values[action.name] = self.cut(variable, evaluate(scope, action.value, env))
            except DivisionByZero:
                self.stats.divisions_by_zero += 1
        elif isinstance(action, Emit):
            effects.append(("emit", self.raised(action, scope, env)))
        elif isinstance(action, Call):
            effects.append(("warn", None, {}))
        else:
            effects.append(("warn",) + self.warning(action, scope, env))

    def raised(self, action, scope, env):
        fields = self.file.types[action.type]
        event = {"event": action.type, **{k: event_value(env.event, k) for k in HEADER}}
        for name, type_name in fields.items():
            event[name] = {"s": "", "f": 0.0, "b": False}.get(KINDS.get(type_name, "i"), 0)
        for name, expr in action.fields:
            try:
                event[name] = field_value(evaluate(scope, expr, env), fields[name])
            except DivisionByZero:
                pass
        return event

    def warning(self, action, scope, env):
        text, values = "", {}
        for part in action.parts:
            if isinstance(part, str):
                text += part
                continue
            try:
                value = evaluate(scope, part, env)
            except DivisionByZero:
                value = None
            values[print_expr(part, VALUE)] = value
            text += "?" if value is None else shown(value, kind(scope, part))
        return text, values

    def tell(self, instance, effects, event):
        warned = [e for e in effects if e[0] == "warn"]
        if warned:
            values = {}
            for _, _, more in warned:
                for text, value in more.items():
                    name(values, text, value)
            tainted = instance.epoch != self.epoch
            if tainted and self.machine.loss == "DISCARD":
                raise Unsaid("what becomes of a discarded one")
            self.stats.matches += 1
            self.whole.matches.append({
                "match": self.name, **{k: event_value(event, k) for k in HEADER},
                "warning": "; ".join(text for _, text, _ in warned if text is not None), "return": values,
                "trail": instance.trail[-self.trail:] if self.trail else [],
                "tainted": tainted and self.machine.loss != "KEEP"})
        for effect in effects:
            if effect[0] == "emit":
                self.whole.raise_event(effect[1])

    # -- timers

    def next_due(self):
        """(time, order of arming, place) of the next timer, or None."""
        found = [(due[0], i.armed, due[1]) for i in self.instances for due in i.due]
        return min(found) if found else None

    def fire(self, which):
        time, armed, place = which
        instance = next(i for i in self.instances if i.armed == armed)
        timer = next(d for d in instance.due if d[:2] == (time, place))
        instance.due.remove(timer)
        event = {**instance.moved, "event": "AFTER", "ts": time}
        if self.holds(timer[2], instance, event):
            instance.due = [d for d in instance.due if d[0] != time]
            self.take(timer[2], instance, event)


def as_integer(value, type_name):
    return value if isinstance(value, bool) else narrow(value, type_name)


def field_value(value, type_name):
    if isinstance(value, str):
        return value[:EVENT_STRING]
    return float(value) if type_name == "f64" else as_integer(value, type_name)


def name(values, text, value):
    """Enters a value under its text, with a number where that stands for another value; None, a division by zero, is one too."""
    number, key = 1, text
    while key in values and values[key] != value:
        number += 1
        key = f"{text} ({number})"
    values[key] = value


def shown(value, kind_name):
    if kind_name == "b":
        return "true" if value else "false"
    if kind_name != "f":
        return str(value)
    return next(t for t in (f"{value:.{digits}g}" for digits in (15, 16, 17)) if float(t) == value)


class Oracle:
    """Everything of one file over one stream."""

    def __init__(self, file, events):
        self.file, self.events, self.matches, self.order = file, events, [], 0
        self.steps = [(Steps if isinstance(i, Machine) else RuleSteps)(self, i) for i in file.items]
        self.fired = self.raised = 0
        self.queue = []

    def next_order(self):
        self.order += 1
        return self.order

    def run(self):
        for event in self.events:
            self.pass_time(event["ts"])
            self.deal(event)
        return self.matches

    def pass_time(self, now):
        while True:
            due = [(*d, i) for i, s in enumerate(self.steps) for d in [s.next_due()] if d and d[0] < now]
            if not due:
                return
            self.fired += 1
            if self.fired > TIMERS_MAX:
                raise Unsaid("too many timers")
            *which, index = min(due)
            self.steps[index].fire(tuple(which))
            self.deal()

    def raise_event(self, event):
        self.raised += 1
        self.queue.append(event)

    def deal(self, *events):
        """With an event, then with what was raised, in the order in which it was."""
        self.queue = [*events, *self.queue]
        while self.queue:
            event = self.queue.pop(0)
            for steps in self.steps:
                if event["event"] in steps.types:
                    steps.step(event)

    def stats(self):
        return {s.name: vars(s.stats) for s in self.steps}


def main():
    with open(sys.argv[1], encoding="utf-8") as text:
        file = machine_text.parse(text.read())
    with open(sys.argv[2], encoding="utf-8") as lines:
        oracle = Oracle(file, [json.loads(line) for line in lines if line.strip()])
    for match in oracle.run():
        print(json.dumps(match))
    print(json.dumps(oracle.stats()))


if __name__ == "__main__":
    main()
