# SPDX-License-Identifier: BSD-2-Clause
"""
Random files with machines and rules, and streams for them, from a seed. Keys have few values, so that events find instances, and
timers few and short times, so that they meet events and each other. Every file is legal. What docs/machines.md leaves open is
not generated where that is seen from the text; the oracle raises Unsaid for the rest.
"""

import random

from machine_actions import Actions, const
from machine_model import Const, Emit, File, Machine, Parameter, State, Transition, Variable, key_types
from model import Field, Join, Neg, Rule, Seq, Spec

SIGNED, UNSIGNED, MIXED = ["i8", "i16", "i32", "i64", "u8", "u16", "u32"], ["u64", "u32", "u8", "addr"], ["i64", "u64"]
KEY_VALUES = {"string": ["", "a", "ab"], "bool": [False, True], "u64": [0, 1, 2**63 + 1], "addr": [0, 1, 2**63 + 1]}
VALUES = {
    "u8": [0, 1, 2, 255], "u16": [0, 1, 3, 65535], "u32": [0, 1, 2, 2**32 - 1], "i8": [-128, -1, 0, 1, 127], "i16": [-300, -1, 0, 2],
    "i32": [-(2**31), -2, 0, 1, 70000], "i64": [-(2**63), -1, 0, 1, 2**40], "u64": [0, 1, 2**32 + 7, 2**64 - 1], "time": [0, 1, 9],
    "addr": [0, 1, 2**63 + 5], "bool": [False, True], "f64": [-0.5, 0.25, 1.0, 2.0], "string": ["", "a", "ab", "ssh", "x" * 30, "y" * 70],
}
INTEGERS = ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "time", "addr"]
TIMES = [("1", 1), ("2", 2), ("3ns", 3), ("5", 5), ("5", 5), ("10", 10), ("0x14", 20)]
HEADER = {"cpu": [0, 1], "pid": [1, 2], "tid": [1, 2, 3], "comm": ["aa", "b"]}


class Generator:
    def __init__(self, seed, kernel=False):
        self.rng, self.kernel = random.Random(seed), kernel
        self.file = File({})
        self.columns = [self.column() for _ in range(3)]
        self.base = ["A", "B", "C", "D"][: self.rng.choice([2, 3, 4, 4])]
        self.derived = ["P", "Q", "R"]
        for name in self.base + self.derived:
            self.file.types[name] = self.fields()
        self.file.types["Tick"] = {}
        self.parameters()

    def chance(self, p):
        return self.rng.random() < p

    # -- declarations

    def column(self):
        """The types that the fields of one key may have."""
        return self.rng.choice([SIGNED] * 6 + [UNSIGNED, UNSIGNED, MIXED, ["string"], ["string"], ["bool"]])

    def fields(self):
        """k0.. or q0.. carry the keys, c0.. and cp those of a copy; the rest are values."""
        out = {}
        letter = self.rng.choice("kkkkq")
        for i, types in enumerate(self.columns):
            out[f"{letter}{i}"] = self.rng.choice(types)
        if self.chance(0.65):
            out.update({f"c{i}": self.rng.choice(types) for i, types in enumerate(self.columns)}, cp="u32")
        for name in "uvw":
            if self.chance(0.6):
                out[name] = self.rng.choice(INTEGERS)
        for name, kind, p in (("s", "string", 0.4), ("b", "bool", 0.4), ("x", "f64", 0.0 if self.kernel else 0.2)):
            if self.chance(p):
                out[name] = kind
        return out

    def parameters(self):
        for name, values in (("pint", [1, 2, 100]), ("ptext", ["a", "ssh"]), ("ptrue", [True, False])):
            if self.chance(0.4):
                self.file.parameters[name] = const(self.rng.choice(values))
        if self.chance(0.5):
            self.file.parameters["ptime"] = Const(*reversed(self.rng.choice(TIMES)))
        if self.chance(0.4):
            self.file.parameters["pcount"] = const(self.rng.choice([1, 2, 3, 8]))

    def limited(self, values):
        """A count, by a parameter now and then."""
        if "pcount" in self.file.parameters and self.chance(0.2):
            return Parameter("pcount")
        return const(self.rng.choice(values))

    # -- machines

    def maker(self, *arguments):
        """A machine within what the compiler takes: 32 EMITs over all transitions, with EXIT and ENTRY."""
        while True:
            made = MachineMaker(self, *arguments).machine
            if emits_of(made) <= 32:
                return made

    def machine(self, name, level):
        """Takes what is raised below its level, raises what only those above take."""
        raised = self.derived[level:] if self.chance(0.7) else []
        return self.maker(name, self.base + self.derived[:level], raised)

    def chain(self):
        """Machines and rules, each of which takes what the one before raises."""
        out = []
        for level in range(4):
            must, raised = self.derived[level - 1:level], self.derived[level:level + 1]
            if self.chance(0.7):
                out.append(self.maker(f"m{level}", must * 5 + self.base[:1], raised))
            else:
                out.append(self.rule(f"r{level}", level, must))
        return out

    def rule(self, name, level, must=()):
        taken, raised = self.base + self.derived[:level], self.derived[level:]
        first = Spec(self.rng.choice(list(must) or taken), "x")
        second = Spec(self.rng.choice(taken), "y")
        shape = self.rng.choice(["one", "one", "two", "not"])
        pattern = {"one": first, "two": Seq([first, second]), "not": Seq([first, Neg(second)])}[shape]
        rule = Rule(name, pattern)
        if shape != "one" and self.chance(0.7):
            rule.where.append(Join(self.rng.choice(["tid", "pid"])))
        if shape == "not" or shape == "two" and self.chance(0.5):
            rule.within, rule.within_ns = self.rng.choice(TIMES)
        names = [("x", first.type)] + ([("y", second.type)] if shape == "two" else [])
        values = [Field(n, f) for n, t in names for f, k in [*self.file.types[t].items(), ("ts", "time")] if k != "f64"]
        rule.returns = [(v, None, f"{v.name}.{v.field}") for v in self.rng.sample(values, min(3, len(values)))]
        for target in raised[:1] if self.chance(0.7) else []:
            rule.emits.append((target, self.carried(target, first)))
        return rule.resolve(self.file.types)

    def carried(self, target, spec):
        """Fields of an event that a rule raises, from those of one of its events of the same sort."""
        have, out = self.file.types[spec.type], []
        for name, kind in self.file.types[target].items():
            sort = sort_of(kind)
            usable = [f for f, k in have.items() if sort_of(k) == sort]
            same = [f for f in usable if f[1:] == name[1:] and f[1:]]
            if usable and self.chance(0.85):
                out.append((name, Field("x", self.rng.choice(same or usable))))
        return out

    def make(self):
        """A file: one to three machines, with rules or without, or a chain of them."""
        if self.chance(0.2):
            self.file.items = shuffled(self.rng, self.chain())
            return self.file
        count = self.rng.choice([1, 1, 2, 2, 3])
        items = [self.machine(f"m{i}", self.rng.choice([0, 0, 0, 1, 2, 3]) if i else 0) for i in range(count)]
        for i in range(self.rng.choice([0, 0, 1, 2])):
            items.append(self.rule(f"r{i}", self.rng.choice([0, 1, 2, 3])))
        self.rng.shuffle(items)
        self.file.items = items
        return self.file

    # -- streams

    def stream(self):
        out, ts = [], self.rng.choice([0, 1, 100])
        focus = self.rng.choice([0.5, 0.8, 1.0])  # share of the commonest key
        for _ in range(self.rng.choice([12, 25, 40, 60])):
            ts += self.rng.choice([0, 0, 1, 1, 1, 2, 3, 5, 10])
            out.append(self.event(ts, focus))
        return out

    def event(self, ts, focus):
        name = "Tick" if self.chance(0.04) else self.rng.choice(self.base if self.chance(0.92) else self.derived)
        event = {"event": name, "ts": ts}
        for field, values in HEADER.items():
            event[field] = values[0] if field in ("pid", "tid") and self.chance(focus * 0.8) else self.rng.choice(values)
        for field, kind in self.file.types[name].items():
            if field[1:] and field[0] in "kqc":
                values = KEY_VALUES.get(kind, [0, 1, 2] if kind[0] == "u" else [1, 0, -1])
                if self.columns[0 if field == "cp" else int(field[1:])] is MIXED and kind == "u64":
                    values = [1, 0, 2**64 - 1]
                event[field] = values[-2] if self.chance(focus * 0.5) else self.rng.choice(values)
            else:
                event[field] = self.rng.choice(VALUES[kind])
        return event


def sort_of(kind):
    return kind if kind in ("bool", "string", "f64") else "integer"


class MachineMaker:
    def __init__(self, made, name, taken, raised):
        self.made, self.rng, self.file, self.chance = made, made.rng, made.file, made.chance
        self.columns = self.rng.choice([[], ["0"], ["0"], ["0", "1"], ["pid", "0"], ["tid"], ["pid", "0", "1"], ["1", "2", "0"]])
        keys = [c if c in HEADER else self.rng.choice(["k", "k", "k", "id"]) + c for c in self.columns]
        self.machine = Machine(name, keys, [State(f"S{i}") for i in range(self.rng.choice([1, 2, 2, 3, 3, 4, 6]))])
        self.taken = list(dict.fromkeys(self.rng.sample(taken, min(len(taken), self.rng.choice([1, 2, 3, 4])))))
        self.raised, self.any_type = raised, None
        if len(self.taken) > 1 and len(keys) > 1 and self.chance(0.3):
            self.any_type = self.taken.pop()
        self.quiet = self.chance(0.25)  # a small pool: what is refused must not have told anything
        self.header()
        self.ways = {t: (self.way(t, "kq"), self.way(t, "c")) for t in self.taken}
        self.lead()
        self.hidden = self.hidden_keys()
        self.actions = Actions(self)
        self.fill()

    def header(self):
        m = self.machine
        if self.quiet:
            m.pool = self.made.limited([1, 1, 2, 3, 4])
            m.full = self.rng.choice([None, None, "REFUSE", "REPLACE", "REPLACE"])
            m.severity = self.rng.choice([None, None, "low", "high", "critical"])
            if self.chance(0.35):
                m.per_process = self.made.limited([1, 1, 2, 3])
        if self.chance(0.5):
            m.trail = self.made.limited([0, 1, 2, 3, 4, 5, 8, 15, 16])
        m.loss = self.rng.choice([None, None, None, "TAINT", "KEEP"])
        kinds = INTEGERS * 2 + ["bool", "bool"] + ["string"] * 6 + ([] if self.made.kernel else ["f64"])
        names = ["n0", "n1", "n2", "n3"] + (["v"] if self.chance(0.3) else [])
        for name in names[: self.rng.choice([0, 1, 2, 3, 5])]:
            m.variables.append(self.variable(name, self.rng.choice(kinds)))

    def variable(self, name, kind):
        out = Variable(name, kind, keyword=self.chance(0.7))
        if kind == "string" and self.chance(0.6):
            out.bytes = self.rng.choice([2, 3, 4, 8, 16, 32])
        if self.chance(0.5):
            values = {"string": ["a"], "bool": [True], "f64": [0.5]}
            small = [1, 2, 7] + ([-1, -3] if kind[0] == "i" else [])
            out.initial = const(self.rng.choice(values.get(kind, small)))
        return out

    def way(self, type_name, letters):
        """The fields of a type that carry the keys, None where it has none."""
        have, out = self.file.types[type_name], []
        for column in self.columns:
            found = [f for f in have if f[0] in letters and f[1:] == column]
            if column in HEADER:
                found = ["cp"] if letters == "c" and "cp" in have else [column] if letters != "c" else []
            if not found:
                return None
            out.append(found[0])
        return out

    def hidden_keys(self):
        """Keys whose fields are signed and unsigned 64 bit: what they are worth in an expression is not said."""
        return {k for k in self.machine.keys if {"i64", "u64"} <= key_types(self.file, self.machine, k)}

    # -- transitions

    def on(self, type_name, target):
        by = self.ways[type_name][0]
        t = Transition(type_name, self.rng.choice([None, "e"]), list(by), None, None, [], target, self.chance(0.5))
        if by == self.machine.keys and (not by or self.chance(0.8)):
            t.by = None
        return t

    def lead(self):
        """A way from the start to every state."""
        m = self.machine
        for i, state in enumerate(m.states[1:], 1):
            home = m.transitions if self.chance(0.15) else m.states[self.rng.randrange(i)].transitions
            home.append(self.on(self.rng.choice(self.taken), state.name))
        for state in m.states:
            for _ in range(self.rng.choice([0, 1, 1, 2, 3])):
                state.transitions.append(self.on(self.rng.choice(self.taken), self.target()))
            if self.chance(0.45):
                self.timers(state.transitions)
            if self.chance(0.25):
                self.copies(state.transitions)
        for _ in range(self.rng.choice([0, 0, 0, 1, 2] if any(t.type for t in m.all_transitions()) else [1])):
            m.transitions.append(self.on(self.rng.choice(self.taken), self.target()))
        if self.chance(0.1):
            self.timers(m.transitions)
        if self.chance(0.12):
            self.copies(m.transitions)
        if self.any_type:
            self.any()

    def target(self):
        return self.rng.choice(["STAY", "STAY", "STAY", "END"] + [s.name for s in self.machine.states])

    def timers(self, home):
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            text, ns = self.rng.choice(TIMES)
            after = Parameter("ptime") if "ptime" in self.file.parameters and self.chance(0.2) else Const(ns, text)
            home.append(Transition(None, None, None, None, after, [], self.target(), self.chance(0.5)))

    def copies(self, home):
        types = [t for t in self.taken if self.ways[t][1]]
        for _ in range(self.rng.choice([1, 1, 2])) if types else []:
            t = self.on(self.rng.choice(types), "STAY" if self.chance(0.8) else self.rng.choice(self.machine.states).name)
            t.copy_by = list(self.ways[t.type][1])
            home.append(t)

    def any(self):
        way = self.way(self.any_type, "kq")
        if self.chance(0.7):
            way[self.rng.randrange(len(way))] = "*"
        else:
            way[1:] = ["*"] * (len(way) - 1)
        self.machine.transitions.append(Transition(self.any_type, None, way, None, None, [], "END", True))

    # -- guards and blocks

    def fill(self):
        m = self.machine
        self.guards()
        m.transitions = shuffled(self.rng, m.transitions)
        for state in m.states:
            state.transitions = shuffled(self.rng, state.transitions)
            for t in state.transitions:
                self.fill_block(t, state is m.states[0])
            effects = not self.quiet and not any(t.copy_by and t.target != "STAY" for t in m.all_transitions())
            if self.chance(0.35):
                state.entry = self.actions.block(None, effects)
            if self.chance(0.3) and not self.any_type:
                state.exit = self.actions.block(None, effects)
        for t in m.transitions:
            self.fill_block(t, True)

    def guards(self):
        """At most one transition without WHERE for a type in a state; timers by their times."""
        for home in [s.transitions for s in self.machine.states] + [self.machine.transitions]:
            free = set()
            for t in home:
                what = (t.type, t.copy_by is not None, self.file.value_of(t.after) if t.after else None)
                if what in free or self.chance(0.5):
                    t.where = self.actions.conditions(t, "*" in (t.by or []))
                else:
                    free.add(what)

    def fill_block(self, t, from_start):
        if t.by and "*" in t.by:
            return
        leaves_start = from_start and t.target not in ("STAY", "END", self.machine.states[0].name)
        if self.chance(0.75):
            t.block = self.actions.block(t, t.copy_by is None and not (self.quiet and leaves_start))


def emits_of(machine):
    """How many EMITs all ways through the machine have."""
    def count(block):
        return sum(isinstance(a, Emit) for a in block)
    total = 0
    for home in machine.states:
        outside = [t for t in machine.transitions if t.by is None or "*" not in t.by]
        for t in home.transitions + outside:
            moves = t.target not in ("STAY", "END")
            total += count(t.block) + (count(home.exit) if t.target != "STAY" else 0)
            total += count(machine.state(t.target).entry) if moves else 0
    first = machine.states[0]  # also without an instance
    return total + sum(count(t.block) + count(first.exit) for t in first.transitions + machine.transitions) + \
        2 * sum(count(s.entry) for s in machine.states)


def shuffled(rng, items):
    return rng.sample(items, len(items))
