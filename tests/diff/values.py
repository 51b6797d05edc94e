# SPDX-License-Identifier: BSD-2-Clause
"""
What an expression is worth (settled meaning 9 and 13): 64-bit integers that wrap, unsigned if an operand is u64 or
addr, else signed; comparisons compare the numbers; division by zero raises DivisionByZero. Kinds: "i" signed, "u"
unsigned, "f" double, "b" bool, "s" string.
"""

from model import Bin, Const, Field, Func, In, Like, Not

MASK = 2**64 - 1
COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")
KINDS = {"u64": "u", "addr": "u", "f64": "f", "bool": "b", "string": "s"}


class DivisionByZero(Exception):
    pass


def wrap(value, kind):
    value &= MASK
    return value - 2**64 if kind == "i" and value >> 63 else value


def convert(value, old, new):
    if old == new:
        return value
    if new == "f":
        return float(value)
    return wrap(int(value), new)


def kind_of_const(value):
    if isinstance(value, bool):
        return "b"
    if isinstance(value, int):
        return "i" if value < 2**63 else "u"
    return "f" if isinstance(value, float) else "s"


def kind_of_field(rule, name, field_name):
    return KINDS.get(rule.field_type(rule.by_name[name].type, field_name), "i")


def kind(rule, expr):
    if isinstance(expr, Const):
        return kind_of_const(expr.value)
    if isinstance(expr, Field):
        return kind_of_field(rule, expr.name, expr.field)
    if isinstance(expr, Func):
        if expr.function == "len":
            return "i"
        return "f" if expr.function == "avg" else kind_of_field(rule, expr.name, expr.field)
    if isinstance(expr, (Not, In, Like)) or expr.op in COMPARISONS + ("AND", "OR"):
        return "b"
    left, right = kind(rule, expr.left), kind(rule, expr.right)
    if "f" in (left, right):
        return "f"
    if expr.op in ("<<", ">>"):
        return left
    return "u" if "u" in (left, right) else "i"


def divide(op, a, b, result):
    if b == 0:
        raise DivisionByZero
    if result == "f":
        return a / b
    quotient = abs(a) // abs(b)
    if (a < 0) != (b < 0):
        quotient = -quotient
    return wrap(quotient if op == "/" else a - quotient * b, result)


def arithmetic(op, a, b, result):
    if op in ("/", "%"):
        return divide(op, a, b, result)
    if op == "<<":
        return wrap(a << (b % 64), result)
    if op == ">>":
        return wrap(a >> (b % 64), result)
    value = {
        "+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b,
        "&": lambda: a & b, "|": lambda: a | b, "^": lambda: a ^ b,
    }[op]()
    return value if result == "f" else wrap(value, result)


def compare(op, a, b):
    return {
        "<": a < b, "<=": a <= b, "==": a == b, "!=": a != b, ">": a > b, ">=": a >= b,
    }[op] if not isinstance(a, str) else {"==": a == b, "!=": a != b}[op]


def like(text, pattern):
    """Glob with * only."""
    parts = pattern.split("*")
    if len(parts) == 1:
        return text == pattern
    if not text.startswith(parts[0]) or len(text) < len(parts[0]) + len(parts[-1]) or not text.endswith(parts[-1]):
        return False
    at, end = len(parts[0]), len(text) - len(parts[-1])
    for part in parts[1:-1]:
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


def array_function(rule, expr, values):
    function, of = expr.function, kind(rule, expr)
    if function == "len":
        return len(values)
    if not values:
        if function == "avg":
            raise DivisionByZero
        return 0.0 if of == "f" else "" if of == "s" else 0
    if function == "avg":
        return float(sum(values)) / len(values)
    if function == "sum":
        return sum(values) if of == "f" else wrap(sum(values), of)
    return {"min": min, "max": max, "first": lambda v: v[0], "last": lambda v: v[-1]}[function](values)


def evaluate(rule, expr, env):
    """
    env.single(name, field) is the value of a field (the zero of its type where the element is not bound),
    env.array(name, field) the list of an array's values, field None for its length.
    """
    if isinstance(expr, Const):
        return expr.value
    if isinstance(expr, Field):
        return env.single(expr.name, expr.field)
    if isinstance(expr, Func):
        return array_function(rule, expr, env.array(expr.name, expr.field))
    if isinstance(expr, Not):
        return not evaluate(rule, expr.operand, env)
    if isinstance(expr, In):
        return any(evaluate(rule, Bin("==", expr.operand, v), env) for v in expr.values)
    if isinstance(expr, Like):
        return like(evaluate(rule, expr.operand, env), expr.pattern)
    if expr.op == "AND":
        return evaluate(rule, expr.left, env) and evaluate(rule, expr.right, env)
    if expr.op == "OR":
        return evaluate(rule, expr.left, env) or evaluate(rule, expr.right, env)
    left, right = evaluate(rule, expr.left, env), evaluate(rule, expr.right, env)
    kinds = kind(rule, expr.left), kind(rule, expr.right)
    if expr.op in COMPARISONS:
        if "f" in kinds:
            left, right = float(left), float(right)
        return compare(expr.op, left, right)
    result = kind(rule, expr)
    right_kind = result if expr.op not in ("<<", ">>") else kinds[1]
    return arithmetic(expr.op, convert(left, kinds[0], result), convert(right, kinds[1], right_kind), result)


def holds(rule, expr, env):
    """A condition: division by zero anywhere in what is evaluated makes the whole of it false."""
    try:
        return bool(evaluate(rule, expr, env))
    except DivisionByZero:
        return False
