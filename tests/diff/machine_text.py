# SPDX-License-Identifier: BSD-2-Clause
"""Machines to text and back, with the rules and declarations around them. The parser trusts its input."""

import ruletext
from machine_model import Assign, Call, Emit, File, Machine, Parameter, State, Transition, Variable, Warn
from model import Const, Field
from ruletext import LEVEL, print_expr

VALUE = LEVEL["|"]  # of an action: a condition stands in parentheses


# --- printing


def print_constant(constant):
    return constant.name if isinstance(constant, Parameter) else constant.text


def print_action(action):
    if isinstance(action, Assign):
        return f"{action.name} = {print_expr(action.value, VALUE)}"
    if isinstance(action, Emit):
        return ruletext.print_emission((action.type, action.fields))
    if isinstance(action, Call):
        return f"CALL {action.function}({action.text})"
    parts = []
    for part in action.parts:
        if isinstance(part, str):
            parts.append(ruletext.quote(part)[1:-1].replace("{", "{{").replace("}", "}}"))
        else:
            parts.append("{" + print_expr(part, VALUE) + "}")
    return 'WARN "' + "".join(parts) + '"'


def print_block(actions):
    return "{ " + "; ".join(map(print_action, actions)) + " }" if actions else "{ }"


def print_transition(t):
    out = f"AFTER {print_constant(t.after)}" if t.type is None else "ON " + t.type
    if t.name:
        out += ":" + t.name
    if t.by is not None:
        out += " BY { " + ", ".join(t.by) + " }"
    if t.copy_by is not None:
        out += " COPY BY { " + ", ".join(t.copy_by) + " }"
    if len(t.where) == 1:
        out += " WHERE " + print_expr(t.where[0])
    elif t.where:
        out += " WHERE { " + ", ".join(map(print_expr, t.where)) + " }"
    if t.target != "STAY" or t.arrow:
        out += " -> " + t.target
    return out + (" " + print_block(t.block) if t.block else "")


def print_variable(v):
    size = f"[{v.bytes}]" if v.bytes else ""
    return ("VAR " if v.keyword else "") + f"{v.name}: {v.type}{size}" + (f" = {print_constant(v.initial)}" if v.initial else "")


def print_machine(machine):
    lines = [f"MACHINE {machine.name}", "\tKEY { " + ", ".join(machine.keys) + " }"]
    for word, value in (("POOL", machine.pool), ("TRAIL", machine.trail)):
        if value is not None:
            full = f" {machine.full}" if machine.full and word == "POOL" else ""
            if machine.per_process and word == "POOL":
                full = f" PER PROCESS {print_constant(machine.per_process)}{full}"
            lines.append(f"\t{word} {print_constant(value)}{full}")
    if machine.severity:
        lines.append("\tSEVERITY " + machine.severity)
    if machine.loss:
        lines.append("\tON LOSS " + machine.loss)
    lines += ["\t" + print_variable(v) + ";" for v in machine.variables]
    for state in machine.states:
        lines.append(f"\tSTATE {state.name} {{")
        for word, block in (("ENTRY", state.entry), ("EXIT", state.exit)):
            if block:
                lines.append(f"\t\t{word} {print_block(block)}")
        lines += ["\t\t" + print_transition(t) for t in state.transitions] + ["\t}"]
    return "\n".join(lines + ["\t" + print_transition(t) for t in machine.transitions]) + "\n"


def print_file(file):
    out = ruletext.print_types(file.types)
    out += "".join(f"PARAM {name} = {c.text};\n" for name, c in file.parameters.items())
    return out + "".join(print_machine(i) if isinstance(i, Machine) else ruletext.print_rule(i) for i in file.items)


# --- parsing


class Parser(ruletext.Parser):
    """Parameters are declared before the rules that name them."""

    in_rule = False

    def file(self):
        file = self.whole = File({})
        while self.peek():
            if self.accept("EVENT"):
                name = self.take()
                self.take("{")
                file.types[name] = dict(self.items("}", self.declared_field))
            elif self.accept("PARAM"):
                name = self.take()
                self.take("=")
                file.parameters[name] = self.constant()
            elif self.accept("MACHINE"):
                file.items.append(self.machine())
            elif not self.accept(";"):
                file.items.append(self.rule())
        for rule in file.rules():
            rule.resolve(file.types)
        return file

    def rule(self):
        self.in_rule = True
        out = super().rule()
        self.in_rule = False
        return out

    def modifier_within(self, rule):
        if self.peek() not in self.whole.parameters:
            super().modifier_within(rule)
            return
        rule.within = self.take()
        rule.within_ns = self.whole.parameters[rule.within].value

    def constant(self):
        value = self.primary()
        return Parameter(value.field) if isinstance(value, Field) else value

    def machine(self):
        name = self.take()
        self.take("KEY")
        self.take("{")
        machine = Machine(name, self.items("}", self.take), [])
        while self.upper() in ("POOL", "TRAIL", "ON", "VAR", "SEVERITY") or self.peek(1) == ":":
            if self.upper() == "ON" and self.peek(1).upper() != "LOSS":
                break
            self.header(machine)
        while self.accept("STATE"):
            machine.states.append(self.state())
        while self.upper() in ("ON", "AFTER"):
            machine.transitions.append(self.transition())
        return machine

    def header(self, machine):
        if self.accept("POOL"):
            machine.pool = self.constant()
            if self.accept("PER"):
                self.take("PROCESS")
                machine.per_process = self.constant()
            if self.upper() in ("REFUSE", "REPLACE"):
                machine.full = self.take().upper()
        elif self.accept("SEVERITY"):
            machine.severity = self.take()
        elif self.accept("TRAIL"):
            machine.trail = self.constant()
        elif self.accept("ON"):
            self.take("LOSS")
            machine.loss = self.take().upper()
        else:
            machine.variables.append(self.variable())
        self.accept(";")

    def variable(self):
        keyword, out = self.accept("VAR"), Variable(self.take(), "")
        self.take(":")
        out.keyword, out.type = keyword, self.take()
        if self.accept("["):
            out.bytes = int(self.take())
            self.take("]")
        if self.accept("="):
            out.initial = self.constant()
        return out

    def state(self):
        state = State(self.take())
        self.take("{")
        while not self.accept("}"):
            if self.accept("ENTRY"):
                state.entry = self.block()
            elif self.accept("EXIT"):
                state.exit = self.block()
            else:
                state.transitions.append(self.transition())
        return state

    def transition(self):
        t = Transition(arrow=False)
        if self.accept("AFTER"):
            t.after = self.constant()
        else:
            self.take("ON")
            t.type = self.take()
            t.name = self.take() if self.accept(":") else None
            if self.accept("BY"):
                t.by = self.fields()
            if self.accept("COPY"):
                self.take("BY")
                t.copy_by = self.fields()
        if self.accept("WHERE"):
            t.where = self.items("}", self.expr) if self.accept("{") else [self.expr()]
        if self.accept("->"):
            t.target, t.arrow = self.take(), True
        if self.peek() == "{":
            t.block = self.block()
        self.accept(";")
        return t

    def fields(self):
        self.take("{")
        return self.items("}", self.key_field)

    def key_field(self):
        name = self.take()
        return name + "." + self.take() if self.accept(".") else name

    def block(self):
        self.take("{")
        out = []
        while not self.accept("}"):
            out.append(self.action())
            self.accept(";")
        return out

    def action(self):
        if self.upper() == "EMIT":
            self.take()
            name = self.take()
            self.take("(")
            return Emit(name, self.items(")", self.argument))
        if self.upper() == "WARN":
            self.take()
            return Warn(warning_parts(self.take()))
        if self.upper() == "CALL":
            self.take()
            name = self.take()
            begin = self.tokens[self.at][2]
            while not self.accept(")"):
                self.take()
            return Call(name, self.text[begin:self.tokens[self.at - 1][1]])
        name = self.take()
        self.take("=")
        return Assign(name, self.expr())

    def primary(self):
        if self.peek() == "-":
            self.take()
            inner = self.number()
            return Const(-inner.value, "-" + inner.text)
        return super().primary()

    def reference(self, name):
        if self.peek() == ".":
            return super().reference(name)
        return Const(self.whole.parameters[name].value, name) if self.in_rule else Field(None, name)


def warning_parts(quoted):
    """The parts of the text of a WARN as it stands in the file."""
    out, text, rest = [], "", quoted[1:-1]
    while rest:
        if rest[:2] in ("{{", "}}"):
            text, rest = text + rest[0], rest[2:]
        elif rest[0] == "{":
            inner, rest = rest[1:].split("}", 1)
            out += [text] if text else []
            out.append(Parser(inner).expr())
            text = ""
        elif rest[0] == "\\":
            text, rest = text + rest[1], rest[2:]
        else:
            text, rest = text + rest[0], rest[1:]
    return out + ([text] if text else [])


def parse(text):
    return Parser(text).file()
