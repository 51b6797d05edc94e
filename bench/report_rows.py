# SPDX-License-Identifier: BSD-2-Clause
"""Reports beside other tools' analyses: of one trace, and of the same work recorded by each."""

import os
import subprocess

from rows import Row
from tools import Missing, need_tool, once, perf_counts
from trace_rows import BIG_ROOM, mixed_trace, need_room, rates, record, spend, stat, turns

PAGE_TRACE_BYTES = 2 * 10**9
CALLS = 20_000  # of a trace that LTTng's analyses, which are in Python, read in seconds


def lttng_session(bench):
    """A directory as LTTng's sessions are, with a trace that has LTTng's names, and how many events that has."""
    def make():
        bench.need_root()
        plant = bench.compiled("plant", "../tests/kernel/programs/plant.c", "-pthread")
        trace = record(bench, "lttng", "--layout", "lttng", "--", plant, "mix", str(CALLS // 4 if bench.quick else CALLS))
        session = os.path.join(bench.folder, "session")
        os.makedirs(session, exist_ok=True)
        os.rename(trace, os.path.join(session, "kernel"))
        return session, stat(bench, os.path.join(session, "kernel"))["events"]
    return once(bench, "lttng session", make)


def measure_lttng(bench, rounds):
    for tool in ("lttng-cputop", "lttng-syscallstats", "babeltrace2"):
        need_tool(tool, "babeltrace2" if tool == "babeltrace2" else "python3-lttnganalyses")
    session, events = lttng_session(bench)
    trace = os.path.join(session, "kernel")
    return turns(rounds, {
        "lttng-cputop": ["lttng-cputop", "--no-progress", "--no-intersection", session],
        "lttng-syscallstats": ["lttng-syscallstats", "--no-progress", "--no-intersection", session],
        "babeltrace2 decoding only": ["babeltrace2", trace, "-c", "sink.utils.dummy"],
        "asterism report": [bench.asterism, "report", trace],
        "asterism report, a page": [bench.asterism, "report", "-o", os.path.join(bench.folder, "lttng.html"), trace],
    }, lambda command: events / spend(bench, *command)[1] / 1e3)


def measure_whole(bench, rounds):
    need_tool("babeltrace2")
    return rates(bench, rounds, {
        "babeltrace2 decoding only": ["babeltrace2", "TRACE", "-c", "sink.utils.dummy"],
        "asterism report": [bench.asterism, "report", "TRACE"],
        "asterism report, a page": [bench.asterism, "report", "-o", os.path.join(bench.folder, "mixed.html"), "TRACE"],
    }, 1)


def measure_memory(bench, rounds):
    """Peak memory, the mapped files of the trace included, which the bare reading has, too."""
    trace, _ = mixed_trace(bench)
    page = os.path.join(bench.folder, "memory.html")
    samples = turns(rounds, {
        "reading alone": [bench.asterism, "stat", trace],
        "asterism report": [bench.asterism, "report", trace],
        "asterism report, a page": [bench.asterism, "report", "-o", page, trace],
    }, lambda command: spend(bench, *command)[2])
    bench.note(f"the page has {os.path.getsize(page) / 2**20:.1f} MiB")
    return samples


def bytes_of(trace):
    return sum(entry.stat().st_size for entry in os.scandir(trace) if entry.is_file())


def page_trace(bench):
    """The mixed load, repeated until its trace has 2 GB; in quick runs as it is."""
    trace, _ = mixed_trace(bench)
    if bench.quick:
        return trace
    need_room(bench, BIG_ROOM)
    plant = bench.compiled("plant", "../tests/kernel/programs/plant.c", "-pthread")
    calls = round(bench.calls * PAGE_TRACE_BYTES / bytes_of(trace))
    return once(bench, "page", lambda: record(bench, "page", "--ring", "64M", "--", plant, "mix", str(calls)))


def measure_page(bench, rounds):
    """Wall-clock time: a page is waited for. What the recording holds, and what the page takes, is told beside it."""
    bench.need_root()
    trace, page, most = page_trace(bench), os.path.join(bench.folder, "large.html"), 0

    def seconds(command):
        nonlocal most
        wall, _, resident = spend(bench, *command)
        most = max(most, resident) if page in command else most
        return wall

    samples = turns(rounds, {
        "reading alone": [bench.asterism, "stat", trace],
        "asterism report": [bench.asterism, "report", trace],
        "asterism report, a page": [bench.asterism, "report", "-o", page, trace],
    }, seconds)
    found = stat(bench, trace)
    bench.note(f"the trace has {bytes_of(trace) / 1e6:.0f} MB, {found['events']} events ({found['lost']} lost); "
               f"the page has {os.path.getsize(page) / 2**20:.1f} MiB, and took {most / 2**10:.0f} MiB resident, mapped files included")
    return samples


def switching(bench):
    """What switches all the time: two processes and a pipe."""
    need_tool("perf", "linux-perf")
    return ["perf", "bench", "sched", "pipe", "-l", str(10_000 if bench.quick else 100_000)]


def measure_sched(bench, rounds):
    """Each tool has recorded the same work by itself; CPU time for each event of what it reads."""
    bench.need_root()
    work = switching(bench)
    data = os.path.join(bench.folder, "sched.data")
    done = subprocess.run(["perf", "sched", "record", "-q", "-m", "32M", "-o", data, "--", *work], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"perf sched record: {done.stderr.strip()[-200:]}")
    trace = record(bench, "sched", "-e", "sched_switch,sched_waking,sched_wakeup,sched_wakeup_new,sched_process_fork",
                   "--", *work)
    perf_events, lost = perf_counts(data)
    own = stat(bench, trace)
    bench.note(f"perf sched recorded {perf_events} events and lost {lost}; asterism {own['events']} and {own['lost']}")
    if not perf_events or not own["events"]:
        raise Missing("nothing was recorded")
    return turns(rounds, {
        "perf sched latency": (perf_events, ["perf", "sched", "latency", "-i", data]),
        "perf sched timehist": (perf_events, ["perf", "sched", "timehist", "-s", "-i", data]),
        "asterism report, latency alone": (own["events"], [bench.asterism, "report", "--only", "latency", trace]),
        "asterism report, all of it": (own["events"], [bench.asterism, "report", trace]),
    }, lambda row: row[0] / spend(bench, *row[1])[1] / 1e6)


ROWS = [
    Row("report-lttng", "reports of a trace with LTTng's names, by CPU time", "thousand events/s", "lttng-cputop",
        ">= 100x of LTTng's analyses (babeltrace2 decodes them for us: nothing can be faster than decoding only)", measure_lttng),
    Row("report-mixed", "reports of a recorded mixed load, by CPU time", "million events/s", "babeltrace2 decoding only",
        ">= 15 million a second on a quiet core, and half of the bare reading (trace-decode, asterism stat)", measure_whole),
    Row("report-memory", "most memory resident during a report of a mixed load, files mapped included", "KiB", "reading alone",
        "<= 64 MiB and 300 bytes for each thread above reading alone; a page <= 32 MiB", measure_memory),
    Row("report-page", "a trace of 2 GB (in quick runs less) as a page", "s", "reading alone",
        "<= 15 s for 2 GB; a page of 32 MiB at most", measure_page),
    Row("report-sched", "reports of scheduling, each of its own recording of the same work, by CPU time", "million events/s",
        "perf sched latency", ">= 5x perf sched", measure_sched),
]
