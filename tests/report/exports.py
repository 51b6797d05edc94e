#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares what `asterism report` writes for other viewers with the dumped events, and with its own slices.

Perfetto's file is decoded by protoc, and every byte of it has to be known.

usage: exports.py ASTERISM TRACE whole|some
"""

import collections
import json
import os
import re
import subprocess
import sys

PROTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "perfetto.proto")


def run(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, **more).stdout


def decoded(path):
    """The text of protoc as nested lists of (name, value)."""
    with open(path, "rb") as file:
        text = run("protoc", f"--proto_path={os.path.dirname(PROTO)}", "--decode=Trace", PROTO, stdin=file).decode()
    stack = [[]]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            inner = []
            stack[-1].append((line[:-2], inner))
            stack.append(inner)
        elif line == "}":
            stack.pop()
        else:
            name, _, value = line.partition(": ")
            assert not name.isdigit(), f"a field that protoc does not know: {line}"
            stack[-1].append((name, value))
    return stack[0]


def all_of(message, name):
    return [value for key, value in message if key == name]


def numbers(message, name):
    return list(map(int, all_of(message, name)))


def running(deltas):
    total, out = 0, []
    for delta in deltas:
        total += delta
        out.append(total)
    return out


def bytes_of(packet):
    """The bytes of the columns of a packet, without the names, which count where there are few events."""
    total = 0
    for bundle in all_of(packet, "ftrace_events"):
        for name, value in all_of(bundle, "compact_sched")[0]:
            number = int(value) % 2**64 if name != "intern_table" else 0
            total += max(1, (number.bit_length() + 6) // 7) if name != "intern_table" else 0
    return total


def check_whole(packets, events):
    """Every switch and wake-up of every processor."""
    shown = collections.defaultdict(list)
    for packet in packets:
        for bundle in all_of(packet, "ftrace_events"):
            (cpu,), (compact,) = numbers(bundle, "cpu"), all_of(bundle, "compact_sched")
            names = [json.loads(name) for name in all_of(compact, "intern_table")]
            for kind, times, *columns in (
                    ("switch", "switch_timestamp", "switch_next_pid", "switch_prev_state", "switch_next_prio",
                     "switch_next_comm_index"),
                    ("waking", "waking_timestamp", "waking_pid", "waking_target_cpu", "waking_prio", "waking_comm_index")):
                rows = zip(running(numbers(compact, times)), *(numbers(compact, column) for column in columns), strict=True)
                shown[kind, cpu] += [(*row[:-1], names[row[-1]]) for row in rows]
    wanted = collections.defaultdict(list)
    for event in events:
        if event["event"] == "sched_switch":
            wanted["switch", event["cpu"]].append((event["ts"], event["next_pid"], event["prev_state"], event["next_prio"],
                                                   event["next_comm"]))
        elif event["event"] == "sched_waking":
            wanted["waking", event["cpu"]].append((event["ts"], event["target_tid"], event["target_cpu"], event["prio"],
                                                   event["target_comm"]))
    for key in wanted.keys() | shown.keys():
        assert wanted[key] == shown[key], (key, next(pair for pair in zip(wanted[key], shown[key]) if pair[0] != pair[1]))
    return sum(map(len, wanted.values()))


def check_some(packets, slices, first):
    """Every slice of a thread, on the track of that thread."""
    tracks, shown, open_slices = {}, collections.Counter(), {}
    for packet in packets:
        for track in all_of(packet, "track_descriptor"):
            tracks[all_of(track, "uuid")[0]] = numbers(all_of(track, "thread")[0], "tid")[0]
    for packet in packets:
        for event in all_of(packet, "track_event"):
            track, ts = all_of(event, "track_uuid")[0], numbers(packet, "timestamp")[0]
            if all_of(event, "type") == ["SLICE_BEGIN"]:
                open_slices[track] = (ts, json.loads(all_of(event, "name")[0]))
            elif all_of(event, "type") == ["SLICE_END"]:
                begin, name = open_slices.pop(track)
                shown[tracks[track], begin - first, ts - first, name] += 1
    wanted = collections.Counter((tid, begin, end, name[:95]) for tid, begin, end, name in slices)
    assert wanted == shown, ((wanted - shown).most_common(2), (shown - wanted).most_common(2))
    return len(wanted)


def main():
    asterism, trace, which = sys.argv[1:]
    for name in ("perfetto", "chrome", "folded", "speedscope"):
        run(asterism, "report", f"--{name}", f"out.{name}", trace)
    report = json.loads(run(asterism, "report", "-f", "json", "--only", "slices", trace))
    rows = [row for row in report["reports"]["slices"]["tables"]["slices"] if row["thread"]]
    slices = [(row["thread"]["tid"], row["begin_ns"], row["end_ns"],
               row["state"] + (": " + row["reason"] if row["state"] == "blocked" and row["reason"] else "")) for row in rows]
    packets = all_of(decoded("out.perfetto"), "packet")
    if which == "whole":
        events = [event for event in map(json.loads, run(asterism, "dump", "-f", "json", trace).splitlines()) if "event" in event]
        count = check_whole(packets, events)
        size = sum(map(bytes_of, packets)) / count
        assert size <= 12, f"{size:.1f} bytes per switch or wake-up"
        print(f"{count} switches and wake-ups, {size:.2f} bytes each")
    else:
        count = check_some(packets, slices, report["first_ns"])
        print(f"{count} slices")
    assert count > 100
    chrome = json.load(open("out.chrome"))["traceEvents"]
    shown = sorted((item["tid"], round(item["ts"] * 1000), round((item["ts"] + item["dur"]) * 1000), item["name"])
                   for item in chrome if item["ph"] == "X")
    assert shown == sorted(slices), [pair for pair in zip(shown, sorted(slices)) if pair[0] != pair[1]][:2]
    sums = collections.Counter()
    for row in rows:
        sums[row["state"]] += row["end_ns"] - row["begin_ns"]
    folded, speedscope = collections.Counter(), collections.Counter()
    for line in open("out.folded", encoding="utf-8"):
        stack, weight = re.fullmatch(r"(.*) (\d+)\n", line).groups()
        folded[stack.split(";")[2]] += int(weight)
    profile = json.load(open("out.speedscope"))
    frames, (profile,) = [frame["name"] for frame in profile["shared"]["frames"]], profile["profiles"]
    for sample, weight in zip(profile["samples"], profile["weights"], strict=True):
        speedscope[frames[sample[2]]] += weight
    assert sums == folded == speedscope and profile["endValue"] == sum(sums.values()), (sums, folded, speedscope)
    return 0


if __name__ == "__main__":
    sys.exit(main())
