# SPDX-License-Identifier: BSD-2-Clause
"""The rows about profiles: how far completed profiles are from stacks that are true, and what reading and sampling cost."""

import json
import os
import subprocess
import time

import profile_programs as programs
import profile_truth as truth
from rows import Row
from tools import Missing, need_tool, once
from trace_rows import spend

SAMPLES_HZ, STACKS_HZ, STACK_RUNS = 8000, 3000, 5
STACKS_LEAST, SHOWN_PERCENT = 1000, 1


def environment(bench, folder):
    return {**bench.environment, "LD_LIBRARY_PATH": os.path.join(folder, "libraries")}


def profile(bench, folder, *words):
    """asterism profile; what it printed. Warnings are part of what is measured here."""
    done = subprocess.run([bench.asterism, "profile", *words], env=environment(bench, folder), stdin=subprocess.DEVNULL,
                          capture_output=True)
    if done.returncode not in (0, 3):
        raise Missing(f"asterism profile {words[0]}: {done.stderr.decode(errors='replace').strip()[-300:]}")
    return done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def shares(bench, folder, path):
    """{function: inclusive percent} of a profile."""
    report = json.loads(profile(bench, folder, "report", "-f", "json", path)[0])
    found = {}
    for row in report["functions"]:
        name = truth.canonical(row["function"])
        found[name] = max(found.get(name, 0), 100 * row["inclusive"] / report["total"])
    return found


def stacks_of(bench, folder, command, way, runs):
    need_tool("perf", "linux-perf")
    data, stacks = os.path.join(bench.folder, "stacks.data"), []
    for _ in range(runs):
        programs.call(["perf", "record", "-q", "-F", str(STACKS_HZ), "-e", "task-clock:u", "--call-graph", way, "-o", data,
                       "--", *command], "perf record", env=environment(bench, folder))
        stacks += truth.read_stacks(programs.call(["perf", "script", "-i", data, "--no-inline", "-F", "ip,sym,dso"],
                                                  "perf script"))
    return stacks


def simulate(bench, folder, name, command, *options):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        profile(bench, folder, "simulate", *options, "-o", path, "--", *command)
    return path


def completed(bench, folder, samples, simulation, by):
    path = os.path.join(folder, "completed")
    if os.path.exists(path):
        os.unlink(path)
    profile(bench, folder, "complete", "--by", by, samples, simulation, "-o", path)
    return shares(bench, folder, path)


def estimates(bench, program):
    """What is true, and what each way makes of it: {way: {function: percent}}; notes about the stacks."""
    folder = programs.build(bench)
    command, way = programs.commands(folder)[program]
    plain = simulate(bench, folder, program + ".simulation", command)
    contexts = simulate(bench, folder, program + ".contexts", command, "--contexts", "40")
    samples = os.path.join(folder, program + ".samples")
    profile(bench, folder, "record", "-F", str(SAMPLES_HZ), "-e", "task-clock", "-o", samples, "--", *command)
    stacks = stacks_of(bench, folder, command, way, 1 if bench.quick else STACK_RUNS)
    kept, without_main, impossible = truth.judge(stacks, truth.read_calls(plain))
    if len(kept) < STACKS_LEAST:
        raise Missing(f"only {len(kept)} of {len(stacks)} stacks are true, fewer than {STACKS_LEAST}")
    plain_stacks = stacks if way == "fp" else stacks_of(bench, folder, command, "fp", 1)
    _, lost, wrong = truth.judge(plain_stacks, truth.read_calls(plain))
    bench.note(f"true: {len(kept)} of {len(stacks)} stacks ({way}); {without_main:.1f} % miss main, {impossible:.1f} % have "
               f"a call that never was; of perf -g: {lost:.1f} %, {wrong:.1f} %")
    return truth.inclusive(kept), {
        "quotient": completed(bench, folder, samples, plain, "quotient"),
        "contexts": completed(bench, folder, samples, contexts, "contexts"),
        "gprof's rule": completed(bench, folder, samples, plain, "calls"),
        "simulation": shares(bench, folder, plain),
        "perf -g": truth.inclusive(plain_stacks),
    }


def errors_of(program):
    def measure(bench, rounds):
        real, ways = once(bench, "estimates " + program, lambda: estimates(bench, program))
        names = sorted((name for name in real if real[name] >= SHOWN_PERCENT), key=real.get, reverse=True)
        bench.note("function                              true  " + "".join(f"{way:>14}" for way in ways))
        found = {}
        for name in names:
            bench.note(f"{name:<36} {real[name]:6.2f}" + "".join(f"{ways[way].get(name, 0):14.2f}" for way in ways))
        for way, values in ways.items():
            off = [abs(values.get(name, 0) - real[name]) for name in names]
            found[f"{way}, mean"] = [sum(off) / len(off)]
            found[f"{way}, worst"] = [max(off)]
        return found
    return measure


ROWS = [
    Row(f"profile-errors-{program}", f"{program}: inclusive cost of functions of {SHOWN_PERCENT} % and more, against true stacks",
        "percentage points", "gprof's rule, mean",
        "quotient: mean 1.5 at most, worst 6 at most, never worse than gprof's rule", errors_of(program))
    for program in ("bzip2", "sqlite3", "lua")
]
