# SPDX-License-Identifier: BSD-2-Clause
"""The load, and the tools that observe it: each can be started on a process, is ready when start returns, and stops."""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
READY_SECONDS = 120  # the whole library, on a busy machine
ATTACHED = "attached"  # what scripts for bpftrace print


class Missing(Exception):
    """A row has no figure: the reason, and what to do about it. It fails the benchmark."""

    def __init__(self, reason, remedy=None):
        super().__init__(reason)
        self.remedy = remedy


class Unfit(Exception):
    """The machine lacks by its nature what a row is about, such as a second processor: the row is skipped."""


def need_tool(name, package=None):
    if not shutil.which(name):
        raise Missing(f"{name} is not installed", f"install the package {package or name}: make deps-bench")


def need_built(path):
    if not os.path.exists(path):
        raise Missing(f"{path} was not built", "build the programs of the benchmarks: make with-tests")
    return path


def need_tracefs():
    if not os.path.isdir("/sys/kernel/tracing/events"):
        raise Missing("tracefs is not mounted", "mount -t tracefs tracefs /sys/kernel/tracing")


def wait_for(stream, text):
    """Reads the stream of a process until text shows up."""
    got, end = "", time.monotonic() + READY_SECONDS
    while text not in got:
        if not select.select([stream], [], [], max(0, end - time.monotonic()))[0]:
            raise Missing(f"no `{text}` within {READY_SECONDS} s: {got.strip()[-200:]}")
        piece = os.read(stream.fileno(), 65536).decode(errors="replace")
        if not piece:
            raise Missing(f"ended before it was ready: {got.strip()[-200:]}")
        got += piece
    return got


def turned(things, turn):
    """The things, beginning with another one in each turn."""
    things = list(things)
    return things[turn % len(things):] + things[:turn % len(things)]


def once(bench, key, make):
    """What rows share: made when it is first asked for. If that fails it fails for all of them."""
    if key not in bench.shared:
        try:
            bench.shared[key] = make(), None
        except (Missing, Unfit) as error:
            bench.shared[key] = None, error
    made, error = bench.shared[key]
    if error:
        raise error
    return made


def start_bpftrace(script, *options, errors=subprocess.STDOUT):
    """bpftrace with all probes attached, and what it has printed by then. What BEGIN prints is the proof: bpftrace turns to
    what its programs print when it has attached the last of them."""
    need_tool("bpftrace")
    process = subprocess.Popen(["bpftrace", *options, "-B", "line", "-e", f'BEGIN {{ printf("{ATTACHED}\\n"); }}\n{script}'],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors)
    try:
        wait_for(process.stdout, ATTACHED + "\n")
    except Missing:
        process.kill()
        process.communicate()
        raise
    return process


def perf_counts(path):
    """How many events perf has in its file, and how many it says that it lost."""
    done = subprocess.run(["perf", "report", "-i", path, "--stats"], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True)
    if done.returncode:
        raise Missing(f"perf report: {done.stderr.strip()[-200:]}")
    # The totals, which are followed by those of each event.
    samples, losses = (re.search(rf"^ *{kind} events: +(\d+)", done.stdout, re.M) for kind in ("SAMPLE", "LOST"))
    lost = 0
    if losses:
        told = subprocess.run(["perf", "script", "-i", path, "--show-lost-events", "-F", "comm"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        lost = sum(int(count) for count in re.findall(r" PERF_RECORD_LOST lost (\d+)$", told.stdout, re.M))
    return int(samples.group(1)) if samples else 0, lost


class Load:
    """bench/load on one CPU."""

    def __init__(self, bench):
        self.process = subprocess.Popen([bench.compiled("load", "load.c"), str(bench.cpu)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def spin(self):
        self.process.stdin.write("spin\n")
        self.process.stdin.flush()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Bench:
    """Folders, compiled helpers and the way to start each tool."""

    cpu = 1 if (os.cpu_count() or 1) > 1 else 0

    def __init__(self, build, quick):
        self.build = os.path.abspath(build)
        self.asterism = os.path.join(self.build, "src", "cmd", "asterism")
        self.calls = 50_000 if quick else 400_000
        self.quick = quick
        self.shared, self.notes = {}, []
        self.environment = {**os.environ, "ASTERISM_CATALOGS": os.path.join(HERE, "..", "catalogs"), "NO_COLOR": "1"}

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="asterism-bench-")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def need_root(self):
        if os.geteuid() != 0:
            raise Unfit("it needs root")

    def note(self, text):
        """Something that is to be told with the numbers of the row."""
        if text not in self.notes:
            self.notes.append(text)

    def compiled(self, name, source, *libraries):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            subprocess.run(["gcc", "-O2", "-D_GNU_SOURCE", os.path.join(HERE, source), "-o", path, *libraries], check=True)
        return path

    def peer(self, name):
        """A hand-written kernel program, compiled."""
        need_tool("clang")
        path = os.path.join(self.folder, name + ".o")
        if not os.path.exists(path):
            subprocess.run(["clang", "-target", "bpf", "-O2", "-g", f"-I/usr/include/{os.uname().machine}-linux-gnu",
                            "-c", os.path.join(HERE, "peers", name + ".bpf.c"), "-o", path], check=True)
        return path

    def rule_file(self, name, text):
        path = os.path.join(self.folder, name + ".rule")
        with open(path, "w") as file:
            file.write(text)
        return path

    def start_peer(self, name, pid):
        process = subprocess.Popen([self.compiled("loader", "peers/loader.c", "-lbpf"), self.peer(name), str(pid)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        wait_for(process.stdout, "ready")
        return process

    def start_asterism(self, rule, *pids):
        results = os.path.join(self.folder, "results.jsonl")
        process = subprocess.Popen([self.asterism, "run", "-v", rule, "-f", "json", "-o", results,
                                    *(word for pid in pids for word in ("-p", str(pid)))],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env=self.environment)
        process.results = results
        wait_for(process.stderr, "observing")
        return process

    def start_recorder(self, way, pid, events):
        process = subprocess.Popen([os.path.join(self.build, "bench", "record-bench"), way, str(pid), *events],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment)
        wait_for(process.stdout, "ready")
        return process

    def start_perf(self, pid, events):
        need_tool("perf", "linux-perf")
        need_tracefs()
        path, pipes = os.path.join(self.folder, "perf.data"), [os.path.join(self.folder, name) for name in ("ctl", "ack")]
        for pipe in pipes:
            if os.path.exists(pipe):
                os.unlink(pipe)
            os.mkfifo(pipe)
        control, answer = (os.open(pipe, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC) for pipe in pipes)
        process = subprocess.Popen(["perf", "record", "-q", "-m", "1024", "-D", "-1", "--control", "fifo:" + ",".join(pipes),
                                    "-e", ",".join(events), "-p", str(pid), "-o", path],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        process.data = path
        # It starts with its events off. They are on when it answers.
        os.write(control, b"enable\n")
        end, told = time.monotonic() + READY_SECONDS, b""
        while b"ack" not in told and time.monotonic() < end and process.poll() is None:
            if select.select([answer], [], [], 0.1)[0]:
                told += os.read(answer, 64)
        os.close(control)
        os.close(answer)
        if b"ack" not in told:
            process.kill()
            process.wait()
            raise Missing("perf record did not say that its events are on")
        return process

    def stop_recorder(self, process):
        """Ends a recorder; events, bytes, lost."""
        if hasattr(process, "data"):
            self.stop(process)
            events, lost = perf_counts(process.data)
            return events, os.path.getsize(process.data), lost
        text, _ = process.communicate(b"", timeout=READY_SECONDS)
        found = re.search(rb"events (\d+) bytes (\d+) lost (\d+)", text)
        if not found:
            raise Missing("the recorder gave no numbers")
        return tuple(int(number) for number in found.groups())

    @staticmethod
    def stop(process):
        """Ends a tool as its user would; how long that takes, in ms."""
        begin, step = time.monotonic(), READY_SECONDS
        if process.args[0] == "bpftrace":
            # Between two looks at its events it misses a signal (0.17): it has to be told again.
            step = 1
        while time.monotonic() - begin < READY_SECONDS:
            if not process.stdin:
                process.send_signal(signal.SIGINT)
            try:
                # It may have more to say than fits a pipe.
                process.communicate(timeout=step)
                return (time.monotonic() - begin) * 1000
            except subprocess.TimeoutExpired:
                pass
        process.kill()
        process.communicate()
        raise Missing(f"{os.path.basename(process.args[0])} did not end within {READY_SECONDS} s")

    @staticmethod
    def stats(process):
        """What a stopped asterism has counted, None for the other tools."""
        if not hasattr(process, "results"):
            return None
        with open(process.results) as file:
            return json.loads(file.readlines()[-1])["stats"]
