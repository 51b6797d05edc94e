# SPDX-License-Identifier: BSD-2-Clause
"""The rows about traces: reading and replaying them, and recording for long and under a real load."""

import glob
import json
import os
import re
import shutil
import subprocess
import time

from rows import REPLAYS, Row, added_cost
from tools import HERE, Load, Missing, Unfit, need_built, need_tool, need_tracefs, once, perf_counts, turned, wait_for

SOURCES = os.path.join(HERE, "..", "src")
BIG_EVENTS, BIG_ROOM = 60_000_000, 6 * 2**30  # of make-trace: a little more than 2 GB
TICKS = """EVENT tick { n: u64, part: u32 }
RULE r PATTERN { [tick:a, tick:b] } WHERE { [tid], b.ts - a.ts > 1s } RETURN { a.n }
"""
DOZEN = "".join(f"RULE long{i} PATTERN {{ [sys_enter:a, sys_exit:b] }} WHERE {{ [pid], [tid], b.ts - a.ts > {i}s }} "
                "RETURN { a.id }\n"
                f"RULE not{i} PATTERN {{ [sys_enter:a, ~(sys_exit | sched_process_exit), sys_enter] }} "
                f"WHERE {{ [pid], [tid], a.id < {300 + i} }} RETURN {{ a.id, a.ts }}\n" for i in range(1, 7))


def spend(bench, *command):
    """Runs the command to its end: wall-clock seconds, CPU seconds, peak KiB. What it lost (status 3) is told with them."""
    done = subprocess.run([bench.compiled("spend", "spend.c"), *command], env=bench.environment, capture_output=True,
                          text=True)
    fields = done.stdout.split()
    if len(fields) != 4 or fields[3] not in ("0", "3"):
        raise Missing(f"{' '.join(command)}: {done.stderr.strip()[-200:] or done.stdout}")
    if fields[3] == "3":
        losses = "; ".join(re.findall(r"warning: (.* lost .*)", done.stderr))
        bench.note(f"{command[-2]} {os.path.basename(command[-1])}: {losses}")
    return float(fields[0]), float(fields[1]), int(fields[2])


def stat(bench, trace, *options):
    done = subprocess.run([bench.asterism, "stat", "-f", "json", *options, trace], env=bench.environment,
                          capture_output=True, text=True)
    if not done.stdout:
        raise Missing(f"asterism stat: {done.stderr.strip()[-200:]}")
    return json.loads(done.stdout)


def record(bench, name, *options):
    """Records a new trace, and says where it is. Losses (status 3) are for the caller to judge."""
    trace = os.path.join(bench.folder, name)
    shutil.rmtree(trace, ignore_errors=True)
    done = subprocess.run([bench.asterism, "record", "-q", "-o", trace, *options], env=bench.environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 3):
        raise Missing(f"asterism record: {done.stderr.strip()[-200:]}")
    return trace


def mixed_trace(bench):
    """A recording of a mixed load, and how many events it has."""
    def make():
        bench.need_root()
        plant = bench.compiled("plant", "../tests/kernel/programs/plant.c", "-pthread")
        trace = record(bench, "mixed", "--ring", "64M", "--", plant, "mix", str(bench.calls))
        found = stat(bench, trace)
        if found["lost"]:
            bench.note(f"the trace has {found['events']} events, {found['lost']} more were lost when it was recorded")
        return trace, found["events"]
    return once(bench, "mixed", make)


def turns(rounds, variants, measure):
    """{name: [figure of each round]}, each round beginning with another one."""
    samples = {name: [] for name in variants}
    for turn in range(rounds):
        for name in turned(variants, turn):
            samples[name].append(measure(variants[name]))
    return samples


def rates(bench, rounds, commands, which):
    """Million events per second of the mixed trace, by CPU time (which 1) or by wall-clock time (0)."""
    trace, events = mixed_trace(bench)

    def rate(command):
        return events / spend(bench, *(trace if word == "TRACE" else word for word in command))[which] / 1e6
    return turns(rounds, commands, rate)


def measure_decode(bench, rounds):
    need_tool("babeltrace2")
    return rates(bench, rounds, {
        "babeltrace2 text": ["babeltrace2", "TRACE"],
        "babeltrace2 decoding only": ["babeltrace2", "TRACE", "-c", "sink.utils.dummy"],
        "asterism stat": [bench.asterism, "stat", "TRACE"],
        "asterism dump": [bench.asterism, "dump", "TRACE"],
        "asterism dump -f json": [bench.asterism, "dump", "-f", "json", "TRACE"],
    }, 1)


def measure_replay(bench, rounds):
    need_tool("babeltrace2")
    replays = {name: [bench.asterism, "replay", "-q", "--jobs", "1",
                      bench.rule_file("replay-" + name.replace(" ", "-"), text), "TRACE"]
               for name, text in REPLAYS.items()}
    return rates(bench, rounds, {"babeltrace2 decoding only": ["babeltrace2", "TRACE", "-c", "sink.utils.dummy"],
                                 **replays}, 1)


def measure_jobs(bench, rounds):
    if (os.cpu_count() or 1) < 2:
        raise Unfit("there is one processor only")
    rules = bench.rule_file("dozen", DOZEN)
    return rates(bench, rounds, {f"{jobs} job{'s' * (jobs > 1)}":
                                 [bench.asterism, "replay", "-q", "--jobs", str(jobs), rules, "TRACE"]
                                 for jobs in (1, 2)}, 0)


def need_room(bench, octets):
    if shutil.disk_usage(bench.folder).free < octets:
        raise Missing(f"{bench.folder} has less than {octets // 10**6:,} MB free", "make room, or have TMPDIR name another disk")


def measure_memory(bench, rounds):
    """Peak KiB of replays of made-up traces, on one job."""
    maker = need_built(os.path.join(bench.build, "tests", "trace", "make-trace"))
    need_room(bench, BIG_ROOM // 20 if bench.quick else BIG_ROOM)
    counts = {"20 MB trace": BIG_EVENTS // 100, "2 GB trace": BIG_EVENTS}
    if bench.quick:
        counts = {"20 MB trace": BIG_EVENTS // 100, "100 MB trace": BIG_EVENTS // 20}
    rule, samples = bench.rule_file("ticks", TICKS), {}
    for name, count in counts.items():
        trace = os.path.join(bench.folder, "made")
        subprocess.run([maker, "-n", str(count), trace], check=True)
        try:
            samples[name] = [spend(bench, bench.asterism, "replay", "-q", "--jobs", "1", rule, trace)[2]
                             for _ in range(min(rounds, 2))]
        finally:
            shutil.rmtree(trace)
    return samples


def sustained(bench):
    """Records the fastest load there is: million events per second, lost."""
    def make():
        bench.need_root()
        load = Load(bench)
        try:
            load.spin()
            trace = record(bench, "sustained", "-e", "sys_enter_getppid,sys_exit_getppid", "-p", str(load.pid),
                           "--for", "2s" if bench.quick else "60s")
        finally:
            load.close()
        found = stat(bench, trace)
        shutil.rmtree(trace)
        rate = (found["events"] + found["lost"]) / (found["last_ns"] - found["first_ns"]) * 1e3
        return rate, found["lost"]
    need_room(bench, BIG_ROOM // 10 if bench.quick else 4 * BIG_ROOM)
    return once(bench, "sustained", make)


# Types, and their tracepoints. The first are those that `asterism record` takes without -e.
BUILD_EVENTS = {
    "default events": (None, [
        "raw_syscalls:sys_enter", "raw_syscalls:sys_exit", "exceptions:page_fault_user", "sched:sched_switch",
        "sched:sched_waking", "sched:sched_wakeup", "sched:sched_process_fork",
        "sched:sched_process_exec", "sched:sched_process_exit", "task:task_rename", "signal:signal_generate",
        "signal:signal_deliver"]),
    "faults and calls": ("page_fault_user,sys_enter,sys_exit",
                         ["exceptions:page_fault_user", "raw_syscalls:sys_enter", "raw_syscalls:sys_exit"]),
}


class Build:
    """A compilation of some of our own sources, on all processors; it tells how long it took."""

    def __init__(self, bench):
        self.bench, self.times = bench, os.path.join(bench.folder, "times")
        self.out = os.path.join(bench.folder, "objects")
        sources = sorted(glob.glob(os.path.join(SOURCES, "engine", "*.c")))
        sources = sources[:4] if bench.quick else sources + sorted(glob.glob(os.path.join(SOURCES, "lang", "*.c")))
        path = os.path.join(bench.folder, "build.mk")
        objects = [f"{self.out}/{number}.o" for number in range(len(sources))]
        with open(path, "w") as file:
            file.write("all: " + " ".join(objects) + "\n")
            for built, source in zip(objects, sources):
                file.write(f"{built}: {source}\n\t@gcc -std=gnu17 -D_GNU_SOURCE -O2 -I{SOURCES} -I{SOURCES}/../include "
                           f"-c $< -o $@\n")
        # It waits for a line on standard input, so that who traces it by its number can begin.
        self.command = ["bash", "-c", f"read -r; TIMEFORMAT='%R %U %S'; {{ time make -s -j{os.cpu_count() or 1} -f {path}; }} "
                                      f"2>{self.times}"]

    def run(self, before=(), begin=None):
        """Wall-clock and CPU seconds of the build, under the command `before`, or with what begin starts on it."""
        shutil.rmtree(self.out, ignore_errors=True)
        os.makedirs(self.out)
        process = subprocess.Popen([*before, *self.command], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, env=self.bench.environment)
        try:
            tracer = begin(process.pid) if begin else None
        except Missing:
            process.kill()
            process.communicate()
            raise
        _, errors = process.communicate(b"\n")
        if tracer:
            self.events = self.bench.stop_recorder(tracer)
        with open(self.times) as file:
            text = file.read().strip()
        if process.returncode or not re.fullmatch(r"[0-9.]+ [0-9.]+ [0-9.]+", text):
            raise Missing(f"the build failed: {text[-200:] or errors[-200:]}")
        wall, user, system = (float(number) for number in text.split())
        return wall, user + system


def start_ftrace(bench, pid, points):
    process = bench.start_recorder("ftrace", pid, points)
    # It follows the process only; the build is its children.
    with open("/sys/kernel/tracing/instances/asterism-bench/options/event-fork", "w") as file:
        file.write("1")
    return process


def build_ways(bench, build):
    """name -> a function that builds while it is recorded: wall-clock and CPU seconds, and events seen (bare: 0)."""
    def asterism(types):
        trace = os.path.join(bench.folder, "build-trace")
        shutil.rmtree(trace, ignore_errors=True)
        took = build.run([bench.asterism, "record", "-q", "-o", trace, *(["-e", types] if types else []), "--"])
        found = stat(bench, trace)
        return *took, found["events"] + found["lost"]

    def ftrace(points):
        took = build.run(begin=lambda pid: start_ftrace(bench, pid, points))
        return *took, build.events[0] + build.events[2]

    def perf(points):
        data = os.path.join(bench.folder, "perf.data")
        took = build.run(["perf", "record", "-q", "-m", "1024", "-e", ",".join(points), "-o", data, "--"])
        events, lost = perf_counts(data)
        if not events:
            raise Missing("perf recorded nothing")
        return *took, events + lost

    need_tool("perf", "linux-perf")
    need_tracefs()
    ways = {"bare": lambda: (*build.run(), 0)}
    for events, (types, points) in BUILD_EVENTS.items():
        ways[f"asterism, {events}"] = lambda types=types: asterism(types)
        ways[f"ftrace, {events}"] = lambda points=points: ftrace(points)
        ways[f"perf, {events}"] = lambda points=points: perf(points)
    return ways


def builds(bench, rounds, which):
    """Of builds recorded in each way: wall-clock seconds, CPU seconds of the build alone, thousand events, their rate."""
    def make():
        bench.need_root()
        build = Build(bench)
        build.run()
        ways, samples = build_ways(bench, build), {}
        for turn in range(rounds):
            for name in turned(ways, turn):
                wall, cpu, events = ways[name]()
                samples.setdefault(name, []).append((wall, cpu, events / 1e3, events / wall / 1e3))
        return {name: samples[name] for name in ways}
    found = once(bench, "builds", make)
    return {name: [values[which] for values in taken] for name, taken in found.items() if which < 2 or name != "bare"}


def start_record_command(bench, pid):
    """The command as users have it, its trace on the disk."""
    trace = os.path.join(bench.folder, "idle-trace")
    shutil.rmtree(trace, ignore_errors=True)
    process = subprocess.Popen([bench.asterism, "record", "-v", "-o", trace, "-e", "sys_enter,sys_exit", "-p", str(pid)],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env=bench.environment)
    wait_for(process.stderr, "observing")
    return process


def measure_idle(bench, rounds):
    """Added to a call of a process that nobody looks at, while another one, which sleeps, is recorded."""
    points = ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"]
    other = subprocess.Popen(["sleep", "infinity"], stdin=subprocess.DEVNULL)
    try:
        return added_cost(bench, rounds, {
            "ftrace and splice": lambda _: bench.start_recorder("ftrace", other.pid, points),
            "perf record": lambda _: bench.start_perf(other.pid, points),
            "asterism record": lambda _: start_record_command(bench, other.pid),
        }, {})
    finally:
        other.kill()
        other.wait()


ROWS = [
    Row("trace-decode", "reading a recorded trace, by CPU time", "million events/s", "babeltrace2 decoding only", "",
        measure_decode),
    Row("trace-replay", "replay of a recorded trace on one job, reading included, by CPU time", "million events/s",
        "babeltrace2 decoding only", "one event >= 30, long system calls and negation >= 15", measure_replay),
    Row("trace-jobs", "replay of a recorded trace through a dozen rules, by wall-clock time", "million events/s", "1 job",
        "", measure_jobs),
    Row("trace-memory", "most memory resident during a replay, files mapped included", "KiB", "20 MB trace",
        "does not grow with the trace", measure_memory),
    Row("sustained", "recorded from one processor that does nothing else, for a minute", "million events/s", "",
        ">= 1 without loss", lambda bench, _: {"asterism record": [sustained(bench)[0]]}),
    Row("sustained-lost", "lost meanwhile", "events", "", "0",
        lambda bench, _: {"asterism record": [sustained(bench)[1]]}),
    Row("build", "a build while it is recorded, wall-clock time", "s", "bare", "",
        lambda bench, rounds: builds(bench, rounds, 0)),
    Row("build-cpu", "a build while it is recorded, CPU time of the build without the recorder", "s", "bare", "",
        lambda bench, rounds: builds(bench, rounds, 1)),
    Row("build-count", "events of that build, lost ones included where they are known", "thousand events", "", "",
        lambda bench, rounds: builds(bench, rounds, 2)),
    Row("build-rate", "events of that build", "thousand events/s", "", "about 64",
        lambda bench, rounds: builds(bench, rounds, 3)),
    Row("idle", "recording somebody else, added per call", "CPU ns", "ftrace and splice", "", measure_idle),
]
