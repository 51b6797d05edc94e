# SPDX-License-Identifier: BSD-2-Clause
"""
A rule as Python objects: the pattern as a tree, conditions as expression trees. Nothing here knows how a rule is
executed; ruletext.py prints and parses these objects, legal.py judges them, oracle.py enumerates their matches.
"""

from dataclasses import dataclass, field

HEADER = {"ts": "time", "cpu": "u32", "pid": "u32", "tid": "u32", "comm": "string"}
ALIASES = {"TimeStamp": "ts", "CpuId": "cpu", "ProcessId": "pid", "ThreadId": "tid"}
FUNCTIONS = ("min", "max", "avg", "sum", "first", "last")


# --- patterns. Nodes compare by identity; parent and index are set by Rule.resolve. high None = without limit.


class Node:
    parent = None
    index = 0


@dataclass(eq=False)
class Spec(Node):
    type: str
    name: str = None
    length: str = None  # text of the length, "[>=2]"; None: a single event
    low: int = 1
    high: int = 1
    id: int = -1  # place in the text, from 0
    negated: bool = False

    @property
    def is_array(self):
        return self.length is not None


@dataclass(eq=False)
class Seq(Node):
    children: list
    repeat: str = ""
    low: int = 1
    high: int = 1


@dataclass(eq=False)
class Alt(Node):
    children: list
    repeat: str = ""
    low: int = 1
    high: int = 1


@dataclass(eq=False)
class Neg(Node):
    child: object

    @property
    def children(self):
        return [self.child]


def is_repeated(node):
    return isinstance(node, (Seq, Alt)) and (node.low, node.high) != (1, 1)


def children_of(node):
    return [] if isinstance(node, Spec) else node.children


def walk_nodes(node):
    yield node
    for child in children_of(node):
        yield from walk_nodes(child)


# --- expressions


@dataclass
class Const:
    value: object  # int, float, bool or str
    text: str


@dataclass
class Field:
    name: str  # of the element
    field: str


@dataclass
class Func:
    name: str
    function: str  # len or one of FUNCTIONS
    field: str = None
    brackets: bool = False


@dataclass
class Bin:
    op: str
    left: object
    right: object


@dataclass
class Not:
    operand: object


@dataclass
class In:
    operand: object
    values: list


@dataclass
class Like:
    operand: object
    pattern: str


@dataclass
class Join:
    field: str


def parts_of(expr):
    if isinstance(expr, Bin):
        return [expr.left, expr.right]
    if isinstance(expr, Not):
        return [expr.operand]
    if isinstance(expr, In):
        return [expr.operand] + expr.values
    if isinstance(expr, Like):
        return [expr.operand]
    return []


def leaves(expr):
    """The Const, Field and Func nodes of an expression, left to right."""
    parts = parts_of(expr)
    if not parts:
        return [expr]
    return [leaf for part in parts for leaf in leaves(part)]


# --- rules


@dataclass
class Condition:
    """A condition of WHERE with what the language calls its kind (settled meaning 4 and 5)."""

    kind: str  # guard, correlation, relation, negated
    expr: object
    ids: list  # elements named, ascending
    id: int  # the element it hangs on


@dataclass
class Rule:
    name: str
    pattern: object
    semantics: str = None  # None: not written, SKIPTILLNEXT
    where: list = field(default_factory=list)  # Join or expression
    within: str = None
    within_ns: int = None
    returns: object = None  # None, "SEQUENCE" or [(expression, AS name or None, key in the result)]
    over: object = None  # None, "*" or [type names]
    drop: bool = False
    latest: bool = False
    pool: int = None
    per_key: int = None
    per_process: int = None
    full: str = None  # REFUSE or REPLACE; None: not written, see replaces()
    severity: str = None
    loss: str = None  # None: not written, TAINT
    mode: str = ""
    emits: list = field(default_factory=list)  # (type, [(field, expression)])
    excepts: list = field(default_factory=list)  # conditions of EXCEPT

    def resolve(self, types):
        """Numbers the elements, takes the conditions apart. types: {name: {field: type}}."""
        self.types = types
        self.specs = []
        self._link(self.pattern, None, 0, False)
        self.by_name = {s.name: s for s in self.specs if s.name}
        self.joins = [c.field for c in self.where if isinstance(c, Join)]
        self.conditions = [self._classify(e) for c in self.where if not isinstance(c, Join) for e in conjuncts(c)]
        return self

    def _link(self, node, parent, index, negated):
        node.parent, node.index = parent, index
        if isinstance(node, Spec):
            node.id, node.negated = len(self.specs), negated
            self.specs.append(node)
        for i, child in enumerate(children_of(node)):
            self._link(child, node, i, negated or isinstance(node, Neg))

    def _classify(self, expr):
        ids = sorted({self.by_name[x.name].id for x in leaves(expr) if not isinstance(x, Const)})
        negated = [i for i in ids if self.specs[i].negated]
        if negated:
            return Condition("negated", expr, ids, negated[-1])
        functions = any(isinstance(x, Func) for x in leaves(expr))
        if len(ids) == 1 and not functions:
            return Condition("guard", expr, ids, ids[0])
        if not functions and isinstance(expr, Bin) and expr.op == "==":
            for side in (expr.left, expr.right):
                if isinstance(side, Field) and self.by_name[side.name].id == ids[-1]:
                    return Condition("correlation", expr, ids, ids[-1])
        return Condition("relation", expr, ids, ids[-1] if ids else -1)

    def kind_is(self):
        return self.semantics or "SKIPTILLNEXT"

    def replaces(self):
        """Does a run that finds no place take that of the oldest?"""
        return self.full == "REPLACE" or not self.full and self.severity in ("high", "critical")

    def has_pool(self):
        """Do its runs depend on each other?"""
        return bool(self.pool or self.latest)

    def is_plain(self):
        """Is the pattern a sequence of single events?"""
        return all(isinstance(n, Seq) and not n.repeat or isinstance(n, Spec) and not n.is_array
                   for n in walk_nodes(self.pattern))

    def demanded(self, spec):
        """The fields of earlier elements that a field of this one must equal, whatever else holds."""
        sides = [side for c in self.conditions if c.kind == "correlation" and c.id == spec.id
                 for side in (c.expr.left, c.expr.right)]
        return [side for side in sides if isinstance(side, Field) and self.by_name[side.name] is not spec]

    def guards(self, spec):
        return [c for c in self.conditions if c.kind == "guard" and c.id == spec.id]

    def stream_types(self):
        """The types of the rule's stream, None for every type."""
        if self.over == "*":
            return None
        return set(self.over) if self.over else {s.type for s in self.specs}

    def field_type(self, type_name, field_name):
        """The declared type of a field of an event type; None where it has no such field."""
        name = ALIASES.get(field_name, field_name)
        return HEADER.get(name) or self.types.get(type_name, {}).get(name)


def conjuncts(expr):
    """A top-level AND is the same as a comma."""
    if isinstance(expr, Bin) and expr.op == "AND":
        return conjuncts(expr.left) + conjuncts(expr.right)
    return [expr]


def event_value(event, field_name):
    """A field of an event as read from a JSON line; header fields default to 0."""
    name = ALIASES.get(field_name, field_name)
    if name in event:
        return event[name]
    return "" if name == "comm" else 0
