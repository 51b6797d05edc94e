# SPDX-License-Identifier: BSD-2-Clause
"""What machines cost: with few and with very many instances, beside hand-written C, and events that raise events."""

import os
import re
import subprocess

from rows import Row, added_cost, verify
from tools import HERE, Load, Missing, need_built, once, turned
from trace_rows import record, spend, stat

DESCRIPTORS_MAX = 18_000  # of one process; a container often allows 20,000
INSTANCES = (1, 75, 516, 5_241, 100_000)  # those of the thesis, and more
QUICK = (1, 5_241)
QUIET = (5_241, 100_000)
BUSY = 10  # of the quiet ones
# The events of @closed-descriptor, and nothing done with them.
NO_INTEREST = """EVENTS "completed.events"
RULE forked PATTERN { sched_process_fork:a } WHERE { a.pid == 0 }
RULE state PATTERN { descriptor_state:a } WHERE { a.target_pid == 0 }
RULE made PATTERN { descriptor_made:a } WHERE { a.call == 9999 }
RULE closed PATTERN { descriptor_closed:a } WHERE { a.ret == 9999 }
RULE refused PATTERN { descriptor_refused:a } WHERE { a.call == 9999 }
RULE ended PATTERN { sched_process_exit:a } WHERE { a.pid == 0 }
"""


def named(count):
    return f"{count:,} instance{'s' * (count > 1)}"


def shares(count):
    """How many descriptors each of so many processes closes: one process may not have very many."""
    processes = -(-count // DESCRIPTORS_MAX)
    return [count // processes + (i < count % processes) for i in range(processes)]


class Closers:
    """A load that opens and closes descriptors at random, and others that hold the rest of the instances."""

    def __init__(self, bench, count):
        self.bench, self.shares, self.loads, self.lost = bench, shares(count), [], 0
        try:
            for _ in self.shares:
                self.loads.append(Load(bench))
        except BaseException:
            self.close()
            raise

    def prepare(self):
        for load, share in zip(self.loads, self.shares):
            if load.ask(f"closed {share}") != share:
                raise Missing(f"the load may not have {share} descriptors")

    def bare(self, busy=0):
        self.prepare()
        return self.loads[0].ask(f"pairs {self.bench.calls // 2} {busy or self.shares[0]}")

    def under(self, rule, least, busy=0):
        """CPU ns per call while rule observes; least are the instances that there must be."""
        process = self.bench.start_asterism(rule, *(load.pid for load in self.loads))
        try:
            cost = self.bare(busy)
        finally:
            self.bench.stop(process)
        stats = self.bench.stats(process)
        self.lost = 100 * stats["lost"] / (stats["events"] + stats["lost"])
        verify(self.bench, "asterism", stats, {"events": self.bench.calls + 2 * sum(self.shares), "runs_live_max": least})
        return cost

    def close(self):
        for load in self.loads:
            load.close()


def descriptors_live(bench, rounds):
    """What @closed-descriptor adds to a call, and the share of events that it loses."""
    return once(bench, "descriptors-live", lambda: descriptors_live_anew(bench, rounds))


def descriptors_live_anew(bench, rounds):
    bench.need_root()
    empty = bench.rule_file("no-interest", NO_INTEREST)
    bare, none, machine, few, lost = {}, {}, {}, {}, {}
    for turn in range(rounds):
        for count in turned(QUICK if bench.quick else INSTANCES, turn):
            closers = Closers(bench, count)
            try:
                before = closers.bare()
                floor = closers.under(empty, 0)
                cost = closers.under("@closed-descriptor", count)
                lost.setdefault(named(count), []).append(closers.lost)
                quiet = closers.under("@closed-descriptor", count, BUSY) if count in QUIET and not bench.quick else None
                between = (before + closers.bare()) / 2
            finally:
                closers.close()
            bare.setdefault(f"bare, {count:,} numbers", []).append(between)
            none.setdefault(f"empty callbacks, {count:,}", []).append(floor - between)
            machine.setdefault(named(count), []).append(cost - between)
            if quiet:
                few.setdefault(f"{named(count)}, {BUSY} busy", []).append(quiet - between)
    return {**bare, **none, **machine, **few}, lost


def descriptor_traces(bench):
    """count -> a trace with so many closed descriptors, and how many events it has."""
    def make():
        bench.need_root()
        traces, rule = {}, bench.rule_file("no-interest", NO_INTEREST)
        load = bench.compiled("load", "load.c")
        for count in QUICK if bench.quick else INSTANCES:
            first, *others = shares(count)
            # The others stay, with all that is theirs, until the first has ended.
            script = "".join(f"{{ printf 'closed {share}\\n'; sleep 3; }} | {load} {bench.cpu} & " for share in others)
            script += "sleep 1; " if others else ""
            script += f"printf 'closed {first}\\npairs {bench.calls} {first}\\n' | {load} {bench.cpu}; wait"
            trace = record(bench, f"descriptors-{count}", "--ring", "64M", "--rules", rule, "--", "sh", "-c", script)
            found = stat(bench, trace)
            if found["events"] + found["lost"] < 2 * (bench.calls + count):
                raise Missing(f"the recording has {found['events']} events and lost {found['lost']}")
            if found["lost"]:
                bench.note(f"{count:,} descriptors: {found['lost']} of {found['events'] + found['lost']} events were lost "
                           "when they were recorded")
            traces[count] = trace, found["events"]
        return traces
    return once(bench, "descriptors", make)


def measure_descriptors_replay(bench, rounds):
    empty = bench.rule_file("no-interest", NO_INTEREST)
    traces, none, machine = descriptor_traces(bench), {}, {}
    for turn in range(rounds):
        for count in turned(traces, turn):
            trace, events = traces[count]
            for rule, samples, name in ((empty, none, f"empty callbacks, {count:,}"),
                                        ("@closed-descriptor", machine, named(count))):
                took = spend(bench, bench.asterism, "replay", "-q", "--jobs", "1", rule, trace)[1]
                samples.setdefault(name, []).append(took / events * 1e9)
    return {**none, **machine}


def machine_bench(bench, rounds):
    """All that bench/machine-bench measures: name -> [ns per event]; the check of locks also without its rules, which look for circles."""
    def make():
        program = need_built(os.path.join(bench.build, "bench", "machine-bench"))
        shipped = os.path.join(HERE, "..", "rules", "kernel-locks", "kernel-locks.rule")
        with open(shipped) as file:
            machines = bench.rule_file("lock-machines", file.read().split("\nRULE ")[0] + "\n")
        samples = {}
        for _ in range(rounds):
            for path, suffix in ((shipped, " and the rule"), (machines, ""), ("chain", "")):
                done = subprocess.run([program, path, "1"], capture_output=True, text=True)
                if done.returncode or done.stderr:
                    raise Missing("machine-bench: " + done.stderr.strip()[-200:])
                for name, cost in re.findall(r"^(.*?) +([0-9.]+) ns/event", done.stdout, re.M):
                    name += suffix if name == "locks, machines" else ""
                    samples.setdefault(name, []).append(float(cost))
        return samples
    return once(bench, "machine-bench", make)


def measure_chain_live(bench, rounds):
    """Each machine raises what the next takes; the last takes no interest."""
    def rule(depth):
        text, event = "", "sys_enter_getppid"
        for i in range(depth):
            text += (f"EVENT e{i} {{ n: u64 }}\nMACHINE m{i} KEY {{ tid }} "
                     f"STATE s {{ ON {event}:e {{ EMIT e{i}(n = e.ts) }} }}\n")
            event = f"e{i}"
        text += f'MACHINE last KEY {{ tid }} STATE s {{ ON {event}:e WHERE e.cpu == 9999 {{ WARN "never" }} }}\n'
        return bench.rule_file(f"chain{depth}", text)

    files = {f"{depth} deep": rule(depth) for depth in range(4)}
    return added_cost(bench, rounds, {name: lambda load, file=file: bench.start_asterism(file, load.pid)
                                      for name, file in files.items()}, {"events": bench.calls})


def chosen(samples, word):
    return {name.split(", ", 1)[1]: values for name, values in samples.items() if name.startswith(word)}


ROWS = [
    Row("locks-by-hand", "@kernel-locks over events in memory, per event", "CPU ns", "written in C",
        "<= 1.2x C (the thesis, of reading a trace: 1.045x);"
        " machines alone lack the rule that looks for circles of more than two",
        lambda bench, rounds: chosen(machine_bench(bench, rounds), "locks")),
    Row("chain", "events that machines raise for the next one, over events in memory, per event", "CPU ns", "0 deep", "",
        lambda bench, rounds: chosen(machine_bench(bench, rounds), "chain")),
    Row("chain-live", "events that machines raise for the next one, in the kernel, added per call", "CPU ns", "0 deep", "",
        measure_chain_live),
    Row("descriptors-live", "@closed-descriptor with so many closed descriptors, in the kernel, added per call (an event)",
        "CPU ns", named(1), "5,241 <= 1.1x 1 (the thesis, of reading a trace: +114 % at 516, +276 % at 5,241)",
        lambda bench, rounds: descriptors_live(bench, rounds)[0],
        lambda variant: f"empty callbacks, {variant.split()[0]}" if "instance" in variant else None),
    Row("descriptors-live-lost", "events that @closed-descriptor loses meanwhile", "%", "",
        "0 (closed_before_fork has a POOL of 65,536: what 100,000 descriptors need beyond it is lost)",
        lambda bench, rounds: descriptors_live(bench, rounds)[1]),
    Row("descriptors-replay", "the same over a recorded trace, per event, reading included", "CPU ns", named(1),
        "5,241 <= 1.1x 1 (the thesis: +114 % at 516, +276 % at 5,241, over empty callbacks)", measure_descriptors_replay),
]
