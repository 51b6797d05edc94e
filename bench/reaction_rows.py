# SPDX-License-Identifier: BSD-2-Clause
"""How soon something is done about a match: a signal in the target, a callback, a line at a reader."""

import json
import os
import signal
import subprocess

from rows import Row
from tools import READY_SECONDS, Missing, need_built, need_tool, start_bpftrace, wait_for

SIGNAL = """RULE r PATTERN { sys_exit_getppid:b } DO { CALL Signal(#TID, "USR1") }
"""
CALL = "tracepoint:syscalls:sys_exit_getppid /pid == %d/ { %s }"


class Target:
    """bench/reaction as the target of signals."""

    def __init__(self, bench, count, mode="target"):
        self.process = subprocess.Popen([bench.compiled("reaction", "reaction.c"), mode, str(count)],
                                        stdout=subprocess.PIPE, text=True)
        wait_for(self.process.stdout, "ready")
        self.pid = self.process.pid

    def run(self):
        """p50 and p99 in us, and how many signals came after the call had returned."""
        self.process.send_signal(signal.SIGUSR2)
        text, _ = self.process.communicate(timeout=READY_SECONDS)
        return [float(number) for number in text.split()]

    def close(self):
        self.process.kill()
        self.process.wait()


def signal_by_asterism(bench, count):
    target = Target(bench, count)
    rule = bench.rule_file("signal", SIGNAL)
    try:
        process = subprocess.Popen([bench.asterism, "run", "-v", "--allow-actions", rule, "-p", str(target.pid)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=bench.environment)
        wait_for(process.stderr, "observing")
        found = target.run()
        process.communicate(timeout=READY_SECONDS)
    finally:
        target.close()
    if found[2]:
        bench.note(f"{found[2]:.0f} of {count} signals of asterism came after the next instruction")
    return found[:2]


def signal_by_bpftrace(bench, count):
    target = Target(bench, count)
    try:
        process = start_bpftrace(CALL % (target.pid, 'signal("USR1");'), "--unsafe")
        found = target.run()
        bench.stop(process)
    finally:
        target.close()
    return found[:2]


def read_by_bpftrace(bench, count):
    """printf, read by a program at the other end of a pipe."""
    target = Target(bench, count, "call")
    try:
        tracer = start_bpftrace(CALL % (target.pid, 'printf("%llu\\n", nsecs);'), errors=subprocess.DEVNULL)
    except Missing:
        target.close()
        raise
    try:
        reader = subprocess.Popen([bench.compiled("reaction", "reaction.c"), "read", str(count)], stdin=tracer.stdout,
                                  stdout=subprocess.PIPE, text=True)
        target.process.send_signal(signal.SIGUSR2)
        text, _ = reader.communicate(timeout=READY_SECONDS)
    finally:
        tracer.kill()
        tracer.wait()
        tracer.stdout.close()
        target.close()
    if not text:
        raise Missing("bpftrace printed nothing")
    return [float(number) for number in text.split()][:2]


def callback(bench, count):
    """The callback of a question, with the process stopped."""
    folder = os.path.join(bench.build, "tests", "kernel")
    done = subprocess.run([need_built(os.path.join(folder, "verdict-live")), os.path.join(folder, "asked"), "--latency", str(count)],
                          capture_output=True, text=True, env=bench.environment)
    if done.returncode:
        raise Missing("verdict-live failed: " + done.stdout.strip()[-200:])
    found = json.loads(done.stdout)
    return [found["p50_us"], found["p99_us"]]


WAYS = {
    "asterism, signal": signal_by_asterism,
    "bpftrace, signal()": signal_by_bpftrace,
    "asterism, callback": callback,
    "bpftrace, printf to a reader": read_by_bpftrace,
}


def measure(bench, rounds, hogs):
    bench.need_root()
    need_tool("bpftrace")
    count = 200 if bench.quick else 2000
    samples = {}
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(hogs)]
    try:
        for _ in range(rounds):
            for name, way in WAYS.items():
                for which, value in zip(("p50", "p99"), way(bench, count)):
                    samples.setdefault(f"{name}, {which}", []).append(value)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    return samples


ROWS = [
    Row("reaction", "from the completing event to the handler in the target, to the callback", "us",
        "bpftrace, signal(), p50", "signal <= bpftrace; callback <= 25 / 90",
        lambda bench, rounds: measure(bench, rounds, 0)),
    Row("reaction-load", "the same with a busy process for each CPU", "us", "bpftrace, signal(), p50",
        "callback <= 25 / 90", lambda bench, rounds: measure(bench, rounds, os.cpu_count() or 1)),
]
