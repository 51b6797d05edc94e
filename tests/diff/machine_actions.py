# SPDX-License-Identifier: BSD-2-Clause
"""Random conditions and blocks of generated machines."""

import ruletext
from machine_model import Assign, Const, Emit, Scope, Warn
from model import Bin, Field, In, Like, Not

OPERATORS = ["+", "+", "-", "-", "*", "&", "|", "^", "<<", ">>", "/", "%"]
HEADER = {"ts": "time", "cpu": "u32", "pid": "u32", "tid": "u32", "comm": "string"}


def const(value):
    if isinstance(value, bool):
        return Const(value, "TRUE" if value else "FALSE")
    return Const(value, ruletext.quote(value) if isinstance(value, str) else str(value))


def sort_of(kind):
    return kind if kind in ("bool", "string", "f64") else "integer"


class Place:
    """The names that may stand at one place, by sort. event: a transition whose event's fields are there."""

    def __init__(self, maker, transition, event_alone=False):
        self.names = {"integer": [], "bool": [], "string": [], "f64": []}
        self.times = set()
        file, machine = maker.file, maker.machine
        scope = Scope(file, machine)
        bare = [] if event_alone else [v.name for v in machine.variables] + \
            [k for k in machine.keys if k not in maker.hidden]
        bare += list(file.parameters)
        for name in bare:
            self.add(scope.bare_type(name), Field(None, name))
        fields = file.types[transition.type] if transition and transition.type else {}
        shadowed = {v.name for v in machine.variables} | set(machine.keys)
        for name, kind in {**fields, **HEADER}.items():
            if transition and transition.name and maker.chance(0.5):
                self.add(kind, Field(transition.name, name))
            elif name not in shadowed:
                self.add(kind, Field(None, name))
        self.parameters = set(file.parameters)

    def add(self, kind, expr):
        self.names[sort_of(kind)].append(expr)
        if kind == "time":
            self.times.add((expr.name, expr.field))

    def is_time(self, expr):
        return isinstance(expr, Field) and (expr.name, expr.field) in self.times


class Actions:
    def __init__(self, maker):
        self.maker, self.rng, self.chance = maker, maker.rng, maker.chance

    def name(self, place, sort):
        return self.rng.choice(place.names[sort])

    # -- expressions

    def integer(self, place, division=True, depth=0):
        left = self.name(place, "integer")
        if depth > 1 or self.chance(0.45):
            return left
        op = self.rng.choice(OPERATORS if division else OPERATORS[:-2])
        if op in ("<<", ">>"):
            return Bin(op, left, const(self.rng.choice([1, 3, 31])))
        if op in ("/", "%"):
            return Bin(op, left, self.divisor(place))
        if self.chance(0.5):
            return Bin(op, left, const(self.rng.choice([1, 2, 7, 100, 255])))
        return Bin(op, left, self.integer(place, division, depth + 1))

    def divisor(self, place):
        names = [n for n in place.names["integer"] if n.field not in place.parameters]
        return self.rng.choice(names) if self.chance(0.6) else const(self.rng.choice([2, 3, -2]))

    def condition(self, place, depth=0):
        sorts = ["integer"] * 4 + [s for s in ("bool", "string") if place.names[s]]
        roll = self.rng.random()
        if depth < 2 and roll < 0.15:
            return Bin(self.rng.choice(["AND", "OR"]), self.condition(place, depth + 1), self.condition(place, depth + 1))
        if depth < 2 and roll < 0.22:
            return Not(self.condition(place, depth + 1))
        return {"integer": self.compare, "bool": self.truth, "string": self.text}[self.rng.choice(sorts)](place)

    def compare(self, place):
        left = self.integer(place)
        if self.chance(0.1):
            return In(self.name(place, "integer"), [const(v) for v in self.rng.sample([0, 1, 2, 3, 255], 2)])
        right = const(self.rng.choice([0, 1, 1, 2, 3, 100])) if self.chance(0.7) else self.name(place, "integer")
        if place.is_time(right) and not isinstance(left, Field):
            right = const(1)  # the difference of two times is none
        return Bin(self.rng.choice(["<", "<=", "==", "!=", "!=", ">", ">="]), left, right)

    def truth(self, place):
        name = self.name(place, "bool")
        return name if self.chance(0.5) else Bin(self.rng.choice(["==", "!="]), name, const(self.chance(0.5)))

    def text(self, place):
        name = self.name(place, "string")
        if name.field in place.parameters:
            return Bin("==", self.name(place, "integer"), const(1))
        if self.chance(0.3):
            return Like(name, self.rng.choice(["a*", "*b", "*", "s*h", "y*y"]))
        other = self.name(place, "string")
        if self.chance(0.5) or other.field in place.parameters:
            other = const(self.rng.choice(["", "a", "ab", "ssh"]))
        return Bin(self.rng.choice(["==", "!="]), name, other)

    def conditions(self, transition, event_alone):
        place = Place(self.maker, transition, event_alone)
        return [self.condition(place) for _ in range(self.rng.choice([1, 1, 1, 2]))]

    def value(self, place, sort, division=True):
        if sort == "integer":
            return self.integer(place, division) if self.chance(0.85) else const(self.rng.choice([0, 1, 100]))
        if sort == "bool":
            return self.rng.choice([self.compare_plain(place), self.truth(place) if place.names["bool"] else const(True)])
        if sort == "string":
            return self.name(place, "string") if self.chance(0.8) else const(self.rng.choice(["", "abc", "ssh"]))
        if place.names["f64"]:
            return Bin("+", self.name(place, "f64"), const(0.5)) if self.chance(0.6) else self.name(place, "f64")
        return const(1.5)

    def compare_plain(self, place):
        return Bin(self.rng.choice(["<", "=="]), self.name(place, "integer"), const(self.rng.choice([0, 1, 2])))

    # -- blocks

    def block(self, transition, effects):
        place, out = Place(self.maker, transition), []
        for _ in range(self.rng.choice([1, 1, 2, 3, 4])):
            roll = self.rng.random()
            if self.maker.machine.variables and (roll < 0.4 or not effects):
                out.append(self.assignment(place))
            elif effects and self.maker.raised and roll < 0.6:
                out.append(self.emission(place))
            elif effects:
                out.append(self.warning(place))
        for warned in [a for a in out if isinstance(a, Warn) and self.chance(0.35)]:
            out.append(Warn(warned.parts))  # of the same texts, perhaps of other values
        return out

    def assignment(self, place):
        variable = self.rng.choice(self.maker.machine.variables)
        return Assign(variable.name, self.value(place, sort_of(variable.type)))

    def emission(self, place):
        target, out = self.rng.choice(self.maker.raised), []
        for name, kind in self.maker.file.types[target].items():
            if self.chance(0.8):
                out.append((name, self.field_of(place, name, kind)))
        return Emit(target, out)

    def field_of(self, place, name, kind):
        """The key's own column where there is one, so that what is raised finds its instances."""
        same = [n for n in place.names[sort_of(kind)] if n.field[1:] == name[1:] and name[1:]]
        if same and self.chance(0.8):
            return self.rng.choice(same)
        if sort_of(kind) == "integer" and self.chance(0.3):
            return const(self.rng.choice([0, 1]))
        return self.value(place, sort_of(kind))

    def warning(self, place):
        parts = [self.rng.choice(["hit", "a{b}", 'said "x"', "left }", "%d \\n"])]
        for _ in range(self.rng.choice([0, 1, 1, 2, 4])):
            sort = self.rng.choice(["integer"] * 5 + [s for s in ("bool", "string") if place.names[s]])
            expr = self.value(place, sort, self.chance(0.2)) if sort == "integer" else self.name(place, sort)
            if sort == "integer" and self.chance(0.6):
                expr = Bin("+", expr, const(self.rng.choice([1, 2, 1000])))
            parts += [" ", expr]
        return Warn(parts)
