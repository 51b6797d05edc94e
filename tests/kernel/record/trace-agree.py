#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whether babeltrace2 and asterism see the same events in a trace: usage trace-agree.py ASTERISM TRACE

Compares every event of every processor in order: name, time, processor, thread, process, name of the thread, all fields.
Prints how many events there are; a difference, or a word of babeltrace2 on standard error, is an error.
"""

import json
import re
import subprocess
import sys

LINE = re.compile(r"\[(\d+)\] \S+ (\w+): \{ cpu_id = (\d+) \}, \{ ?(.*?) ?\}$")
FIELD = re.compile(r'(\w+) = ("(?:[^"\\]|\\.)*"|\[.*?\]|[^,]+)(?:, |$)')


def run(*command):
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="surrogateescape")
    if done.returncode or done.stderr:
        sys.exit(f"{command[0]}: status {done.returncode}: {done.stderr}")
    return done.stdout.splitlines()


def value_of(text):
    if text.startswith('"'):
        return re.sub(r"\\(.)", lambda escaped: {"n": "\n", "t": "\t"}.get(escaped[1], escaped[1]), text[1:-1])
    return float(text) if re.search(r"[.]|nan|inf", text) else int(text, 0)


def foreign_events(trace):
    """Per processor; who raised an event, and that it is late, is told by events of their own."""
    context, late, events = {}, {}, {}
    for line in run("babeltrace2", "--no-delta", "--clock-cycles", trace):
        found = LINE.match(line)
        if not found:
            sys.exit("babeltrace2 wrote: " + line)
        ts, name, cpu = int(found[1]), found[2], int(found[3])
        fields = {field: value_of(text) for field, text in FIELD.findall(found[4])}
        if name == "context":
            context[cpu] = fields
        elif name == "late":
            late[cpu] = fields
        elif name != "match":
            told = late.pop(cpu, {"entered": 0, "unread": 0})
            when = {"ts": told["entered"], "completed": ts} if told["entered"] else {"ts": ts}
            if told["unread"]:
                fields = {field: None if value == "" else value for field, value in fields.items()}
            events.setdefault(cpu, []).append({"event": name, **when, "cpu": cpu, **context[cpu], **fields})
    return events


def own_events(asterism, trace):
    events = {}
    for line in run(asterism, "dump", "-f", "json", trace):
        event = json.loads(line)
        if event["event"] != "match":
            events.setdefault(event["cpu"], []).append(event)
    return events


def main():
    ours, theirs = own_events(*sys.argv[1:3]), foreign_events(sys.argv[2])
    for cpu in sorted(ours.keys() | theirs.keys()):
        left, right = ours.get(cpu, []), theirs.get(cpu, [])
        for one, other in zip(left, right):
            # An empty string is to babeltrace2 2.0.4 what the string field held at an earlier event.
            other.update({name: "" for name, value in one.items() if value == "" and name in other})
            if one != other:
                sys.exit(f"{one}\nis to babeltrace2\n{other}")
        if len(left) != len(right):
            sys.exit(f"processor {cpu}: {len(left)} events, {len(right)} to babeltrace2")
    print(sum(map(len, ours.values())))


main()
