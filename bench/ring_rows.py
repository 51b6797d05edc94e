# SPDX-License-Identifier: BSD-2-Clause
"""What it costs a program to write an event of its own to a ring, beside LTTng-UST."""

import os
import re
import shutil
import subprocess
import tempfile
import time

from rows import Row
from tools import HERE, Missing, need_built, need_tool

EVENTS = 4_000_000
WAYS = {"the clock alone": "clock", "exclusive writer": "exclusive", "shared ring, one thread": "shared",
        "shared ring, two threads": "shared-2"}
SENSOR_WAYS = {"nobody looks": "off", "one line": "write", "write, fill, commit": "fill", "ordered": "ordered",
               "in a ring that is lent": "lent", "lent, two threads": "lent-2"}
# What the field's first tables have, in their order: bytes of an event, in the thread's own ring and in one of several.
TABLES = {"own, no data": "bare", "own, 4 bytes": "4", "own, 8 bytes": "8", "own, 64 bytes": "64",
          "lent, no data": "lent-bare", "lent, 8 bytes": "lent-8"}
CALLS = {"no sensor": "call", "an event before and after": "call-sensed", "the same, lent": "call-lent"}
RARE = {"after other memory": "cold", "first of a thread": "thread", "first of a child, registers": "child"}
SESSION = "asterism-bench"


class Ust:
    """LTTng-UST in a session that overwrites and that nobody reads."""

    def __init__(self, bench):
        need_tool("lttng-sessiond", "lttng-tools")
        need_tool("lttng", "lttng-tools")
        self.bench = bench
        folder = os.path.join(HERE, "peers")
        try:
            self.program = bench.compiled("ust-write", "peers/ust-write.c", f"-I{folder}", "-llttng-ust", "-ldl")
        except subprocess.CalledProcessError as error:
            raise Missing("a program of LTTng-UST does not compile",
                          "install the package liblttng-ust-dev: make deps-bench") from error
        self.daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel", "--quiet"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        for _ in range(50):
            if self.lttng("list", "-u"):
                break
            time.sleep(0.1)
        ready = all([
            self.lttng("create", SESSION, "--snapshot", "--output=" + os.path.join(bench.folder, "ust")),
            self.lttng("enable-channel", "-u", "-s", SESSION, "--overwrite", "--subbuf-size=16k", "--num-subbuf=8", "c"),
            self.lttng("enable-event", "-u", "-s", SESSION, "-c", "c", "asterism_bench:write"),
            self.lttng("start", SESSION)])
        if not ready:
            self.close()
            raise Missing("the session of LTTng-UST could not be made", "see what lttng list -u says; end another lttng-sessiond")

    def lttng(self, *arguments):
        return subprocess.run(["lttng", "--no-sessiond", *arguments], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0

    def close(self):
        self.lttng("destroy", SESSION)
        self.daemon.terminate()
        self.daemon.wait()


def nanoseconds(*command):
    done = subprocess.run([need_built(command[0]), *command[1:]], capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()[-200:]}")
    return float(done.stdout)


def measure_write(bench, rounds):
    events = str(EVENTS // 10 if bench.quick else EVENTS)
    program = os.path.join(bench.build, "bench", "ring-bench")
    samples = {name: [] for name in WAYS}
    ust = Ust(bench)
    try:
        for _ in range(rounds):
            for name, way in WAYS.items():
                samples[name].append(nanoseconds(program, way, events))
            samples.setdefault("LTTng-UST", []).append(nanoseconds(ust.program, events))
    finally:
        ust.close()
    return samples


def measure_sensor(bench, rounds):
    events = str(EVENTS // 10 if bench.quick else EVENTS)
    program = os.path.join(bench.build, "bench", "sensor-bench")
    samples = {name: [] for name in ["the clock alone", *SENSOR_WAYS]}
    ust = Ust(bench)
    try:
        for _ in range(rounds):
            samples["the clock alone"].append(nanoseconds(program, "clock", events))
            for name, way in SENSOR_WAYS.items():
                samples[name].append(nanoseconds(program, way, events))
            samples.setdefault("LTTng-UST", []).append(nanoseconds(ust.program, events))
            ust.lttng("stop", SESSION)
            ust.lttng("disable-event", "-u", "-s", SESSION, "-c", "c", "asterism_bench:write")
            samples.setdefault("LTTng-UST, off", []).append(nanoseconds(ust.program, events, "off"))
            ust.lttng("enable-event", "-u", "-s", SESSION, "-c", "c", "asterism_bench:write")
            ust.lttng("start", SESSION)
    finally:
        ust.close()
    return samples


def measure_ways(ways, in_cycles=False):
    def measure(bench, rounds):
        events = str(EVENTS // 10 if bench.quick else EVENTS)
        program = os.path.join(bench.build, "bench", "sensor-bench")
        samples = {name: [] for name in ways}
        for _ in range(rounds):
            hz = nanoseconds(program, "tsc") if in_cycles else None
            for name, way in ways.items():
                value = nanoseconds(program, way, events)
                samples[name].append(value)
                if hz:
                    samples.setdefault(name + ", cycles", []).append(value * hz)
        return samples
    return measure


def measure_reading(bench, rounds):
    program = os.path.join(bench.build, "bench", "sensor-reader-bench")
    samples = {"an event, merged": [], "a look at 64 idle processes": []}
    for _ in range(rounds):
        for name, way in zip(samples, ("merge", "idle")):
            samples[name].append(nanoseconds(program, way))
    return samples


LOSS_RULE = """EVENTS "sensor:{program}"
RULE never PATTERN {{ bench_load:e }} WHERE {{ e.a == 0 }}
"""


def lost_per_million(text, raised):
    """Of what `run` and `record` say at their end."""
    found = re.search(r"(\d+) events of sensors were", text)
    return (int(found.group(1)) if found else 0) * 1e6 / raised


def measure_loss(bench, rounds):
    """Two threads raise a million events a second each, a session reads them: those lost, of a million."""
    bench.need_root()
    program = os.path.join(bench.build, "bench", "sensor-load")
    rule = bench.rule_file("loss", LOSS_RULE.format(program=program))
    trace = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    readers = {"a rule": ["run", "-q", rule],
               "a recording": ["record", "-o", os.path.join(trace, "trace"), "-e", "sensor:bench_load"]}
    samples = {}
    try:
        for _ in range(rounds):
            for name, reader in readers.items():
                for ring in ("128K", "1M"):
                    shutil.rmtree(os.path.join(trace, "trace"), ignore_errors=True)
                    done = subprocess.run([bench.asterism, *reader, "--", program, "2", "1000000",
                                           "1" if bench.quick else "10"], stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE, text=True,
                                          env={**bench.environment, "ASTERISM_SENSORS_RING": ring})
                    raised = re.search(r"^(\d+) (\d+)$", done.stdout, re.M)
                    if not raised:
                        raise Missing(f"no events: {done.stderr.strip()[-200:]}")
                    samples.setdefault(f"{name}, rings of {ring}", []).append(
                        lost_per_million(done.stderr, int(raised.group(1))))
                    samples.setdefault("raised a second, each", []).append(int(raised.group(2)))
    finally:
        shutil.rmtree(trace)
    return samples


ROWS = [
    Row("write", "writing an event of 32 bytes with its time", "ns", "LTTng-UST",
        "exclusive <= the clock + 2 and <= 0.15 x LTTng-UST; shared <= 24, by two threads <= 35", measure_write),
    Row("sensor", "a sensor of 32 bytes in an application", "ns", "the clock alone",
        "nobody looks <= 0.6; watched <= the clock + 2 and <= 0.15 x LTTng-UST; ordered <= lfence and clock + 3",
        measure_sensor),
    Row("sensor-tables", "the reference's tables 1 and 2: events in a tight loop", "ns", None,
        "reference, cycles: own 28, 32, 35, 257; concurrent 252, 258", measure_ways(TABLES, True)),
    Row("sensor-calls", "the reference's table 3: a message and its answer", "ns", "no sensor",
        "reference: 504 cycles, + 43 own, + 274 concurrent", measure_ways(CALLS, True)),
    Row("sensor-rare", "a sensor's event that is not like the others", "ns", None,
        "reference: 400 to 600 cycles for the first; registration <= 5 ms", measure_ways(RARE)),
    Row("sensor-read", "reading sensors", "ns", None, "an event <= 50", measure_reading),
    Row("sensor-loss", "lost of two threads that raise a million events a second each", "of a million", None,
        "0", measure_loss),
]
