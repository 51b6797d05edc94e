# SPDX-License-Identifier: BSD-2-Clause
"""
A state machine as Python objects, written from docs/machines.md alone. Expressions are those of model.py; a bare name is a
Field without an element. machine_text.py prints and parses these objects, machine_oracle.py executes them.
"""

from dataclasses import dataclass, field

from model import HEADER, Const

START = 0
DEFAULT_POOL, DEFAULT_TRAIL, DEFAULT_STRING = 16384, 4, 64


@dataclass
class Assign:
    name: str
    value: object


@dataclass
class Emit:
    type: str
    fields: list  # (field, expression)


@dataclass
class Warn:
    parts: list  # texts and expressions, in order

    def values(self):
        return [p for p in self.parts if not isinstance(p, str)]


CHANGE_SYSTEM = {"Ask", "BoostThreadPriority", "Continue", "Exec", "Freeze", "Kill", "SetThreadPriority", "ShareCpu", "Signal", "Stop", "Thaw", "Veto"}


@dataclass
class Call:
    """CALL of a function that a replay only reports; its arguments are constants."""

    function: str
    text: str  # the arguments


@dataclass
class Parameter:
    """A constant written by the name of a PARAM."""

    name: str


@dataclass
class Transition:
    type: str = None  # None: AFTER
    name: str = None  # what the event is called
    by: list = None  # None: fields called like the keys; "*" stands for any
    copy_by: list = None
    after: object = None  # Const or Parameter
    where: list = field(default_factory=list)
    target: str = "STAY"  # the name of a state, END, STAY
    arrow: bool = True  # is STAY written?
    block: list = field(default_factory=list)


@dataclass
class State:
    name: str
    entry: list = field(default_factory=list)
    exit: list = field(default_factory=list)
    transitions: list = field(default_factory=list)


@dataclass
class Variable:
    name: str
    type: str
    bytes: int = None
    initial: Const = None
    keyword: bool = True  # is VAR written?


@dataclass
class Machine:
    name: str
    keys: list
    states: list
    transitions: list = field(default_factory=list)  # outside of states
    variables: list = field(default_factory=list)
    pool: object = None  # Const or Parameter
    per_process: object = None
    trail: object = None
    loss: str = None
    full: str = None  # REFUSE or REPLACE
    severity: str = None

    def replaces(self):
        acts = any(isinstance(a, Call) and a.function in CHANGE_SYSTEM for b in self.blocks() for a in b)
        return self.full == "REPLACE" or not self.full and (acts or self.severity in ("high", "critical"))

    def state(self, name):
        return next(s for s in self.states if s.name == name)

    def all_transitions(self):
        return [t for s in self.states for t in s.transitions] + self.transitions

    def blocks(self):
        return [b for s in self.states for b in (s.entry, s.exit)] + [t.block for t in self.all_transitions()]

    def types(self):
        return {t.type for t in self.all_transitions() if t.type}

    def emitted(self):
        return {a.type for b in self.blocks() for a in b if isinstance(a, Emit)}


@dataclass
class File:
    """Everything of one rule file. items: machines and rules, in the order of the text."""

    types: dict  # {name: {field: type}}
    parameters: dict = field(default_factory=dict)  # {name: Const}
    items: list = field(default_factory=list)

    def machines(self):
        return [m for m in self.items if isinstance(m, Machine)]

    def rules(self):
        return [m for m in self.items if not isinstance(m, Machine)]

    def value_of(self, constant):
        return self.parameters[constant.name].value if isinstance(constant, Parameter) else constant.value


def key_fields(machine, transition):
    """The fields of the event that carry the keys of a transition."""
    return transition.by if transition.by is not None else machine.keys


class Scope:
    """
    What names mean at one place of a machine, in the shape that values.py asks of a rule: by_name and field_type. type:
    that of the event at hand, None where only its header may be meant.
    """

    def __init__(self, file, machine, type_name=None, event_name=None):
        self.file, self.machine, self.type = file, machine, type_name
        self.variables = {v.name: v.type for v in machine.variables}
        self.by_name = {None: _Element(None)}
        if event_name:
            self.by_name[event_name] = _Element(type_name)
        if type_name:
            self.by_name[type_name] = _Element(type_name)

    def field_type(self, element_type, name):
        if element_type is None:
            return self.bare_type(name)
        return HEADER.get(name) or self.file.types[element_type].get(name)

    def bare_type(self, name):
        if name in self.variables:
            return self.variables[name]
        if name in self.machine.keys:
            return key_type(self.file, self.machine, name)
        if name in self.file.parameters:
            return _type_of(self.file.parameters[name].value)
        return self.field_type(self.type, name) if self.type else HEADER.get(name)


@dataclass
class _Element:
    type: str


def _type_of(value):
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "i64" if value < 2**63 else "u64"
    return "f64" if isinstance(value, float) else "string"


def key_types(file, machine, name):
    """The types of all fields that carry a key."""
    at, out = machine.keys.index(name), set()
    for t in machine.all_transitions():
        for fields in (key_fields(machine, t) if t.type else None, t.copy_by):
            if fields and fields[at] != "*":
                bare = fields[at].split(".")[-1]
                out.add(HEADER.get(bare) or file.types[t.type][bare])
    return out


def key_type(file, machine, name):
    """One type for a key that fields of several types carry: u64 where one of them is unsigned and 64 bit."""
    types = key_types(file, machine, name)
    if len(types) == 1:
        return next(iter(types))
    return "u64" if types & {"u64", "addr"} else "i64"
