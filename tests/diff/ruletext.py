# SPDX-License-Identifier: BSD-2-Clause
"""
Rules to text and back. The printer writes the fewest parentheses that the language's precedence allows, so that the
compiler's own precedence is under test. The parser is for the rule files of tests/golden/conformance and the
cases of tests/diff/cases; it trusts its input and covers EVENT declarations and RULEs only.
"""

import re

from model import Alt, Bin, Const, Field, Func, FUNCTIONS, In, Join, Like, Neg, Not, Rule, Seq, Spec

# tightest last; every operator of a row binds alike
PRECEDENCE = [
    ["OR"], ["AND"], ["NOT"], ["<", "<=", "==", "!=", ">", ">=", "IN", "LIKE"],
    ["|"], ["^"], ["&"], ["<<", ">>"], ["+", "-"], ["*", "/", "%"],
]
LEVEL = {op: level for level, row in enumerate(PRECEDENCE) for op in row}
TIME_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
MODIFIERS = ("WHERE", "WITHIN", "RETURN", "OVER", "AFTER", "LATEST", "POOL", "ON", "SEVERITY", "DO", "EXCEPT")
SIZE_UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


# --- printing


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def print_expr(expr, level=0):
    if isinstance(expr, Const):
        return expr.text
    if isinstance(expr, Field):
        return expr.name + "." + expr.field if expr.name else expr.field
    if isinstance(expr, Func):
        dot = "[]." if expr.brackets else "."
        return expr.name + dot + expr.function + ("." + expr.field if expr.field else "")
    if isinstance(expr, Not):
        own, text = LEVEL["NOT"], "NOT " + print_expr(expr.operand, LEVEL["NOT"])
    elif isinstance(expr, In):
        own = LEVEL["IN"]
        text = print_expr(expr.operand, own + 1) + " IN { " + ", ".join(print_expr(v) for v in expr.values) + " }"
    elif isinstance(expr, Like):
        own, text = LEVEL["LIKE"], print_expr(expr.operand, LEVEL["LIKE"] + 1) + " LIKE " + quote(expr.pattern)
    else:
        own = LEVEL[expr.op]
        left = own + 1 if own == LEVEL["=="] else own
        text = f"{print_expr(expr.left, left)} {expr.op} {print_expr(expr.right, own + 1)}"
    return f"({text})" if own < level else text


def print_pattern(node):
    if isinstance(node, Spec):
        return node.type + (node.length or "") + (f":{node.name}" if node.name else "")
    if isinstance(node, Neg):
        return "~" + print_pattern(node.child)
    if isinstance(node, Seq):
        return "[" + ", ".join(print_pattern(c) for c in node.children) + "]" + node.repeat
    return "(" + " | ".join(print_pattern(c) for c in node.children) + ")" + node.repeat


def print_emission(emission):
    name, fields = emission
    return f"EMIT {name}(" + ", ".join(f"{f} = {print_expr(e, LEVEL['|'])}" for f, e in fields) + ")"


def print_rule(rule):
    lines = [f"{rule.mode} RULE {rule.name}".strip()]
    lines.append(f"{rule.semantics or ''} PATTERN {{ {print_pattern(rule.pattern)} }}".strip())
    if rule.where:
        texts = [f"[{c.field}]" if isinstance(c, Join) else print_expr(c) for c in rule.where]
        lines.append("WHERE { " + ", ".join(texts) + " }")
    if rule.within:
        lines.append("WITHIN " + rule.within)
    if rule.over:
        lines.append("OVER { " + ("*" if rule.over == "*" else ", ".join(rule.over)) + " }")
    if rule.drop:
        lines.append("AFTER MATCH DROP")
    if rule.latest:
        lines.append("LATEST")
    if rule.pool:
        per_key = f" PER KEY {rule.per_key}" if rule.per_key else ""
        per_process = f" PER PROCESS {rule.per_process}" if rule.per_process else ""
        lines.append(f"POOL {rule.pool}{per_key}{per_process} {rule.full or ''}".rstrip())
    if rule.severity:
        lines.append("SEVERITY " + rule.severity)
    if rule.loss:
        lines.append(f"ON LOSS {rule.loss}")
    if rule.returns == "SEQUENCE":
        lines.append("RETURN SEQUENCE")
    elif rule.returns:
        values = [print_expr(e) + (f" AS {name}" if name else "") for e, name, _ in rule.returns]
        lines.append("RETURN { " + ", ".join(values) + " }")
    if rule.excepts:
        lines.append("EXCEPT { " + ", ".join(print_expr(e) for e in rule.excepts) + " }")
    if rule.emits:
        lines.append("DO { " + "; ".join(map(print_emission, rule.emits)) + " }")
    return "\n\t".join(lines) + "\n"


def print_types(types):
    out = []
    for name, fields in types.items():
        body = ", ".join(f"{f}: {t}" for f, t in fields.items())
        out.append(f"EVENT {name} {{ {body} }}\n" if body else f"EVENT {name} {{ }}\n")
    return "".join(out)


# --- parsing

TOKEN = re.compile(
    r"""\s*(?://[^\n]*|/\*.*?\*/|(?P<number>0[xX][0-9a-fA-F]+|\d+\.(?!\.)\d*(?:[eE][-+]?\d+)?|\d+)(?P<unit>[A-Za-z]+)?
    |(?P<word>[A-Za-z_]\w*)|(?P<string>"(?:\\.|[^"\\])*")
    |(?P<op>->|\.\.|<<|>>|<=|>=|==|!=|[][#(){}<>=,;:.~|&^+\-*/%?]))""",
    re.X | re.S,
)


def tokens_of(text):
    out, at = [], 0
    text = text.rstrip()
    while at < len(text):
        found = TOKEN.match(text, at)
        if not found:
            raise SyntaxError(f"cannot read {text[at:at + 20]!r}")
        if found.lastgroup:
            out.append((found, found.start(found.lastgroup) if found.lastgroup != "unit" else found.start("number"),
                        found.end()))
        at = found.end()
    return out


class Parser:
    def __init__(self, text):
        self.text, self.tokens, self.at = text, tokens_of(text), 0

    def peek(self, ahead=0):
        if self.at + ahead >= len(self.tokens):
            return ""
        found = self.tokens[self.at + ahead][0]
        return found["word"] or found["op"] or found["string"] or found["number"]

    def upper(self):
        return self.peek().upper()

    def take(self, expected=None):
        got = self.peek()
        if expected is not None and got.upper() != expected.upper():
            raise SyntaxError(f"expected {expected}, got {got!r}")
        self.at += 1
        return got

    def accept(self, expected):
        if self.upper() == expected.upper() and self.peek():
            self.at += 1
            return True
        return False

    def items(self, close, one):
        """one() until close, commas between; a trailing comma is fine."""
        out = []
        while not self.accept(close):
            out.append(one())
            if not self.accept(","):
                self.take(close)
                break
        return out

    def file(self):
        types, rules = {}, []
        while self.peek():
            if self.accept("EVENT"):
                name = self.take()
                self.take("{")
                types[name] = dict(self.items("}", self.declared_field))
            elif self.accept(";"):
                continue
            else:
                rules.append(self.rule())
        return types, rules

    def declared_field(self):
        name = self.take()
        self.take(":")
        return name, self.take()

    def rule(self):
        mode = self.take() if self.upper() in ("SYNCHRONOUS", "ASYNCHRONOUS") else ""
        self.take("RULE")
        name = self.take()
        semantics = None if self.upper() == "PATTERN" else self.take().upper()
        self.take("PATTERN")
        self.take("{")
        rule = Rule(name, self.structure(), semantics, mode=mode)
        self.take("}")
        while self.upper() in MODIFIERS:
            getattr(self, "modifier_" + self.take().lower())(rule)
        return rule

    def structure(self):
        if self.accept("~"):
            return Neg(self.structure())
        if self.accept("["):
            children = self.items("]", self.structure)
            repeat = self.repeat()
            if len(children) == 1 and not repeat[0]:
                return children[0]
            return Seq(children, *repeat)
        if self.accept("("):
            children = [self.structure()]
            while self.accept("|"):
                children.append(self.structure())
            self.take(")")
            return Alt(children, *self.repeat())
        spec = Spec(self.take())
        if self.peek() == "[":
            spec.length, spec.low, spec.high = self.length()
        if self.accept(":"):
            spec.name = self.take()
        return spec

    def length(self):
        start = self.tokens[self.at][1]
        self.take("[")
        low, high = 1, None
        if self.peek(1) == "..":
            low, high = int(self.take(), 0) + 1, None
            self.take("..")
            high = int(self.take(), 0) - 1
            self.take("]")
        else:
            for op, n in self.items("]", lambda: (self.take(), int(self.take(), 0))):
                if op in (">", ">=", "="):
                    low = max(low, n + (op == ">"))
                if op in ("<", "<=", "="):
                    high = min(n - (op == "<"), high if high is not None else n)
        return self.text[start:self.tokens[self.at - 1][2]], low, high

    def repeat(self):
        start = self.tokens[self.at][1] if self.peek() else 0
        for op, low, high in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self.accept(op):
                return op, low, high
        if self.peek() == "{":
            self.take("{")
            low = high = int(self.take(), 0)
            if self.accept(","):
                high = None if self.peek() == "}" else int(self.take(), 0)
            self.take("}")
            text = self.text[start:self.tokens[self.at - 1][2]]
            return ("", 1, 1) if (low, high) == (1, 1) else (text, low, high)
        return "", 1, 1

    def modifier_where(self, rule):
        self.take("{")
        rule.where += self.items("}", self.condition)

    def condition(self):
        if self.peek() == "[":
            self.take("[")
            join = Join(self.take())
            self.take("]")
            return join
        return self.expr()

    def modifier_within(self, rule):
        start = self.tokens[self.at][1]
        rule.within_ns = self.number().value
        rule.within = self.text[start:self.tokens[self.at - 1][2]]

    def modifier_return(self, rule):
        if self.accept("SEQUENCE"):
            rule.returns = "SEQUENCE"
            return
        self.take("{")
        rule.returns = self.items("}", self.returned)

    def returned(self):
        start = self.tokens[self.at][1]
        expr = self.expr()
        text = self.text[start:self.tokens[self.at - 1][2]]
        name = self.take() if self.accept("AS") else None
        return expr, name, name or text

    def modifier_over(self, rule):
        self.take("{")
        rule.over = self.items("}", self.take)
        if rule.over == ["*"]:
            rule.over = "*"

    def modifier_after(self, rule):
        self.take("MATCH")
        rule.drop = self.take().upper() == "DROP"

    def modifier_do(self, rule):
        """EMIT only."""
        self.take("{")
        while not self.accept("}"):
            self.take("EMIT")
            name = self.take()
            self.take("(")
            rule.emits.append((name, self.items(")", self.argument)))
            self.accept(";")

    def argument(self):
        field = self.take()
        self.take("=")
        return field, self.expr()

    def modifier_except(self, rule):
        self.take("{")
        rule.excepts += self.items("}", self.expr)

    def modifier_latest(self, rule):
        rule.latest = True

    def modifier_pool(self, rule):
        rule.pool = int(self.take(), 0)
        while self.accept("PER"):
            if self.accept("PROCESS"):
                rule.per_process = int(self.take(), 0)
            else:
                self.take("KEY")
                rule.per_key = int(self.take(), 0)
        if self.upper() in ("REFUSE", "REPLACE"):
            rule.full = self.take().upper()

    def modifier_severity(self, rule):
        rule.severity = self.take().lower()

    def modifier_on(self, rule):
        self.take("LOSS")
        rule.loss = self.take().upper()

    def expr(self, level=0):
        if level == len(PRECEDENCE):
            return self.primary()
        if PRECEDENCE[level] == ["NOT"]:
            return Not(self.expr(level)) if self.accept("NOT") else self.expr(level + 1)
        left = self.expr(level + 1)
        while self.upper() in PRECEDENCE[level]:
            op = self.take().upper()
            if op == "IN":
                self.take("{")
                left = In(left, self.items("}", self.expr))
            elif op == "LIKE":
                left = Like(left, self.take()[1:-1])
            else:
                left = Bin(op, left, self.expr(level + 1))
        return left

    def primary(self):
        if self.accept("("):
            inner = self.expr()
            self.take(")")
            return inner
        token = self.tokens[self.at][0]
        if token["number"]:
            return self.number()
        text = self.take()
        if token["string"]:
            return Const(bytes(text[1:-1], "utf-8").decode("unicode_escape"), text)
        if text.upper() in ("TRUE", "FALSE"):
            return Const(text.upper() == "TRUE", text)
        return self.reference(text)

    def reference(self, name):
        brackets = self.accept("[")
        if brackets:
            self.take("]")
        self.take(".")
        member = self.take()
        if member == "len":
            return Func(name, "len", None, brackets)
        if member in FUNCTIONS and self.peek() == ".":
            self.take(".")
            return Func(name, member, self.take(), brackets)
        return Field(name, member)

    def number(self):
        token = self.tokens[self.at][0]
        self.at += 1
        digits, unit = token["number"], token["unit"]
        value = float(digits) if "." in digits else int(digits, 0)
        if unit:
            value = int(value * {**TIME_UNITS, **SIZE_UNITS}[unit])
        return Const(value, digits + (unit or ""))


def parse(text):
    """Returns (types, rules), the rules resolved."""
    types, rules = Parser(text).file()
    return types, [rule.resolve(types) for rule in rules]
