# SPDX-License-Identifier: BSD-2-Clause
"""What the studies share: their options, recordings of asterism, tables as text and CSV, and curves as SVG.

A study is a function that gets a Study and prints its tables. What it needs and is not there ends it with status 1, and so
does what must be true and is not; of the machine nothing is left changed.
"""

import argparse
import contextlib
import csv
import json
import os
import re
import subprocess
import sys
from html import escape

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(ROOT, "bench"))

import machine  # noqa: E402
from tools import Bench, Load, Missing, Unfit, wait_for  # noqa: E402, F401

WIDTH, HEIGHT, EDGE = 640, 320, 60
COLOURS = ("#1f6f8b", "#c0392b", "#5b8c3a", "#8e5bab")


class Study(Bench):
    """The folders and tools of the benchmarks, and where the study writes to."""

    def __init__(self, name, options):
        super().__init__(options.build, options.quick)
        self.name, self.out, self.wrong = name, options.output or os.path.join(options.build, "studies"), []
        os.makedirs(self.out, exist_ok=True)
        if not os.access(self.asterism, os.X_OK):
            raise Missing(f"{self.asterism} is not there", "make with-tests")

    def path(self, ending):
        return os.path.join(self.out, f"{self.name}{ending}")

    def must(self, true, what):
        """What a study states about its own numbers: told if it does not hold, and the status is 1."""
        if not true:
            self.wrong.append(what)

    def run(self, *command):
        """What asterism prints; losses (status 3) are noted."""
        done = subprocess.run([self.asterism, *command], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True)
        if done.returncode not in (0, 3):
            raise Missing(f"asterism {' '.join(command)}: {done.stderr.strip()[-300:]}")
        if done.returncode == 3:
            self.note(f"asterism {command[0]}: " + "; ".join(re.findall(r"warning: (.*)", done.stderr)))
        return done.stdout

    def report(self, trace, only, *options):
        """The tables of a report."""
        return json.loads(self.run("report", "-f", "json", "--only", only, *options, trace))["reports"][only]["tables"]

    def events(self, trace):
        """The events of a trace, one by one: for computations that share nothing with the reports."""
        with subprocess.Popen([self.asterism, "dump", "-f", "json", trace], env=self.environment, stdout=subprocess.PIPE,
                              text=True) as process:
            for line in process.stdout:
                event = json.loads(line)
                if "event" in event:
                    yield event

    def runs(self, trace, tids):
        """How long threads ran at a stretch, {tid: [ns]}, from the events alone. A switch from asterism itself is not in a
        trace; such a run begins with the first event of its thread."""
        begun, found = {}, {tid: [] for tid in tids}
        for event in self.events(trace):
            switch = event["event"] == "sched_switch"
            if switch and event["prev_pid"] in begun:
                found[event["prev_pid"]].append(event["ts"] - begun.pop(event["prev_pid"]))
            if switch and event["next_pid"] in found:
                begun[event["next_pid"]] = event["ts"]
            elif not switch and event["tid"] in found:
                begun.setdefault(event["tid"], event["ts"])
        return found

    @contextlib.contextmanager
    def recording(self, name, *options):
        """Records while the block runs, from before it begins to after it ends; gives the trace."""
        trace = os.path.join(self.folder, name)
        process = subprocess.Popen([self.asterism, "record", "-v", "-o", trace, *options], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=self.environment)
        try:
            wait_for(process.stderr, "observing")
            yield trace
        finally:
            self.stop(process)
        if process.returncode not in (0, 3, 130):
            raise Missing(f"asterism record ended with status {process.returncode}")

    def table(self, rows, ending=".csv"):
        """Prints rows, {column: value}, and writes them as CSV."""
        names = list(rows[0])
        cells = [[shown(row[name]) for name in names] for row in rows]
        widths = [max(len(line[i]) for line in [names, *cells]) for i in range(len(names))]
        for line in [names, *cells]:
            print("  ".join(text.rjust(width) for text, width in zip(line, widths)).rstrip())
        print()
        with open(self.path(ending), "w", newline="") as file:
            writer = csv.DictWriter(file, names, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def curves(self, title, across, lines, ending=".svg"):
        """Draws {name: [(x, y)]}; across is what x is."""
        points = [point for line in lines.values() for point in line]
        right, top = max(x for x, _ in points), max(y for _, y in points)

        def at(x, y):
            return f"{EDGE + x / right * (WIDTH - 2 * EDGE):.1f},{HEIGHT - EDGE - y / top * (HEIGHT - 2 * EDGE):.1f}"

        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
                 f"<title>{escape(title)}</title>", f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
                 f'<text x="{EDGE}" y="20">{escape(title)}</text>',
                 f'<polyline points="{at(0, top)} {at(0, 0)} {at(right, 0)}" fill="none" stroke="#888"/>',
                 f'<text x="{EDGE - 4}" y="{EDGE}" text-anchor="end">{shown(top)}</text>',
                 f'<text x="{WIDTH - EDGE}" y="{HEIGHT - EDGE + 16}" text-anchor="end">{shown(right)} {escape(across)}</text>']
        for number, (name, line) in enumerate(lines.items()):
            colour = COLOURS[number % len(COLOURS)]
            parts.append(f'<polyline points="{" ".join(at(x, y) for x, y in line)}" fill="none" stroke="{colour}" stroke-width="2"/>')
            parts.append(f'<text x="{EDGE + 150 * number}" y="{HEIGHT - 14}" fill="{colour}">{escape(name)}</text>')
        with open(self.path(ending), "w") as file:
            file.write("\n".join([*parts, "</svg>", ""]))

    def bars(self, title, rows, ending=".svg"):
        """Draws a bar up to the median of each, {name: quartiles}, and a line from the first to the third quartile."""
        left, line = 170, 22
        quarters = {name: list(values.values()) for name, values in rows.items()}
        scale = (WIDTH - left - EDGE) / (max(third for _, _, third in quarters.values()) or 1)
        height = 40 + line * len(rows)
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">',
                 f"<title>{escape(title)}</title>", f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
                 f'<text x="8" y="20">{escape(title)}</text>']
        for number, (name, values) in enumerate(quarters.items()):
            y = 34 + line * number
            first, median, third = (left + max(0, value) * scale for value in values)
            parts += [f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{escape(name)}</text>',
                      f'<rect x="{left}" y="{y}" width="{median - left:.1f}" height="14" fill="{COLOURS[0]}"/>',
                      f'<line x1="{first:.1f}" y1="{y + 7}" x2="{third:.1f}" y2="{y + 7}" stroke="{COLOURS[1]}" stroke-width="2"/>',
                      f'<text x="{max(median, third) + 6:.1f}" y="{y + 12}">{shown(values[1])}</text>']
        with open(self.path(ending), "w") as file:
            file.write("\n".join([*parts, "</svg>", ""]))


def quartiles(values, unit):
    """The first, the median, the third, with their names in tables."""
    ordered = sorted(values)
    return {f"{name} {unit}": float(ordered[min(len(ordered) - 1, int(part * len(ordered)))])
            for name, part in (("first quarter", 0.25), ("median", 0.5), ("third quarter", 0.75))}


def shown(value):
    """A number with as many digits as say something."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def tell_machine():
    facts = machine.facts()
    print(", ".join(f"{name} {facts[name]}" for name in ("cpu", "cpus", "virtual", "kernel", "load")) + "\n")


def main(name, measure, text):
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--quick", action="store_true", help="the smallest size: shows that it can be measured")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="where tables and pictures go (default: BUILD/studies)")
    options = parser.parse_args()
    try:
        with Study(name, options) as study:
            tell_machine()
            measure(study)
            for note in study.notes:
                print(f"note: {note}")
            for wrong in study.wrong:
                print(f"wrong: {wrong}")
            return 1 if study.wrong else 0
    except (Missing, Unfit) as error:
        remedy = getattr(error, "remedy", None)
        print(f"missing: {error}" + (f"\n  to do: {remedy}" if remedy else ""), file=sys.stderr)
        return 1
