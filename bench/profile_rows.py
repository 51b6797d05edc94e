# SPDX-License-Identifier: BSD-2-Clause
"""The rows about profiles: how far completed profiles are from stacks that are true, and what reading and sampling cost."""

import glob
import json
import os
import re
import shutil
import subprocess

import profile_programs as programs
import profile_truth as truth
from rows import Row
from tools import Missing, need_tool, once, perf_counts
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
    folder = programs.build(bench, program)
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


def appendix(bench, rounds):
    """The thesis's own experiment: the root of the sum of squares over its five functions, of what the first of them takes."""
    folder = programs.bare(bench)
    command, timed, names = [programs.appendix(folder, False)], programs.appendix(folder, True), ("main", "a", "b", "c", "d")
    plain = simulate(bench, folder, "appendix.simulation", command)
    samples = os.path.join(folder, "appendix.samples")
    found, printed = {}, {}
    for _ in range(rounds):
        took = [float(text) for text in programs.call([timed], timed).split()]
        real = {name: 100 * seconds / took[0] for name, seconds in zip(names, took)}
        profile(bench, folder, "record", "-F", str(SAMPLES_HZ), "-e", "task-clock", "-o", samples, "--", *command)
        ways = {
            "quotient": completed(bench, folder, samples, plain, "quotient"),
            "gprof's rule": completed(bench, folder, samples, plain, "calls"),
            "simulation": shares(bench, folder, plain),
            "perf -g": truth.inclusive(stacks_of(bench, folder, command, "fp", 1)),
        }
        for way, values in {"instrumented": real, **ways}.items():
            scale = 100 / (values.get("main") or 100)
            printed[way] = [scale * values.get(name, 0) for name in names]
            if way in ways:
                off = sum((value - real[name]) ** 2 for value, name in zip(printed[way], names)) ** 0.5
                found.setdefault(way, []).append(off)
    bench.note("of the last round, percent of main: " + ", ".join(names))
    for way, values in printed.items():
        bench.note(f"{way:<14}" + "".join(f"{value:9.2f}" for value in values))
    return found


def stock(bench, rounds):
    """How much of what is sampled in Debian's own bzip2 finds its function in the simulation."""
    folder = programs.build(bench)
    command = ["/bin/bzip2", "-9", "-c", f"{folder}/text"]
    plain = simulate(bench, folder, "stock.simulation", command)
    found = {"attached": []}
    for number in range(rounds):
        samples, done = (os.path.join(folder, f"stock.{kind}-{number}") for kind in ("samples", "completed"))
        profile(bench, folder, "record", "-F", str(SAMPLES_HZ), "-e", "task-clock", "-o", samples, "--", *command)
        profile(bench, folder, "complete", samples, plain, "-o", done)
        report = json.loads(profile(bench, folder, "report", "-f", "json", done)[0])
        found["attached"].append(100 - 100 * report["unattached"])
    stacks = stacks_of(bench, folder, command, "fp", 1)
    named = [stack for stack in stacks if stack[0] != "[unknown]"]
    reach = [stack for stack in stacks if "main" in stack]
    found["perf: innermost function named"] = [100 * len(named) / (len(stacks) or 1)]
    found["perf -g: stacks that reach main"] = [100 * len(reach) / (len(stacks) or 1)]
    return found


def other_work(bench, rounds):
    """What is said where 2 MB were simulated, and 40 MB sampled, of the same text."""
    folder = programs.build(bench, "bzip2")
    small, large = ([f"{folder}/bzip2", "-9", "-c", programs.text_of(folder, size)] for size in (2, 40))
    plain = simulate(bench, folder, "small.simulation", small)
    found = {"pace, 2 MB simulated of 40": [], "pace, all simulated": []}
    for command, name in ((large, "pace, 2 MB simulated of 40"), (small, "pace, all simulated")):
        samples, done = os.path.join(folder, "other.samples"), os.path.join(folder, "other.completed")
        profile(bench, folder, "record", "-F", str(SAMPLES_HZ), "-e", "task-clock", "-o", samples, "--", *command)
        _, said = profile(bench, folder, "complete", samples, plain, "-o", done)
        report = json.loads(profile(bench, folder, "report", "-f", "json", done)[0])
        warns = "did more work" in said and report["workload"] == "different in amount"
        bench.note(f"{name}: workload '{report['workload']}', {100 * report['distance']:.1f} % of the samples lie elsewhere, "
                   f"{'a' if warns else 'no'} warning")
        if warns != (command is large):
            raise Missing(f"{name}: the verdict is '{report['workload']}', and there is {'a' if warns else 'no'} warning")
        found[name].append(report["pace"])
    return found


def large_callgrind(path, megabytes):
    """A file of callgrind's format that long: functions that call earlier ones, instruction by instruction."""
    with open(path, "w") as file:
        file.write("version: 1\ncreator: bench\ncmd: made\npart: 1\npositions: instr line\nevents: Ir\n\nob=(1) /made\nfl=(1) made.c\n")
        costs, function, state, total = {}, 0, 1, 0
        while file.tell() < megabytes * 1_000_000:
            file.write(f"\nfn=({function}) function_{function}\n")
            own = 0
            for line in range(60):
                file.write(f"0x{0x1000 * function + 4 * line:x} {line + 1} {line + 7}\n")
                own += line + 7
            total += own
            for _ in range(3 if function else 0):
                state = (state * 1103515245 + 12345) % 2**31
                callee = state % function
                file.write(f"cfn=({callee})\ncalls=1 0x{0x1000 * callee:x} 1\n0x{0x1000 * function:x} 1 {costs[callee] // 8}\n")
                own += costs[callee] // 8
            costs[function] = own
            function += 1
        file.write(f"\ntotals: {total}\n")


def reading(bench, rounds):
    need_tool("callgrind_annotate", "valgrind")
    path = os.path.join(bench.folder, "large.callgrind")
    large_callgrind(path, 22)
    found = {"asterism": [], "callgrind_annotate": []}
    for _ in range(rounds):
        found["asterism"].append(spend(bench, bench.asterism, "profile", "report", path)[1])
        found["callgrind_annotate"].append(spend(bench, "callgrind_annotate", path)[1])
    return found


def find_pprof():
    """Debian has the viewer as a part of Go; the package golang-github-google-pprof-dev is its source."""
    found = shutil.which("pprof") or next(iter(sorted(glob.glob("/usr/lib/go-*/pkg/tool/linux_*/pprof"))), None)
    if not found:
        raise Missing("pprof is not installed", "install the package golang-go: make deps-profile")
    return found


def top_of(text):
    """{function: cumulative cost} of what pprof -top -cum prints."""
    return {found.group(2): float(found.group(1)) for found in re.finditer(r"(\d+) +[\d.e-]+% +(\S+)$", text, re.M)}


def pprof(bench, rounds):
    """The same file of 22 MB of calls as stacks, listed by both; the costliest functions must be the same."""
    viewer = find_pprof()
    path, stacks = os.path.join(bench.folder, "large.callgrind"), os.path.join(bench.folder, "large.pb.gz")
    large_callgrind(path, 22)
    if os.path.exists(stacks):
        os.unlink(stacks)
    subprocess.run([bench.asterism, "profile", "export", "-t", "pprof", "-o", stacks, path], env=bench.environment, check=True,
                   capture_output=True)
    listing = [viewer, "-top", "-cum", "-nodefraction=0", stacks]
    top = top_of(subprocess.run(listing, check=True, capture_output=True, text=True).stdout)
    report = json.loads(subprocess.run([bench.asterism, "profile", "report", "-f", "json", stacks], env=bench.environment,
                                       check=True, capture_output=True, text=True).stdout)
    ours = {row["function"]: row["inclusive"] for row in report["functions"]}
    wrong = [name for name, cost in top.items() if abs(ours.get(name, 0) - cost) > 1]
    if len(top) < 20 or wrong:
        raise Missing(f"pprof lists {len(top)} functions, {len(wrong)} of them with other costs than asterism")
    bench.note(f"the {len(top)} functions that pprof lists have the same inclusive costs in asterism's report")
    found = {"asterism": [], "pprof": []}
    for _ in range(rounds):
        found["asterism"].append(spend(bench, bench.asterism, "profile", "report", stacks)[1])
        found["pprof"].append(spend(bench, *listing)[1])
    return found


def million_edges(path, samples):
    """A simulation of 100,000 functions with ten calls each, and flat samples of them."""
    with open(path, "w") as file:
        file.write("version: 1\ncreator: bench\ncmd: made\npositions: line\nevents: Ir\n\nob=(1) /made\nfl=(1) made.c\n")
        state = 1
        for function in range(100_001):
            file.write(f"fn=({function}) function_{function}\n1 {function % 97 + 1}\n")
            for _ in range(10 if function else 0):
                state = (state * 1103515245 + 12345) % 2**31
                file.write(f"cfn=({state % function})\ncalls={state % 7 + 1} 1\n1 {state % 1000 + 1}\n")
    with open(samples, "w") as file:
        file.write("function,object,task-clock\n# period: 1\n")
        file.writelines(f"function_{function},/made,{function % 89 + 1}\n" for function in range(100_001))


def completing(bench, rounds):
    path, samples = os.path.join(bench.folder, "edges.callgrind"), os.path.join(bench.folder, "edges.csv")
    million_edges(path, samples)
    out = os.path.join(bench.folder, "edges.completed")
    found = {"complete": [], "reading and writing the result": []}
    for _ in range(rounds):
        for name in (out, out + "-again"):
            if os.path.exists(name):
                os.unlink(name)
        whole = spend(bench, bench.asterism, "profile", "complete", samples, path, "-o", out)[1]
        files = spend(bench, bench.asterism, "profile", "import", out, "-o", out + "-again")[1]
        for name, seconds in zip(found, (whole, files)):
            found[name].append(seconds)
    return found


def sampled_bytes(bench, rounds):
    """What a sample takes on disk."""
    need_tool("perf", "linux-perf")
    folder = programs.build(bench, "sqlite3")
    command, _ = programs.commands(folder)["sqlite3"]
    data, samples = os.path.join(bench.folder, "flat.data"), os.path.join(bench.folder, "flat.samples")
    found = {"asterism": [], "perf record": []}
    for _ in range(rounds):
        if os.path.exists(samples):
            os.unlink(samples)
        profile(bench, folder, "record", "-F", "1000", "-e", "task-clock", "-o", samples, "--", *command)
        with open(samples) as file:
            count = int(re.search(r"^desc: samples: (\d+)", file.read(), re.M).group(1))
        found["asterism"].append(os.path.getsize(samples) / count)
        programs.call(["perf", "record", "-q", "-F", "1000", "-e", "task-clock:u", "-o", data, "--", *command],
                      "perf record", env=environment(bench, folder))
        found["perf record"].append(os.path.getsize(data) / perf_counts(data)[0])
    return found


def sampling_cost(bench, rounds):
    """CPU seconds of a command, sampled and not, with those of the sampler."""
    need_tool("perf", "linux-perf")
    folder = programs.build(bench, "bzip2")
    command = [f"{folder}/bzip2", "-9", "-k", "-f", programs.text_of(folder, 20)]
    data, samples = os.path.join(bench.folder, "cost.data"), os.path.join(bench.folder, "cost.samples")
    ways = {"bare": [], "asterism": [bench.asterism, "profile", "record", "-F", "1000", "-e", "task-clock", "-o", samples, "--"],
            "perf record": ["perf", "record", "-q", "-F", "1000", "-e", "task-clock:u", "-o", data, "--"]}
    found = {name: [] for name in ways}
    for turn in range(rounds):
        for name in list(ways)[turn % 3:] + list(ways)[:turn % 3]:
            if os.path.exists(samples):
                os.unlink(samples)
            found[name].append(spend(bench, *ways[name], *command)[1])
    return found


ROWS += [
    Row("profile-appendix", "the thesis's own program: distance of five functions' costs from those of an instrumented run",
        "percent of main", "gprof's rule", "quotient 2 at most, gprof's rule 35 to 50", appendix),
    Row("profile-stock", "Debian's stripped bzip2: samples that find their function", "percent", "attached",
        "99 at least", stock),
    Row("profile-other-work", "2 MB of a text simulated, 40 MB sampled: is it noticed?", "simulated instructions per ns",
        "pace, all simulated", "a warning for the first, none for the second; else the row fails", other_work),
    Row("profile-reading", "reading 22 MB of callgrind's format, and a report", "CPU s", "callgrind_annotate", "0.3 at most", reading),
    Row("profile-pprof", "stacks of 22 MB of calls, listed by inclusive cost", "CPU s", "pprof", "", pprof),
    Row("profile-completing", "completing a million calls of 100,000 functions", "CPU s", "complete", "1 at most more than the files take",
        completing),
    Row("profile-bytes", "bytes of a sample on disk", "bytes", "perf record", "40 at most", sampled_bytes),
    Row("profile-sampling", "bzip2 of 20 MB, sampled 1,000 times a second, with the sampler", "CPU s", "bare",
        "no more than perf record", sampling_cost),
]
