# SPDX-License-Identifier: BSD-2-Clause
"""The rows of the benchmark. A row is a name, what its numbers are, and a function that measures all its variants."""

import os
import re
import signal
import statistics
import subprocess
import time
from dataclasses import dataclass
from typing import Callable

from tools import READY_SECONDS, Load, Missing, need_built, need_tool, once, start_bpftrace, turned, wait_for

LONG_SYSCALL = """RULE long_syscall PATTERN { [sys_enter:a, sys_exit:b] }
WHERE { [tid], b.ts - a.ts > 10ms } RETURN { a.id AS id, b.ts - a.ts AS took }
"""
BPFTRACE_PAIR = """tracepoint:raw_syscalls:sys_enter /pid == %d/ { @s[tid] = nsecs; }
tracepoint:raw_syscalls:sys_exit /@s[tid]/ {
 if (nsecs - @s[tid] > 10000000) { printf("%%d %%d\\n", tid, args->id); } delete(@s[tid]); }"""

RECORD_TRIES = 2
MORE_ROUNDS = 2  # for what added less than nothing


@dataclass
class Row:
    name: str
    title: str
    unit: str
    against: str  # the variant that ratios are taken to
    target: str
    measure: Callable  # (bench, rounds) -> {variant: [value per round]}
    floor: Callable = lambda variant: None  # of a variant, the one that does the same and nothing with it: empty programs


def verify(bench, name, stats, wanted):
    """A cost is worth nothing where the work was not done: wanted are the least counts that the session must have. What it
    lost is told with the numbers."""
    for what, least in wanted.items():
        counted = stats[what] if what in stats else sum(rule[what] for rule in stats["rules"].values())
        if counted < least and not stats["lost"]:
            raise Missing(f"{name} counted {counted} {what}, fewer than {least}")
    if stats["lost"]:
        bench.note(f"{name} lost {stats['lost']} of {stats['events'] + stats['lost']} events")


def added_cost(bench, rounds, starters, wanted):
    """CPU ns that each tool adds to a system call: per round bare first, then every tool in turn."""
    bench.need_root()
    samples = {name: [] for name in starters}
    samples_bare = []
    load = Load(bench)

    def add(name, bare):
        process = starters[name](load)
        try:
            cost = load.ask(f"calls {bench.calls}")
        finally:
            bench.stop(process)
        if bench.stats(process):
            verify(bench, name, bench.stats(process), wanted)
        again = load.ask(f"calls {bench.calls}")
        samples[name].append(cost - (bare + again) / 2)
        return again

    try:
        load.ask(f"calls {bench.calls}")
        for turn in range(rounds):
            bare = load.ask(f"calls {bench.calls}")
            for name in turned(starters, turn):
                bare = add(name, bare)
            samples_bare.append(bare)
        for name in starters:
            for _ in range(MORE_ROUNDS):
                if statistics.median(samples[name]) < 0:
                    add(name, load.ask(f"calls {bench.calls}"))
    finally:
        load.close()
    return {"bare call": samples_bare, **samples}


def measure_pair(bench, rounds):
    rule = bench.rule_file("long", LONG_SYSCALL)
    return added_cost(bench, rounds, {
        "empty programs": lambda load: bench.start_peer("empty-pair", load.pid),
        "hand-written C": lambda load: bench.start_peer("pair", load.pid),
        "bpftrace": lambda load: start_bpftrace(BPFTRACE_PAIR % load.pid),
        "asterism": lambda load: bench.start_asterism(rule, load.pid),
    }, {"events": 2 * bench.calls, "runs_opened": bench.calls})


RECORDED = {
    "small": (["sys_enter_getppid", "sys_exit_getppid"], ["syscalls:sys_enter_getppid", "syscalls:sys_exit_getppid"]),
    "whole": (["sys_enter", "sys_exit"], ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"]),
}


def recorders(bench, which):
    """The ways to record both events of a call, all with a consumer: name -> starter."""
    ours, theirs = RECORDED[which]
    return {
        "asterism's ring": lambda load: bench.start_recorder("ring", load.pid, ours),
        "kernel's ring buffer": lambda load: bench.start_recorder("ship", load.pid, ours),
        "ftrace and splice": lambda load: bench.start_recorder("ftrace", load.pid, theirs),
        "perf record": lambda load: bench.start_perf(load.pid, theirs),
    }


def recording(bench, rounds, which):
    """Per recorded event: CPU ns that the traced process pays, and bytes that come out."""
    return once(bench, "recording-" + which, lambda: recording_anew(bench, rounds, which))


def recording_anew(bench, rounds, which):
    bench.need_root()
    load, starters = Load(bench), recorders(bench, which)
    cost, size = {name: [] for name in starters}, {name: [] for name in starters}
    try:
        load.ask(f"calls {bench.calls}")
        for turn in range(rounds):
            for name in turned(starters, turn):
                took, events, octets = record_calls(bench, load, name, starters[name])
                cost[name].append(took)
                if events:
                    size[name].append(octets / events)
    finally:
        load.close()
    return cost, size


def record_calls(bench, load, name, start):
    """CPU ns per event, events and bytes of calls that are recorded; once more if events are missing, then it fails."""
    wanted = 2 * bench.calls
    for _ in range(RECORD_TRIES):
        bare = load.ask(f"calls {bench.calls}")
        process = start(load)
        try:
            took = load.ask(f"calls {bench.calls}")
        finally:
            events, octets, lost = bench.stop_recorder(process)
        if events + lost >= wanted:
            bare = (bare + load.ask(f"calls {bench.calls}")) / 2
            if lost:
                bench.note(f"{name} lost {lost} of {events + lost} events")
            return (took - bare) / 2, events, octets
    raise Missing(f"{name} recorded {events} events and lost {lost}, of {wanted}")


def measure_unwanted(bench, rounds):
    rule = bench.rule_file("unwanted", "RULE never PATTERN { sys_enter:a } WHERE { a.id == 9999 }\n")
    return added_cost(bench, rounds, {
        "empty program": lambda load: bench.start_peer("empty-enter", load.pid),
        "asterism": lambda load: bench.start_asterism(rule, load.pid),
    }, {"events": bench.calls})


def measure_other_call(bench, rounds):
    """A call that the rule is not about, of a process that is observed, and of one that is not."""
    rule = bench.rule_file("other", "RULE never PATTERN { [sys_enter_fsync:a, sys_exit_fsync:b] } WHERE { [tid] }\n")
    return added_cost(bench, rounds, {
        "empty programs": lambda load: bench.start_peer("empty-pair", load.pid),
        "asterism, in scope": lambda load: bench.start_asterism(rule, load.pid),
        "asterism, out of scope": lambda load: bench.start_asterism(rule, os.getpid()),
    }, {})


def measure_rule_count(bench, rounds):
    def rules(count):
        text = "".join(f"RULE r{i} PATTERN {{ sys_enter:a }} WHERE {{ a.id == {1000 + i} }}\n" for i in range(count))
        return bench.rule_file(f"rules{count}", text)

    files = {f"{count} rule{'s' * (count > 1)}": rules(count) for count in (1, 10, 100)}
    return added_cost(bench, rounds, {name: lambda load, file=file: bench.start_asterism(file, load.pid)
                                      for name, file in files.items()}, {"events": bench.calls})


def measure_strings(bench, rounds):
    """CPU ns that a rule about names adds to an open whose name can be read, to one whose page is not there, and to any
    other call; and what each of these takes without asterism."""
    bench.need_root()
    rule = bench.rule_file("names", 'RULE names PATTERN { sys_enter_openat:o } WHERE { o.filename == "/nowhere/else" }\n')
    asked = {"readable": "names", "not there yet": "fresh", "another call": "calls"}
    samples = {}
    load, count = Load(bench), bench.calls // 4
    try:
        for turn in range(rounds + 1):
            before = {name: load.ask(f"{question} {count}") for name, question in asked.items()}
            process = bench.start_asterism(rule, load.pid)
            costs = {name: load.ask(f"{question} {count}") for name, question in asked.items()}
            bench.stop(process)
            verify(bench, "asterism", bench.stats(process), {"events": 2 * count})
            for name, question in asked.items() if turn else ():
                bare = (before[name] + load.ask(f"{question} {count}")) / 2
                samples.setdefault(f"{name}: bare", []).append(bare)
                samples.setdefault(f"{name}: added", []).append(costs[name] - bare)
    finally:
        load.close()
    return samples


def measure_open_runs(bench, rounds):
    rule = bench.rule_file("open", """RULE open PATTERN { [sys_enter:a, sys_enter:b] }
WHERE { a.id == 110, a.arg0 == 0x5eed, b.id == 110, b.arg0 == a.arg1 } POOL 131072
""")

    def start(count):
        def starter(load):
            process = bench.start_asterism(rule, load.pid)
            load.ask(f"open 1000000 {count}")
            # One run of them all is found by its key.
            load.ask("close 1000007")
            return process
        return starter

    return added_cost(bench, rounds, {f"{count:,} runs": start(count) for count in (10, 1_000, 100_000)},
                      {"events": bench.calls, "matches": 1})


def measure_conditions(bench, rounds):
    """Conditions that all hold for the load's calls, before a last one that does not."""
    def rule(count):
        always = "".join(f"a.arg{i % 2} < {1000 + i}, " for i in range(count))
        return bench.rule_file(f"conditions{count}",
                               f"RULE c PATTERN {{ sys_enter:a }} WHERE {{ {always}a.arg0 == 9999 }}\n")

    files = {f"{count} condition{'s' * (count > 1)}": rule(count - 1) for count in (1, 4, 16)}
    return added_cost(bench, rounds, {name: lambda load, file=file: bench.start_asterism(file, load.pid)
                                      for name, file in files.items()}, {"events": bench.calls})


def resident_kib(pid):
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    return 0


def life_of(bench, command, environment):
    """Starts the command on a process that calls all the time; ms to the first match, KiB resident, ms to stop."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               env=environment)
    try:
        wait_for(process.stdout, "tid")
        first = (time.monotonic() - begin) * 1000
        time.sleep(0.3)
        resident = resident_kib(process.pid)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=READY_SECONDS)
        return first, resident, (time.monotonic() - begin) * 1000
    except Missing:
        process.kill()
        process.communicate()
        raise


def lives(bench, rounds, which):
    """Of each tool: ms to the first match, KiB resident, or ms to stop."""
    found = once(bench, "lives", lambda: lives_anew(bench, rounds))
    return {name: [life[which] for life in taken] for name, taken in found.items()}


def lives_anew(bench, rounds):
    bench.need_root()
    need_tool("bpftrace")
    rule = bench.rule_file("first", "RULE first PATTERN { [sys_enter_getppid:a, sys_exit_getppid:b] } WHERE { [tid] }\n"
                                    "RETURN { a.tid AS tid }\n")
    samples = {"bpftrace": [], "asterism": []}
    for _ in range(rounds):
        load = Load(bench)
        try:
            # A slow trickle of calls: what is measured is the start, not the printing.
            script = ("tracepoint:syscalls:sys_enter_getppid /pid == %d/ { @s[tid] = nsecs; } "
                      "tracepoint:syscalls:sys_exit_getppid /@s[tid]/ { printf(\"tid %%d\\n\", tid); delete(@s[tid]); }"
                      % load.pid)
            trickle = subprocess.Popen(["sh", "-c", "while :; do echo calls 1; sleep 0.001; done"],
                                       stdout=load.process.stdin, stderr=subprocess.DEVNULL)
            try:
                samples["bpftrace"].append(life_of(bench, ["bpftrace", "-B", "line", "-e", script], os.environ))
                samples["asterism"].append(life_of(bench, [bench.asterism, "run", "-q", "-f", "json", rule, "-p",
                                                           str(load.pid)], bench.environment))
            finally:
                trickle.kill()
                trickle.wait()
        finally:
            load.close()
    return samples


def measure_installed(bench, _rounds):
    folder = os.path.join(bench.folder, "installed")
    done = subprocess.run(["meson", "install", "-C", bench.build, "--no-rebuild", "--quiet", "--strip", "--destdir", folder],
                          capture_output=True, text=True)
    if done.returncode:
        raise Missing("meson install failed: " + done.stderr.strip()[-200:])
    total = sum(os.path.getsize(os.path.join(path, name)) for path, _, names in os.walk(folder) for name in names)
    return {"asterism": [total / 2**20]}


def measure_engine(bench, rounds):
    engine = need_built(os.path.join(bench.build, "bench", "engine-bench"))
    samples = {}
    for _ in range(rounds):
        done = subprocess.run([engine, "1" if bench.quick else "3"], capture_output=True, text=True, check=True)
        for name, rate in re.findall(r"^(.*?)  +([0-9.]+) M events/s", done.stdout, re.M):
            samples.setdefault(name, []).append(float(rate))
    return samples


REPLAYS = {
    "one event": "RULE r PATTERN { sys_enter:a } WHERE { a.id == 9999 } RETURN { a.id }\n",
    "long system calls": "RULE r PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [pid], [tid], b.ts - a.ts > 1s }\n"
                         "RETURN { a.id }\n",
    "negation": "RULE r PATTERN { [sys_enter:a, ~(sys_exit | sched_process_exit), sys_enter] }\n"
                "WHERE { [pid], [tid], a.id < 300 } RETURN { a.id, a.ts }\n",
}


ORDERS = {"pattern": "a pattern first, a rare number last", "numbers": "three numbers nearly always so, a rare name last"}


def orders(bench, rounds, load, where):
    """What bench/order-bench measures of a load, in the engine or in the kernel: order -> [ns per event]."""
    def make():
        bench.need_root()
        program = need_built(os.path.join(bench.build, "bench", "order-bench"))
        found = {}
        for _ in range(rounds):
            done = subprocess.run([program, "1"], env=bench.environment, capture_output=True, text=True)
            if done.returncode or done.stderr:
                raise Missing("order-bench: " + (done.stderr.strip()[-200:] or f"status {done.returncode}"))
            title = None
            for line in done.stdout.splitlines():
                figure = re.match(r"  (engine|kernel) +(.*?) +([0-9.]+) ns ", line)
                title = title if line.startswith(" ") else line
                if figure:
                    found.setdefault((title, figure[1]), {}).setdefault(figure[2], []).append(float(figure[3]))
        return found
    samples = once(bench, "orders", make).get((ORDERS[load], where), {})
    if sorted(samples) != ["as measured", "as written", "cheapest first"]:
        raise Missing(f"order-bench has no figures of `{ORDERS[load]}` in the {where}")
    return samples


def measure_jsonl(bench, rounds):
    events = os.path.join(bench.folder, "events.jsonl")
    count = 20_000 if bench.quick else 500_000
    with open(events, "w") as file:
        for i in range(count // 2):
            tid = 100 + i % 64
            file.write(f'{{"event":"sys_enter","ts":{i * 1000},"cpu":0,"pid":{tid},"tid":{tid},"comm":"app","id":{i % 300},'
                       '"arg0":1,"arg1":2,"arg2":3,"arg3":4,"arg4":5,"arg5":6}\n'
                       f'{{"event":"sys_exit","ts":{i * 1000 + 500},"cpu":0,"pid":{tid},"tid":{tid},"comm":"app",'
                       f'"id":{i % 300},"ret":0}}\n')
    samples = {}
    for _ in range(rounds):
        for name, text in REPLAYS.items():
            begin = time.monotonic()
            subprocess.run([bench.asterism, "replay", "-q", bench.rule_file("jsonl", text), events],
                           env=bench.environment, check=True, stdout=subprocess.DEVNULL)
            samples.setdefault(name, []).append(count / (time.monotonic() - begin) / 1e6)
    return samples


ROWS = [
    Row("pair", "long-syscall pair rule in the kernel, added per call", "CPU ns", "bpftrace",
        "<= 0.45x bpftrace, <= 1.15x hand-written", measure_pair, lambda variant: "empty programs"),
    Row("record", "recording the two events of a call without fields, per event", "CPU ns", "ftrace and splice",
        "<= 0.6x ftrace", lambda bench, rounds: recording(bench, rounds, "small")[0]),
    Row("record-whole", "recording number, arguments and result of a call, per event", "CPU ns", "ftrace and splice",
        "<= 0.6x ftrace", lambda bench, rounds: recording(bench, rounds, "whole")[0]),
    Row("record-bytes", "size of the events of a call without fields", "bytes", "ftrace and splice",
        "<= 24", lambda bench, rounds: recording(bench, rounds, "small")[1]),
    Row("record-bytes-whole", "size of the events of a call with number, arguments and result", "bytes",
        "ftrace and splice", "", lambda bench, rounds: recording(bench, rounds, "whole")[1]),
    Row("unwanted", "event that no rule wants further, added per call", "CPU ns", "empty program",
        "<= empty program + 30 ns", measure_unwanted, lambda variant: "empty program"),
    Row("other-call", "call that no rule is about, added per call at its beginning and end", "CPU ns", "empty programs",
        "<= empty programs + 3 ns; less where the rule's programs need not stand where all calls begin", measure_other_call),
    Row("rules", "rules on sys_enter with distinct constants, added per call", "CPU ns", "1 rule",
        "100 rules <= 2x 1 rule", measure_rule_count),
    Row("strings", "a rule about names, per open and per any other call", "CPU ns", "readable: bare", "",
        measure_strings),
    Row("runs", "open runs, added per call", "CPU ns", "10 runs", "100,000 <= 1.5x 10", measure_open_runs),
    Row("conditions", "conditions on one event, added per call", "CPU ns", "1 condition", "", measure_conditions),
    Row("start", "rule text to first match", "ms", "bpftrace", "<= 20 ms",
        lambda bench, rounds: lives(bench, rounds, 0)),
    Row("memory", "resident memory", "KiB", "bpftrace", "<= 10 MiB", lambda bench, rounds: lives(bench, rounds, 1)),
    Row("stop", "from Ctrl-C to the end", "ms", "bpftrace", "<= 5 ms", lambda bench, rounds: lives(bench, rounds, 2)),
    Row("size", "installed, stripped", "MiB", "", "<= 5 MiB", measure_installed),
    Row("engine", "engine over records in memory, one core", "million events/s", "",
        "one event >= 30, pair and negation >= 15", measure_engine),
    *(Row(f"order-{load}-{where}", f"order of conditions ({title}), over records in memory, in the {where}, per event", "CPU ns",
          "as written", "", lambda bench, rounds, load=load, where=where: orders(bench, rounds, load, where))
      for load, title in ORDERS.items() for where in ("engine", "kernel")),
    Row("jsonl", "replay of a JSON-lines file, reading included", "million events/s", "one event", "", measure_jsonl),
]
