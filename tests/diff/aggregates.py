# SPDX-License-Identifier: BSD-2-Clause
"""
Rules with AGGREGATE: the oracle says which values their matches have, and what is here adds them up by the definitions of
the language page, one match after the other. Compared are the lines of all keys with their order. The text that a binary
gets has AGGREGATE where the oracle's rule has RETURN.
"""

import json

import oracle
import ruletext
from generate import Generator, groups_of
from model import Bin, Const, Field
from replay import same
from values import kind, wrap

RULES, STREAMS, LIMIT, POOL = 12, 3, 400, 16384
AT_ONCE = 1000  # where more intervals end at one moment they are reported as one
NUMBERS = ["SUM", "MIN", "MAX", "AVG", "HISTOGRAM", "QUANTILES"]
QUANTILES = [("0.5", 500), ("0.9", 900), ("0.99", 990), ("0.999", 999), ("max", 1000)]
HEADERS = ["cpu", "pid", "tid", "comm"]


class Aggregation:
    """values: [(operator, name, expression, kind)]; by: [(name, expression, None)], a header field alone is its name."""

    def __init__(self, values, by, top, every, delta):
        self.values, self.by, self.top, self.every, self.delta = values, by, top, every, delta

    def text(self):
        values = [(op if expr is None else f"{op}({ruletext.print_expr(expr)})") + (f" AS {name}" if name else "")
                  for op, name, expr, _ in self.values]
        out = "\tAGGREGATE { " + ", ".join(values) + " }"
        if self.by:
            keys = [expr if isinstance(expr, str) else ruletext.print_expr(expr) for _, expr in self.by]
            out += " BY { " + ", ".join(k + (f" AS {name}" if name else "") for k, (name, _) in zip(keys, self.by)) + " }"
        out += f" TOP {self.top}" if self.top else ""
        return out + (f" EVERY {self.every}ns" if self.every else "") + (" DELTA" if self.delta else "") + "\n"

    def names(self):
        return [name or (op if expr is None else f"{op}({ruletext.print_expr(expr)})") for op, name, expr, _ in self.values]

    def by_names(self):
        return [name or (expr if isinstance(expr, str) else ruletext.print_expr(expr)) for name, expr in self.by]


# --- the definitions


def bucket(value):
    """(least, greatest) of the bucket: exact below 16, then eight of a width for every power of two; mirrored."""
    if value < 0:
        low, high = bucket(-value)
        return max(-high, -2**63), max(-low, -2**63)
    if value < 16:
        return value, value
    width = 2 ** (value.bit_length() - 4)
    low = value - value % width
    return low, low + width - 1


def whole(value):
    return int(value) if not isinstance(value, float) else max(-2**63, min(2**63 - 1, int(value)))


def quantile(values, thousandths):
    """The upper bound of the bucket of the value at most which that share of all lies."""
    ordered = sorted(map(whole, values))
    rank = -(-len(ordered) * thousandths // 1000)
    return bucket(ordered[max(rank, 1) - 1])[1]


def aggregate(op, values, of):
    """values: those of the matches that have one, in order; COUNT: of all matches."""
    if op == "COUNT":
        return len(values)
    if op == "HISTOGRAM":
        counts = {}
        for value in map(whole, values):
            counts[bucket(value)] = counts.get(bucket(value), 0) + 1
        return {"buckets": [[low, high, n] for (low, high), n in sorted(counts.items())]}
    if op == "QUANTILES":
        return {name: quantile(values, share) if values else None for name, share in QUANTILES}
    if not values:
        return None
    if op in ("MIN", "MAX"):
        return (min if op == "MIN" else max)(values)
    total = sum(values) if of == "f" else wrap(sum(values), of)
    return total if op == "SUM" else float(total) / len(values)


class Table:
    def __init__(self, name, aggregation, pool):
        self.name, self.how, self.pool = name, aggregation, pool
        self.clear()

    def clear(self):
        self.rows, self.other = {}, 0

    def add(self, key, values):
        if key not in self.rows and len(self.rows) >= self.pool:
            self.other += 1
        else:
            self.rows.setdefault(key, []).append(values)

    def lines(self):
        rows = sorted(self.rows.items(), key=lambda row: [(v is not None, v) for v in row[0]])
        rows.sort(key=lambda row: self.first(row[1]))
        for key, found in rows[: self.how.top or None]:
            line = {"aggregate": self.name, "by": dict(zip(self.how.by_names(), key))}
            for i, (name, (op, _, _, of)) in enumerate(zip(self.how.names(), self.how.values)):
                line[name] = aggregate(op, self.column(found, i), of)
            yield line
        if self.other:
            yield {"aggregate": self.name, "other": self.other}

    def column(self, found, i):
        return [v[i] for v in found if self.how.values[i][0] == "COUNT" or v[i] is not None]

    def first(self, found):
        """The largest first, those without any last."""
        op, _, _, of = self.how.values[0]
        column = self.column(found, 0)
        value = len(column) if op in ("HISTOGRAM", "QUANTILES") else aggregate(op, column, of)
        return (value is None, 0 if value is None else -value)


def reports(table, every, delta, matches, events):
    """All lines. matches: [(ts, key, values)] in order; time goes from the first event to the last."""
    due = events[0]["ts"] + every if every else float("inf")
    moments = [(ts, key, values) for ts, key, values in matches] + [(events[-1]["ts"], None, None)]
    for ts, key, values in moments:
        if every and ts > due and (ts - due) // every > AT_ONCE:
            due += (ts - 1 - due) // every * every
        while due < ts:
            yield from table.lines()
            if delta:
                table.clear()
            due += every
        if values is not None:
            table.add(key, values)
    yield from table.lines()


def expected(rule, how, told, events):
    """told: the result lines of the oracle's rule, which returns all values."""
    def value(line, key):
        return line[key] if key in HEADERS else line["return"][key]

    matches = []
    for line in told:
        key = tuple(value(line, e if isinstance(e, str) else f"by{i}") for i, (_, e) in enumerate(how.by))
        values = [None if e is None else value(line, e if isinstance(e, str) else f"v{i}")
                  for i, (_, _, e, _) in enumerate(how.values)]
        matches.append((line["ts"], key, values))
    table = Table(rule.name, how, rule.pool or POOL)
    return list(reports(table, how.every, how.delta, matches, events)) if events else []


# --- cases


class Maker:
    """Rules of the generator that aggregate instead of returning."""

    def __init__(self, seed, kernel):
        self.made = Generator(seed, kernel)
        self.rng = self.made.rng

    def rule(self, name):
        while True:
            rule = self.made.rule(name)
            usable = [s for s in rule.specs if s.name and not s.negated and not groups_of(s)]
            if usable:
                how = self.aggregation(rule, usable)
                rule.returns = [(e, f"by{i}", f"by{i}") for i, (_, e) in enumerate(how.by) if not isinstance(e, str)]
                rule.returns += [(e, f"v{i}", f"v{i}") for i, (_, _, e, _) in enumerate(how.values)
                                 if e is not None and not isinstance(e, str)]
                return rule, how

    def number(self, usable):
        expr = self.made.value(self.rng.choice(usable), "iu" if self.made.kernel else "iuf")
        if self.rng.random() < 0.3 and isinstance(expr, Field) and expr.field != "z":
            op = self.rng.choice(["+", "-", "*"])
            expr = Bin(op, expr, self.made.value(self.rng.choice(usable), "i"))
        if self.rng.random() < 0.3:
            expr = Bin("*", expr, Const(*self.rng.choice([(7, "7"), (100, "100"), (0x123456789, "0x123456789")])))
        return expr

    def key(self, spec):
        """Strings and truths are keys as well, but have no array functions."""
        return self.made.value(spec, "iu" if spec.is_array else "iubs" if self.made.kernel else "iufbs")

    def aggregation(self, rule, usable):
        rng, values, by = self.rng, [], []
        for i in range(rng.choice([1, 1, 2, 3])):
            op = rng.choice(["COUNT"] + NUMBERS)
            expr = None if op == "COUNT" else self.number(usable)
            name = f"n{i}" if any(expr == e and op == o for o, _, e, _ in values) or rng.random() < 0.5 else None
            values.append((op, name, expr, kind(rule, expr) if expr is not None else None))
        for i in range(rng.choice([0, 1, 1, 2, 3])):
            alone = rng.random() < 0.25
            expr = rng.choice(HEADERS) if alone else self.key(rng.choice(usable))
            by.append((f"k{i}" if rng.random() < 0.4 or any(expr == e for _, e in by) else None, expr))
        every = rng.choice([None, None, 1, 3, 10, 50])
        return Aggregation(values, by, rng.choice([None, None, 1, 2]), every, bool(every) and rng.random() < 0.4)


def text_of(types, pairs):
    out = ruletext.print_types(types)
    for rule, how in pairs:
        returns, rule.returns = rule.returns, None
        out += ruletext.print_rule(rule) + how.text()
        rule.returns = returns
    return out


class Batch:
    """Some rules in one file, run over some streams."""

    def __init__(self, binary, seed, tally):
        self.binary, self.tally = binary, tally
        self.maker = Maker(seed, binary.engine == "kernel")
        self.pairs = [self.maker.rule(f"r{i}") for i in range(RULES)]

    def run(self):
        made = self.maker.made
        first = made.stream([rule for rule, _ in self.pairs])
        for events in [first] + [made.near_miss(first) for _ in range(STREAMS - 1)]:
            self.stream(self.with_gap(events) if made.rng.random() < 0.3 else events)
        return self.tally

    def with_gap(self, events):
        """So much time passes at once that what is due meanwhile is reported once."""
        at = self.maker.rng.randrange(1, len(events) + 1)
        gap = self.maker.rng.choice([999, 1001, 5000, 60000])
        return events[:at] + [{**event, "ts": event["ts"] + gap} for event in events[at:]]

    def replay(self, events):
        return self.binary.replay(text_of(self.maker.made.types, self.pairs), events)

    def stream(self, events):
        result = self.replay(events)
        while result.not_for_kernel():
            self.pairs = [p for p in self.pairs if p[0].name not in result.not_for_kernel()]
            result = self.replay(events)
        self.tally.skipped += RULES - len(self.pairs)
        for rule, how in self.pairs:
            if result.failure():
                self.fail("    " + result.failure(), rule, how, events)
            else:
                self.compare(rule, how, events, result)

    def fail(self, wrong, rule, how, events):
        text = text_of(self.maker.made.types, [(rule, how)])
        lines = "".join(json.dumps(e) + "\n" for e in events)
        self.tally.failures.append((wrong + "\n" + lines, text, None))

    def compare(self, rule, how, events, result):
        try:
            told = oracle.Oracle(rule, events, LIMIT).run()
        except oracle.TooMany:
            self.tally.skipped += 1
            return
        want = expected(rule, how, told, events)
        got = [line for line in result.aggregates if line["aggregate"] == rule.name]
        if [m for m in result.lines if m["match"] == rule.name]:
            self.fail("    its matches are reported one by one", rule, how, events)
        elif not same(want, got) or [list(w) for w in want] != [list(g) for g in got]:
            self.fail(f"    expected {json.dumps(want)}\n    got      {json.dumps(got)}", rule, how, events)
        elif result.stats["rules"][rule.name]["matches"] != len(told):
            self.fail("    the stats count other matches", rule, how, events)
        else:
            self.tally.passed += 1
            self.tally.matched += bool(told)
