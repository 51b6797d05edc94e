# SPDX-License-Identifier: BSD-2-Clause
"""
Random declarations, rules and streams from a seed. Alphabets are small and values are few, so that matches are
frequent; half of every stream is laid along the rules. Only rules that legal.py accepts are handed out, except by
rejected_rule(), whose rules the compiler must refuse.
"""

import random

import legal
import ruletext
from lay import groups_of
from model import Alt, Bin, Const, Field, Func, In, Join, Like, Neg, Not, Rule, Seq, Spec, event_value, is_repeated
from model import HEADER, parts_of
from values import KINDS, holds
from oracle import Event

HEADER_VALUES = {"cpu": [0, 1], "pid": [1, 2], "tid": [1, 2], "comm": ["aa", "b"]}
VALUES = {
    "u8": [0, 1, 2, 3], "u16": [0, 1, 2, 3], "u32": [0, 1, 2, 3], "i32": [-2, -1, 0, 1, 2], "i64": [-2, -1, 0, 1, 2],
    "i8": [-1, 0, 1, 2], "i16": [-1, 0, 1, 2], "u64": [0, 1, 2, 2**32, 2**63 - 1, 2**64 - 1], "f64": [-0.5, 0.5, 1.0, 1.5, 2.0],
    "bool": [False, True], "string": ["", "aa", "ab", "b"], "time": [0, 1, 5],
}
LENGTHS = [
    ("[]", 1, None), ("[]", 1, None), ("[]", 1, None), ("[>=2]", 2, None), ("[>1]", 2, None), ("[>=3]", 3, None),
    ("[=1]", 1, 1), ("[=2]", 2, 2), ("[=3]", 3, 3), ("[<3]", 1, 2), ("[<=2]", 1, 2), ("[<4]", 1, 3), ("[1..4]", 2, 3),
    ("[0..3]", 1, 2), ("[>=2, <=3]", 2, 3), ("[>=1, <=2]", 1, 2), ("[>1, <4]", 2, 3), ("[>=5]", 5, None), ("[=6]", 6, 6),
    ("[>4, <=7]", 5, 7),
]
REPEATS = [
    ("*", 0, None), ("+", 1, None), ("?", 0, 1), ("{2}", 2, 2), ("{1,2}", 1, 2), ("{2,3}", 2, 3), ("{1,}", 1, None),
    ("{0,2}", 0, 2), ("{2,}", 2, None),
]
MANY = [("{1,40}", 1, 40), ("{2,40}", 2, 40), ("{3,}", 3, None)]  # more than get places of their own
INTEGERS = ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"]  # of any of them a join compares the numbers
SEMANTICS = ["SKIPTILLNEXT"] * 8 + [None] * 2 + ["SKIPTILLANY"] * 4 + ["STRICTPARTITION"] * 5 + ["STRICTSEQUENCE"] * 3
POOL_SHARE = 0  # of the rules: those of pool_attempt(), about how runs make room for others
POOL_SHARE_ASKED = 1 / 3  # with run.py --pools
WITHIN = [("3", 3), ("5", 5), ("8ns", 8), ("10", 10), ("0x14", 20), ("1us", 1000)]


def constant(value):
    if isinstance(value, bool):
        return Const(value, "TRUE" if value else "FALSE")
    if isinstance(value, str):
        return Const(value, ruletext.quote(value))
    if value < 0:
        return Bin("-", Const(0, "0"), Const(-value, str(-value)))
    return Const(value, str(value))


class Generator:
    def __init__(self, seed, kernel=False, pool_share=POOL_SHARE):
        self.rng = random.Random(seed)
        self.pool_rng, self.pool_share = random.Random(f"{seed}:pool"), pool_share
        self.except_rng = random.Random(f"{seed}:except")  # of its own, so that the rest is as without EXCEPT
        self.kernel = kernel  # no floats
        self.types = self.make_types()

    def chance(self, p):
        return self.rng.random() < p

    # -- declarations

    def make_types(self):
        r, types = self.rng, {}
        x_types = r.choice([["u8"], ["u32"], ["u32"], ["i32"], ["i64"], INTEGERS, INTEGERS, INTEGERS, ["i64", "u64"]])
        for name in "ABCD"[: r.choice([3, 3, 4])]:
            fields = {}
            if self.chance(0.9):
                fields["x"] = r.choice(x_types)
            if self.chance(0.6):
                fields["y"] = r.choice(["i32", "i64", "i8", "i16", "u16"])
            if self.chance(0.25):
                fields["w"] = "u64"
            if self.chance(0.2):
                fields["z"] = r.choice(["bool", "string", "time"] + ["f64"] * (not self.kernel))
            types[name] = fields
        return types

    # -- patterns

    def make_pattern(self):
        self.free_names = list("abcdefghijkmnpqr")
        self.palette = self.rng.sample(list(self.types), self.rng.choice([2, 2, 3, 3]))
        items = [self.item(0) for _ in range(self.rng.choice([1, 2, 2, 2, 3, 3, 4]))]
        pick = self.rng.random()
        if pick < 0.3:
            items = self.closing()
        elif pick < 0.5:
            items = self.nested()
        elif pick < 0.62:
            items = self.guarded()
        for at in range(len(items) - 1, 0, -1):
            if self.chance(0.18):
                items.insert(at, self.negation())
        if self.chance(0.15):
            items.append(self.negation())
        return items[0] if len(items) == 1 and isinstance(items[0], Spec) else Seq(items)

    def closing(self):
        """Something of several events, perhaps a negation, and a follower, often of the same type."""
        first = Spec(self.type(), self.name(0.6), *self.rng.choice(LENGTHS))
        if self.chance(0.3):
            first = Seq([Spec(first.type, self.name(0.3)), self.item(1)][: self.rng.choice([1, 2])],
                        *self.rng.choice(REPEATS))
        follower = Spec(first.type if isinstance(first, Spec) and self.chance(0.5) else self.type(), self.name())
        items = [first, follower]
        if self.chance(0.35):
            items.insert(1, self.negation())
        if self.chance(0.5) or getattr(first, "low", 1) == 0:
            items.insert(0, Spec(self.type(), self.name()))
        if self.chance(0.25):
            items.insert(len(items) - 1, self.optional())
        if self.chance(0.4):
            items.append(self.item(1))
        return items

    def optional(self):
        """A group that may take nothing, so that what stands before it has two followers."""
        parts = [Spec(self.type(), self.name(0.4)) for _ in range(self.rng.choice([1, 1, 2]))]
        repeat = self.rng.choice([r for r in REPEATS if r[1] == 0])
        return Alt(parts, *repeat) if len(parts) > 1 and self.chance(0.5) else Seq(parts, *repeat)

    def nested(self):
        """A repeated group with an array or another group in its round, where it begins or ends, and what follows."""
        group = self.repeating(0.75)
        for _ in range(self.rng.choice([1, 1, 2])):
            beside = [Spec(self.type(), self.name(0.4)) for _ in range(self.rng.choice([0, 0, 1]))]
            parts = beside + [group] if self.chance(0.6) else [group] + beside
            if beside and self.chance(0.35):
                group = Alt(parts, *self.rng.choice(REPEATS))
            else:
                group = Seq(parts, *self.rng.choice(REPEATS))
        items = [group] + [Spec(self.type(), self.name()) for _ in range(self.rng.choice([0, 1, 1, 1]))]
        if group.low == 0 or self.chance(0.4):
            items.insert(0, Spec(self.type(), self.name()))
        return items

    def guarded(self):
        """A repeated group, perhaps at the end of another or of a branch, with a negation behind it."""
        group = Seq([self.item(2) for _ in range(self.rng.choice([1, 2, 2, 2, 3]))],
                    *self.rng.choice([r for r in REPEATS if r[1]] + MANY))
        if self.chance(0.4):
            parts = [Spec(self.type(), self.name(0.4)), group]
            group = self.rng.choice([Alt, Seq, Seq])(parts, *self.rng.choice([("", 1, 1)] * 2 + [r for r in REPEATS if r[1]]))
        items = [Spec(self.type(), self.name()), group, self.negation(), Spec(self.type(), self.name())]
        if self.chance(0.2):
            items.insert(3, self.negation())
        if self.chance(0.25):
            items = [Seq(items[:-1]), items[-1]]
        return items if self.chance(0.7) else [Seq(items, *self.rng.choice(REPEATS)), Spec(self.type(), self.name())]

    def repeating(self, p):
        """An array, with probability p, or a small group."""
        if self.chance(p):
            return Spec(self.type(), self.name(0.6), *self.rng.choice(LENGTHS))
        return Seq([Spec(self.type(), self.name(0.4)) for _ in range(self.rng.choice([1, 2]))], *self.rng.choice(REPEATS))

    def name(self, p=0.85):
        return self.free_names.pop(0) if self.free_names and self.chance(p) else None

    def type(self):
        return self.rng.choice(self.palette if self.chance(0.9) else list(self.types))

    def item(self, depth):
        pick = self.rng.random()
        if pick < 0.62 or depth > 2:
            return Spec(self.type(), self.name())
        if pick < 0.80:
            return Spec(self.type(), self.name(), *self.rng.choice(LENGTHS))
        if pick < 0.90:
            return Alt([self.branch(depth + 1) for _ in range(self.rng.choice([2, 2, 2, 3]))])
        if pick < 0.97:
            repeat = self.rng.choice(REPEATS)
            if self.chance(0.3):
                return Alt([self.branch(depth + 1) for _ in range(2)], *repeat)
            return Seq([self.item(depth + 1) for _ in range(self.rng.choice([1, 2, 2]))], *repeat)
        return Seq([self.item(depth + 1) for _ in range(2)])

    def branch(self, depth):
        first = Spec(self.type(), self.name(0.4))
        if self.chance(0.6):
            return first
        rest = [self.item(depth) for _ in range(self.rng.choice([1, 1, 2]))]
        if self.chance(0.15):
            rest.insert(0, self.negation())
        return Seq([first] + rest)

    def negation(self):
        pick = self.rng.random()
        if pick < 0.6:
            return Neg(Spec(self.type(), self.name(0.6)))
        if pick < 0.85:
            parts = [Spec(self.type(), self.name(0.4)) for _ in range(2)]
            if self.chance(0.15):
                parts[1] = Alt([parts[1], Spec(self.type(), self.name(0.2))])
            return Neg(Seq(parts))
        parts = [Spec(self.type(), self.name(0.4)) for _ in range(2)]
        if self.chance(0.2):
            parts[1] = Seq([parts[1], Spec(self.type())])
        return Neg(Alt(parts))

    # -- expressions

    def fields(self, spec, kinds):
        own = [(f, t) for f, t in self.types[spec.type].items()] * 2
        own += [(f, t) for f, t in HEADER.items() if f in ("cpu", "tid", "comm")]
        return [f for f, t in own if KINDS.get(t, "i") in kinds]

    def values_of(self, spec, field):
        return HEADER_VALUES.get(field) or VALUES[self.types[spec.type][field]]

    def guard(self, spec):
        r = self.rng
        field = r.choice(self.fields(spec, "iufbs"))
        value = constant(r.choice(self.values_of(spec, field)))
        kind = KINDS.get({**HEADER, **self.types[spec.type]}[field], "i")
        f = Field(spec.name, field)
        if kind in "iuf" and self.chance(0.15):
            value = Field(spec.name, r.choice(self.fields(spec, "iuf")))
            return Bin(r.choice(["<", "<=", "==", "!=", ">", ">="]), f, value)
        if kind == "s":
            return r.choice([Bin("==", f, value), Bin("!=", f, value), Like(f, r.choice(["a*", "*b", "a*b", "*", "**a*"])), In(f, [value, constant("b")])])
        if kind == "b":
            return Bin(r.choice(["==", "!="]), f, value)
        simple = Bin(r.choice(["<", "<=", "==", "!=", ">", ">="]), f, value)
        pick = r.random()
        if pick < 0.7:
            return simple
        if pick < 0.78:
            return Not(simple)
        if pick < 0.86 and kind != "f":
            return In(f, [value, constant(r.choice(self.values_of(spec, field)))])
        if pick < 0.93 and kind != "f":
            op = r.choice(["&", "%", "|", "^", "/", "<<", ">>"])
            return Bin(r.choice(["==", "!="]), Bin(op, f, constant(r.choice([1, 2]))), constant(r.choice([0, 1])))
        if pick < 0.97:
            return Bin("OR", simple, Bin(r.choice(["<", ">"]), Bin("/", constant(2), f), constant(1)))
        return Bin("==", Bin("/", constant(2), f), constant(r.choice([1, 2])))

    def value(self, spec, kinds="iu"):
        """A value over one element; of an array, a function."""
        fields = self.fields(spec, kinds)
        if spec.is_array:
            if self.chance(0.35) or not fields:
                return Func(spec.name, "len", None, self.chance(0.2))
            function = self.rng.choice(["min", "max", "sum", "first", "last"] + ["avg"] * (not self.kernel))
            usable = [f for f in fields if self.types[spec.type].get(f) not in ("u64", "string")] or ["tid"]
            field = self.rng.choice(usable)
            if field == "comm" and function not in ("first", "last"):
                field = "tid"
            return Func(spec.name, function, field)
        return Field(spec.name, self.rng.choice(fields or ["tid"]))

    def correlation(self, earlier, later):
        left = Field(later.name, self.rng.choice(self.fields(later, "iu")))
        right = Field(earlier.name, self.rng.choice(self.fields(earlier, "iu")))
        if self.chance(0.25):
            right = Bin(self.rng.choice(["+", "-"]), right, constant(1))
        if self.chance(0.15) and "comm" in self.fields(earlier, "s"):
            left, right = Field(later.name, "comm"), Field(earlier.name, "comm")
        return Bin("==", left, right) if self.chance(0.6) else Bin("==", right, left)

    def relation(self, earlier, later):
        a, b = self.value(earlier), self.value(later)
        pick = self.rng.random()
        if pick < 0.2 and not earlier.is_array and not later.is_array:
            gap = Bin("-", Field(later.name, "ts"), Field(earlier.name, "ts"))
            return Bin(self.rng.choice(["<", "<=", ">", ">="]), gap, constant(self.rng.choice([1, 2, 5, 8])))
        if pick < 0.3:
            return Not(Bin("!=", a, b))
        if pick < 0.4:
            return Bin("OR", Bin("==", a, b), Bin(">", b, constant(1)))
        if pick < 0.5:
            a = Bin(self.rng.choice(["+", "-", "*", "/"]), a, constant(self.rng.choice([1, 2])))
        return Bin(self.rng.choice(["<", "<=", "!=", ">", ">=", ">="]), a, b)

    def array_condition(self, spec):
        value = self.value(spec)
        if isinstance(value, Func) and value.function == "len":
            return Bin(self.rng.choice([">", ">=", "<", "==", "!="]), value, constant(self.rng.choice([1, 2, 3])))
        return Bin(self.rng.choice([">", ">=", "<", "==", "!="]), value, constant(self.rng.choice([0, 1, 2])))

    def make_conditions(self, rule):
        out = []
        named = [s for s in rule.specs if s.name and not s.negated]
        for s in named:
            more = 0.25 if groups_of(s) else 0
            if self.chance(0.22 + more):
                out.append(self.guard(s))
            if s.is_array and self.chance(0.3 + more):
                out.append(self.array_condition(s))
            before = rule.specs[s.id - 1] if s.id else None
            if before and before.is_array and before.type == s.type and self.chance(0.5):
                out.append(self.guard(s))
        for i, later in enumerate(named):
            for earlier in named[:i]:
                if self.chance(0.3):
                    make = self.relation
                    if not later.is_array and not earlier.is_array and self.chance(0.6):
                        make = self.correlation
                    out.append(make(earlier, later))
        for s in rule.specs:
            if s.negated and s.name:
                before = [p for p in named if p.id < s.id and not groups_of(p)]
                if before and self.chance(0.5):
                    out.append(self.rng.choice([self.correlation, self.relation])(self.rng.choice(before), s)
                               if not any(p.is_array for p in before) else self.relation(self.rng.choice(before), s))
                if self.chance(0.4):
                    out.append(self.guard(s))
        self.rng.shuffle(out)
        if len(out) > 1 and self.chance(0.2):
            out[:2] = [Bin("AND", out[0], out[1])]
        return out[:5]

    # -- rules

    def make_joins(self, rule):
        pick = self.rng.random()
        if pick < 0.4:
            return []
        shared = [f for f in ("x", "y") if all(f in self.types[s.type] for s in rule.specs)]
        choices = shared if shared and self.chance(0.6) else ["tid", "pid", "ThreadId", "comm", "cpu"] + shared
        return [Join(f) for f in self.rng.sample(choices, 1 if pick < 0.9 else min(2, len(choices)))]

    def make_returns(self, rule):
        if self.chance(0.5):
            return "SEQUENCE"
        usable = [s for s in rule.specs if s.name and not s.negated and not groups_of(s)]
        if not usable or self.chance(0.1):
            return None
        out = {}
        for s in usable if self.kernel else []:
            for expr in times_of(s):
                out[ruletext.print_expr(expr)] = (expr, None, ruletext.print_expr(expr))
        for _ in range(self.rng.choice([1, 2])):
            expr = self.value(self.rng.choice(usable), "iufs")
            if self.chance(0.3) and isinstance(expr, Field) and expr.field not in ("comm", "z"):
                expr = Bin(self.rng.choice(["+", "-", "*", "/", "%"]), expr, self.value(self.rng.choice(usable), "i"))
            text = ruletext.print_expr(expr)
            name = f"v{len(out)}" if self.chance(0.4) else None
            out[name or text] = (expr, name, name or text)
        return list(out.values())

    def make_excepts(self, rule):
        if self.except_rng.random() < 0.7:
            return []
        self.rng, kept = self.except_rng, self.rng
        usable = [s for s in rule.specs if s.name and not s.negated and not groups_of(s)]
        out = []
        for _ in range(self.rng.choice([1, 1, 2]) if usable else 0):
            later = self.rng.choice(usable)
            earlier = [s for s in usable if s.id < later.id]
            if earlier and self.chance(0.4):
                out.append(self.relation(self.rng.choice(earlier), later))
            elif later.is_array:
                out.append(self.array_condition(later))
            else:
                out.append(self.guard(later))
        self.rng = kept
        return out

    def make_over(self, rule):
        if self.chance(0.55):
            return None
        if self.chance(0.5):
            return "*"
        used = {s.type for s in rule.specs}
        return [t for t in self.types if t in used or self.chance(0.5)]

    def attempt(self, name):
        rule = Rule(name, self.make_pattern(), self.rng.choice(SEMANTICS))
        rule.resolve(self.types)
        rule.where = self.make_joins(rule) + self.make_conditions(rule)
        if rule.pattern and (self.chance(0.3) or legal.ends_with_negation(rule.pattern)):
            rule.within, rule.within_ns = self.rng.choice(WITHIN)
        rule.over = self.make_over(rule)
        rule.drop = self.chance(0.2)
        if self.chance(0.25):
            rule.pool = self.rng.choice([1, 1, 2, 2, 3, 5])
        if self.chance(0.2):
            rule.loss = self.rng.choice(["TAINT", "DISCARD", "KEEP"])
        rule.returns = self.make_returns(rule)
        rule.excepts = self.make_excepts(rule)
        return rule.resolve(self.types)

    # -- rules whose runs make room for others: LATEST, PER KEY, REPLACE

    def pool_attempt(self, name):
        rule = self.attempt(name)
        if self.chance(0.75):
            self.make_keyed(rule)
        rule.latest = rule.latest or self.chance(0.05)
        rule.per_process = self.rng.choice([1, 2, 2, 3]) if self.chance(0.3) and rule.kind_is() != "SKIPTILLANY" else None
        if rule.per_key or rule.per_process or not rule.latest or self.chance(0.7):
            rule.pool = self.rng.choice([2, 3, 4, 4] if rule.per_key else [1, 2, 2, 3, 4])
            rule.full = self.rng.choice([None, "REFUSE", "REPLACE", "REPLACE"])
        if self.chance(0.25):
            rule.severity = self.rng.choice(["info", "medium", "high", "critical"])
        rule.drop = self.chance(0.5)
        return rule.resolve(self.types)

    def make_keyed(self, rule):
        """A plain sequence, of few types so that keys meet, whose elements must equal fields of earlier ones."""
        self.free_names, self.palette = list("abcdef"), self.palette[: self.rng.choice([1, 2, 2, 3])]
        rule.pattern = Seq([Spec(self.type(), self.name(0.95)) for _ in range(self.rng.choice([2, 2, 2, 3, 3, 4]))])
        rule.where = []
        rule.where = self.make_joins(rule.resolve(self.types))
        for before, later in zip(rule.specs, rule.specs[1:]):
            earlier = before if self.chance(0.7) else self.rng.choice(rule.specs[:later.id])
            if earlier.name and later.name and self.chance(0.7):
                make = self.equality if self.chance(0.8) else self.correlation
                rule.where.append(make(earlier, later))
            if later.name and self.chance(0.15):
                rule.where.append(self.guard(later))
        rule.over = self.make_over(rule)
        rule.returns = self.make_keyed_returns(rule) if self.chance(0.9) else self.make_returns(rule)
        rule.excepts = []
        rule.latest = self.chance(0.5)
        rule.per_key = None if rule.latest else self.rng.choice([1, 1, 2, 2, 3])

    def equality(self, earlier, later):
        """Of two fields that often agree in a crowd."""
        fields = [[f for f, t in self.types[s.type].items() if KINDS.get(t, "i") in "iu"] or ["tid"] for s in (earlier, later)]
        left, right = (Field(s.name, self.rng.choice(own)) for s, own in zip((earlier, later), fields))
        return Bin("==", left, right) if self.chance(0.5) else Bin("==", right, left)

    def make_keyed_returns(self, rule):
        """Which events they are, as SEQUENCE would say."""
        named = [Field(s.name, "ts") for s in rule.specs if s.name]
        return [(expr, None, ruletext.print_expr(expr)) for expr in named] or None

    def typed(self, rule):
        """No operator on a kind that it does not take."""
        for c in rule.conditions:
            for x in walk_expr(c.expr):
                if isinstance(x, Bin) and x.op in ("&", "|", "^", "<<", ">>", "%"):
                    if any(isinstance(y, Func) and y.function == "avg" for y in walk_expr(x)):
                        return False
        return not any(
            isinstance(e, Bin) and e.op == "%" and any(isinstance(y, Func) and y.function == "avg" for y in walk_expr(e))
            for e in [e for e, _, _ in (rule.returns if isinstance(rule.returns, list) else [])]
            + [x for c in rule.excepts for x in walk_expr(c)])

    def pick_attempt(self):
        return self.pool_attempt if self.pool_rng.random() < self.pool_share else self.attempt

    def rule(self, name):
        attempt = self.pick_attempt()
        while True:
            rule = attempt(name)
            if self.typed(rule) and legal.verdict(rule)[0] == "accept":
                return rule

    def rejected_rule(self, name):
        attempt = self.pick_attempt()
        while True:
            rule = attempt(name)
            if self.chance(0.3):
                rule.within = rule.within_ns = None
            if legal.verdict(rule)[0] == "reject":
                return rule

    # -- streams

    def random_event(self, type_name=None):
        name = type_name or self.rng.choice(list(self.types))
        event = {"event": name}
        for f, values in HEADER_VALUES.items():
            event[f] = self.rng.choice(values)
        for f, t in self.types[name].items():
            event[f] = self.rng.choice(VALUES[t])
        return event

    def sample(self, node):
        """One way to satisfy the structure or nearly so, as a list of elements."""
        if isinstance(node, Spec):
            top = node.high if node.high is not None else node.low + 2
            return [node] * (self.rng.randint(node.low, max(top, node.low)) + (node.is_array and self.chance(0.1)))
        if isinstance(node, Neg):
            forbidden = self.sample(node.child) if self.chance(0.3) else []
            return forbidden[: len(forbidden) - self.rng.choice([0, 1, 1])]
        top = node.high if node.high is not None else node.low + 2
        rounds = self.rng.randint(node.low, top) if is_repeated(node) else 1
        out = []
        for _ in range(rounds):
            chosen = [self.rng.choice(node.children)] if isinstance(node, Alt) else node.children
            for child in chosen:
                out += self.sample(child)
        return out

    def crowd(self, rule):
        """A stream of several runs at once: events of the rule's types, whose fields have one of two values."""
        events = [self.random_event(self.rng.choice(rule.specs).type) for _ in range(self.rng.randint(10, 30))]
        for event in events:
            for f, t in self.types[event["event"]].items():
                few = [v for v in VALUES[t] if v in (1, 2)]
                event[f] = self.rng.choice(few if len(few) > 1 else VALUES[t])
        return events

    def planted(self, rule):
        out, base = [], None
        for spec in self.sample(rule.pattern)[:10]:
            best = None
            for _ in range(6):
                best = self.random_event(spec.type)
                for f in rule.joins:
                    if out and self.chance(0.93):
                        self.copy_field(best, base, f)
                if all(holds(rule, c.expr, Event(spec.name, best)) for c in rule.guards(spec)):
                    break
            out.append(best)
            if len(out) == 1:
                base = best
            if self.chance(0.25):
                out.append(self.random_event())
        return out

    def copy_field(self, event, base, field):
        if field in HEADER_VALUES or field in event and fits(event_value(base, field), self.types[event["event"]][field]):
            event[field] = event_value(base, field)
        elif field == "ThreadId":
            event["tid"] = event_value(base, "tid")

    def stream(self, rules):
        if self.pool_rng.random() < self.pool_share * 2:
            return self.timed(self.crowd(self.pool_rng.choice([r for r in rules if r.has_pool()] or rules)))
        events, size = [], self.rng.randint(6, 28)
        if self.chance(0.15):
            flood = self.rng.sample(list(self.types), self.rng.choice([1, 2]))
            return self.timed([self.random_event(self.rng.choice(flood)) for _ in range(29)] + [self.random_event()])
        while len(events) < size:
            if self.chance(0.55):
                events += self.planted(self.rng.choice(rules))
            else:
                events += [self.random_event() for _ in range(self.rng.randint(1, 4))]
        return self.timed(events[:30])

    def timed(self, events):
        ts = self.rng.choice([0, 1, 100])
        for event in events:
            ts += self.rng.choice([0, 0, 1, 1, 1, 2, 3, 5, 8])
            event["ts"] = ts
        return events

    def near_miss(self, stream):
        """The same stream with a few small changes."""
        events = [dict(e) for e in stream]
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            at = self.rng.randrange(len(events))
            pick = self.rng.random()
            if pick < 0.2 and len(events) > 3:
                del events[at]
            elif pick < 0.4 and at + 1 < len(events):
                a, b = events[at], events[at + 1]
                a["ts"], b["ts"] = b["ts"], a["ts"]
                events[at], events[at + 1] = b, a
            elif pick < 0.7:
                new = self.random_event(events[at]["event"])
                f = self.rng.choice([k for k in new if k != "event"])
                events[at][f] = new[f]
            elif pick < 0.9:
                step = self.rng.choice([-1, 1])
                for e in events[at:]:
                    e["ts"] += step
            elif len(events) < 30:
                events.insert(at, {**self.random_event(), "ts": events[at]["ts"]})
        events[0]["ts"] = max(0, events[0]["ts"])
        for before, e in zip(events, events[1:]):
            e["ts"] = max(e["ts"], before["ts"])
        return events


def fits(value, type_name):
    """Whether a value, perhaps of another integer type, is one of this type."""
    if type_name not in INTEGERS:
        return True
    bits, low = int(type_name[1:]), -1 if type_name[0] == "i" else 0
    return low * 2 ** (bits - 1) <= value < 2 ** (bits + low)


def times_of(spec):
    """Values that tell which events became an element."""
    if not spec.is_array:
        return [Field(spec.name, "ts")]
    return [Func(spec.name, f, "ts") for f in ("first", "last", "sum")] + [Func(spec.name, "len")]


def walk_expr(expr):
    yield expr
    for part in parts_of(expr):
        yield from walk_expr(part)
