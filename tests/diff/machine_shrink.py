# SPDX-License-Identifier: BSD-2-Clause
"""Makes a failing case with machines small: drops events, machines, states, transitions, actions and parts of expressions."""

import copy

from machine_model import Assign, Emit, Machine, Warn, key_fields
from model import Bin, Field, In, Like, Not, leaves, parts_of
from shrink import simpler_streams
from values import COMPARISONS


def attribute_edits(item, names):
    for name, value in names:
        if getattr(item, name) not in (value, None, []):
            yield lambda n=name, v=value: setattr(item, n, v)


def list_edits(items):
    yield from (lambda i=i: items.pop(i) for i in range(len(items)))


def expression_edits(expr, put):
    """put(other) puts another expression in this one's place."""
    if isinstance(expr, Not) or isinstance(expr, Bin) and expr.op not in COMPARISONS:
        yield from (lambda p=part: put(p) for part in parts_of(expr))
    if isinstance(expr, Bin):
        yield from expression_edits(expr.left, lambda e: setattr(expr, "left", e))
        yield from expression_edits(expr.right, lambda e: setattr(expr, "right", e))
    elif isinstance(expr, (Not, In, Like)):
        yield from expression_edits(expr.operand, lambda e: setattr(expr, "operand", e))


def block_edits(block):
    yield from list_edits(block)
    for action in block:
        if isinstance(action, Assign):
            yield from expression_edits(action.value, lambda e, a=action: setattr(a, "value", e))
        elif isinstance(action, Emit):
            yield from list_edits(action.fields)
        elif isinstance(action, Warn):
            yield from list_edits(action.parts)


def transition_edits(t):
    yield from list_edits(t.where)
    for i, expr in enumerate(t.where):
        yield from expression_edits(expr, lambda e, i=i: t.where.__setitem__(i, e))
    if "*" not in (t.by or []):
        yield from attribute_edits(t, [("target", "STAY"), ("copy_by", None)])
    yield from block_edits(t.block)


def key_edits(machine):
    def drop(at):
        machine.keys.pop(at)
        for t in machine.all_transitions():
            for fields in (t.by, t.copy_by):
                if fields:
                    fields.pop(at)
    if len(machine.keys) > 1:
        yield from (lambda at=at: drop(at) for at in range(len(machine.keys)))


def machine_edits(machine):
    def forget(state):
        machine.states.remove(state)
        for home in [s.transitions for s in machine.states] + [machine.transitions]:
            home[:] = [t for t in home if t.target != state.name]
    yield from (lambda s=s: forget(s) for s in machine.states[1:])
    yield from list_edits(machine.transitions)
    yield from list_edits(machine.variables)
    plain = [("per_process", None), ("trail", None), ("loss", None), ("full", None), ("severity", None)]
    yield from attribute_edits(machine, plain if machine.per_process else [("pool", None)] + plain)
    for state in machine.states:
        yield from list_edits(state.transitions)
        yield from block_edits(state.entry)
        yield from block_edits(state.exit)
    for t in machine.all_transitions():
        yield from transition_edits(t)
    for v in machine.variables:
        yield from attribute_edits(v, [("initial", None), ("bytes", None)])
    yield from key_edits(machine)


def edits(file):
    if len(file.items) > 1:
        yield from list_edits(file.items)
    for item in file.items:
        if isinstance(item, Machine):
            yield from machine_edits(item)
        else:
            yield from list_edits(item.emits)
            yield from attribute_edits(item, [("returns", None)])
    used = used_fields(file)
    for name, fields in file.types.items():
        yield from (lambda f=f, fs=fields: fs.pop(f) for f in list(fields) if f not in used)
    yield from (lambda n=n: file.parameters.pop(n) for n in list(file.parameters))
    taken = {t for i in file.items for t in (i.types() | i.emitted() if isinstance(i, Machine) else types_of(i))}
    yield from (lambda n=n: file.types.pop(n) for n in list(file.types) if n not in taken)


def types_of(rule):
    return {s.type for s in rule.specs} | {name for name, _ in rule.emits}


def expressions(file):
    for item in file.items:
        if not isinstance(item, Machine):
            yield from [v for v, _, _ in item.returns or []]
            yield from [e for _, fields in item.emits for _, e in fields]
            continue
        yield from [w for t in item.all_transitions() for w in t.where]
        for action in [a for b in item.blocks() for a in b]:
            if isinstance(action, Assign):
                yield action.value
            elif isinstance(action, Emit):
                yield from [e for _, e in action.fields]
            elif isinstance(action, Warn):
                yield from action.values()


def used_fields(file):
    out = {leaf.field for e in expressions(file) for leaf in leaves(e) if isinstance(leaf, Field)}
    for item in file.items:
        if isinstance(item, Machine):
            out |= {f.split(".")[-1] for t in item.all_transitions() if t.type
                    for f in key_fields(item, t) + (t.copy_by or [])}
            emits = [a.fields for b in item.blocks() for a in b if isinstance(a, Emit)]
        else:
            emits = [fields for _, fields in item.emits]
        out |= {name for fields in emits for name, _ in fields}
    return out


def simpler_files(file):
    number = 0
    while True:
        new = copy.deepcopy(file)
        found = list(edits(new))
        if number >= len(found):
            return
        found[number]()
        number += 1
        yield new


def without_lost_fields(file, events):
    return [{k: v for k, v in e.items() if k in ("event", "ts", "cpu", "pid", "tid", "comm") or k in file.types[e["event"]]}
            for e in events if e["event"] in file.types]


def shrink(file, events, fails, budget=600):
    """fails(file, events) tells whether a case still fails in the same way. Returns the smallest found (file, events)."""
    progress = True
    while progress and budget > 0:
        progress = False
        for candidate in simpler_streams(events):
            budget -= 1
            if budget > 0 and candidate and fails(file, candidate):
                events, progress = candidate, True
                break
        if progress:
            continue
        for candidate in simpler_files(file):
            budget -= 1
            fewer = without_lost_fields(candidate, events)
            if budget > 0 and fails(candidate, fewer):
                file, events, progress = candidate, fewer, True
                break
    return file, events
