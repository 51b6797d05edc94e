# SPDX-License-Identifier: BSD-2-Clause
"""What the whole library costs: at once over one large trace, and around a build and a web server."""

import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import time

from machine_rows import turned
from rows import Row
from tools import READY_SECONDS, Missing, need_tool, once
from trace_rows import need_room, record, spend, stat

FILES = 120  # of the build; they are small, so that much of it is the kernel's work
SAMPLED = 15  # in a quick run
CANDIDATES, DEAREST = 6, 3  # entries that look dear after one short round, and those that are told of
BIG_BYTES = 2 * 10**9
THREE = ["@closed-descriptor", "@chroot-escape", "@real-time"]  # of the thesis
# What a pass costs that has next to nothing to look at.
EXITS = "RULE exits PATTERN { sched_process_exit:a } WHERE { a.pid == 0 }\n"
RECORDING_SECONDS = 60
NGINX = """daemon off;
pid {folder}/pid;
error_log {folder}/errors;
worker_processes 1;
{affinity}
events {{ worker_connections 1024; }}
http {{ access_log {folder}/access; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
 fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
 server {{ listen 127.0.0.1:{port}; root {folder}/www; {more} }} }}
"""


def library(bench):
    """The names of what @all stands for, which has to be of use at once."""
    def make():
        done = subprocess.run([bench.asterism, "check", "@all"], env=bench.environment, capture_output=True, text=True)
        if done.returncode:
            raise Missing("@all does not compile: " + done.stderr.strip()[:200])
        done = subprocess.run([bench.asterism, "rules", "-f", "json"], env=bench.environment, capture_output=True, text=True)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        return ["@" + entry["name"] for entry in found if not entry["needs"] and entry["kind"] != "template"]
    return once(bench, "library", make)


class Ways:
    """Without anything, with the whole library, and with the entries that cost most; measure(None or names) -> values."""

    def __init__(self, bench, measure, short):
        self.bench, self.measure = bench, measure
        if bench.quick:
            bench.note(f"every {SAMPLED}th entry only was looked at; @all takes most of a minute to start on a busy machine")
            self.names = [None, *library(bench)[::SAMPLED]]
            return
        costs = {name: short(name) for name in library(bench)}
        dear = sorted(costs, key=costs.get, reverse=True)[:CANDIDATES]
        self.names = [None, "@all", *dear]

    def rounds(self, rounds):
        """name -> [values of each round]; of the entries those that cost most, by their first value."""
        samples = {name: [] for name in self.names}
        for turn in range(rounds):
            for name in turned(self.names, turn):
                samples[name].append(self.measure(name))
        sums = {name: samples.pop(name) for name in (None, "@all") if name in samples}
        dear = sorted(samples, key=lambda name: statistics.median(values[0] for values in samples[name]), reverse=True)
        return {"bare" if name is None else name: values for name, values in sums.items()} | \
            {name: samples[name] for name in dear[:DEAREST]}


def lost_of(results):
    with open(results) as file:
        return json.loads(file.readlines()[-1])["stats"]["lost"]


class SmallFiles:
    """A build of many small files, with headers of the system, by as many jobs as there are processors."""

    def __init__(self, bench):
        self.bench, self.folder = bench, os.path.join(bench.folder, "small")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        for number in range(FILES // 8 if bench.quick else FILES):
            with open(os.path.join(self.folder, f"f{number}.c"), "w") as file:
                file.write(f"#include <stdio.h>\n#include <unistd.h>\nint f{number}(int x) {{ return printf(\"%d\", x); }}\n")
        with open(os.path.join(self.folder, "Makefile"), "w") as file:
            file.write("all: $(patsubst %.c,%.o,$(wildcard *.c))\n%.o: %.c\n\t@gcc -c $< -o $@\n")

    def run(self, rules):
        """CPU and wall-clock seconds, and events lost."""
        for name in os.listdir(self.folder):
            if name.endswith(".o"):
                os.unlink(os.path.join(self.folder, name))
        times, results = os.path.join(self.bench.folder, "times"), os.path.join(self.bench.folder, "small.jsonl")
        script = f"TIMEFORMAT='%R %U %S'; {{ time make -s -C {self.folder} -j{os.cpu_count() or 1}; }} 2>{times}"
        before = [self.bench.asterism, "run", "-q", "-f", "json", "-o", results, rules, "--"] if rules else []
        done = subprocess.run([*before, "bash", "-c", script], env=self.bench.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        with open(times) as file:
            found = re.fullmatch(r"([0-9.]+) ([0-9.]+) ([0-9.]+)", file.read().strip())
        if done.returncode not in (0, 3) or not found:
            raise Missing(f"the build failed: {done.stderr.strip()[-200:]}")
        wall, user, system = (float(number) for number in found.groups())
        return user + system, wall, lost_of(results) if rules else 0


class WebServer:
    """nginx with one worker, and wrk that asks it; where there are two processors, each has its own."""

    def __init__(self, bench, more=""):
        for tool, package in (("nginx", "nginx-light"), ("wrk", "wrk"), ("taskset", "util-linux")):
            need_tool(tool, package)
        self.bench, folder = bench, os.path.join(bench.folder, "nginx")
        os.makedirs(os.path.join(folder, "www"), exist_ok=True)
        # The worker is another user.
        os.chmod(bench.folder, 0o711)
        with open(os.path.join(folder, "www", "index.html"), "w") as file:
            file.write("x" * 1024)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        config = os.path.join(folder, "nginx.conf")
        affinity = "worker_cpu_affinity 10;" if bench.cpu else ""
        with open(config, "w") as file:
            file.write(NGINX.format(folder=folder, port=self.port, affinity=affinity, more=more))
        self.process = subprocess.Popen(["nginx", "-p", folder, "-e", os.path.join(folder, "errors"), "-c", config],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.worker = self.find_worker()

    def find_worker(self):
        end = time.monotonic() + READY_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
                children = file.read().split()
            if children:
                return int(children[0])
            time.sleep(0.05)
        self.close()
        raise Missing("nginx has no worker")

    def cpu_ns(self):
        with open(f"/proc/{self.worker}/schedstat") as file:
            return int(file.read().split()[0])

    def ask(self, connections, seconds, *options, before=()):
        """Has wrk ask it over so many connections: requests, and how many a second. The command is put behind before."""
        done = subprocess.run([*before, "taskset", "-c", "0", "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", *options,
                               f"http://127.0.0.1:{self.port}/index.html"], capture_output=True, text=True)
        count = re.search(r"(\d+) requests in", done.stdout)
        rate = re.search(r"Requests/sec:\s+([0-9.]+)", done.stdout)
        if done.returncode or not count or int(count.group(1)) < 100 or "Non-2xx" in done.stdout:
            raise Missing("wrk: " + (done.stderr or done.stdout).strip()[-200:])
        return int(count.group(1)), float(rate.group(1))

    def run(self, rules, seconds):
        """CPU us of the worker per request, requests per second, and events lost."""
        tracer = self.bench.start_asterism(rules, self.process.pid, self.worker) if rules else None
        try:
            begin = self.cpu_ns()
            count, rate = self.ask(32, seconds)
            spent = self.cpu_ns() - begin
        finally:
            if tracer:
                self.bench.stop(tracer)
        return spent / count / 1000, rate, lost_of(tracer.results) if tracer else 0

    def close(self):
        self.process.terminate()
        self.process.wait()


def built(bench, rounds):
    def make():
        bench.need_root()
        small = SmallFiles(bench)
        small.run(None)
        return Ways(bench, small.run, lambda name: small.run(name)[0]).rounds(rounds)
    return once(bench, "library-build", make)


def served(bench, rounds):
    def make():
        bench.need_root()
        library(bench)
        server, seconds = WebServer(bench), 1 if bench.quick else 5
        try:
            server.run(None, 1)
            return Ways(bench, lambda name: server.run(name, seconds), lambda name: server.run(name, 1)[0]).rounds(rounds)
        finally:
            server.close()
    return once(bench, "library-nginx", make)


def large_trace(bench):
    """A recording of a mixed load with the events of the whole library, as large as fits its time; events, MB."""
    def make():
        bench.need_root()
        library(bench)
        need_room(bench, 4 * BIG_BYTES // (20 if bench.quick else 1))
        plant = bench.compiled("plant", "../tests/kernel/programs/plant.c", "-pthread")
        seconds = 2 if bench.quick else RECORDING_SECONDS
        entries = [word for name in (THREE if bench.quick else ["@all"]) for word in ("--rules", name)]
        trace = record(bench, "large", "--ring", "64M", *entries, "--rules", bench.rule_file("exits", EXITS),
                       "--max-size", str(BIG_BYTES), "--", "sh", "-c", f"timeout {seconds} {plant} mix {10**8} 2; exit 0")
        size = sum(os.path.getsize(os.path.join(trace, name)) for name in os.listdir(trace)) / 1e6
        found = stat(bench, trace)
        if found["lost"]:
            bench.note(f"the trace has {found['events']} events, {found['lost']} more were lost when it was recorded")
        return trace, found["events"], size
    return once(bench, "large", make)


def one_pass(bench, rounds):
    """Seconds of wall-clock and CPU time, events and MB."""
    def make():
        trace, events, size = large_trace(bench)
        ways = {"a rule about exits": [bench.rule_file("exits", EXITS)], "@closed-descriptor": ["@closed-descriptor"],
                "three entries, as in the thesis": THREE, "@all": ["@all"]}
        if bench.quick:
            bench.note("@all is left to the full run, whose events take long to set up")
            del ways["@all"]
        samples = {name: [] for name in ways}
        for turn in range(min(rounds, 2)):
            for name in turned(ways, turn):
                wall, cpu, _ = spend(bench, bench.asterism, "replay", "-q", "--jobs", "1", *ways[name], trace)
                samples[name].append((wall, cpu, events, size))
        return samples
    return once(bench, "one-pass", make)


def column(samples, which):
    return {name: [values[which] for values in rounds] for name, rounds in samples.items()}


ROWS = [
    Row("library-trace", "one large trace (of 2 GB, or what one minute gives) in one pass of one job", "s",
        "@closed-descriptor", "the thesis: three patterns 67 s for 500 MB, 279 s for 2 GB (7.3 MB/s)",
        lambda bench, rounds: column(one_pass(bench, rounds), 0)),
    Row("library-trace-bytes", "the same", "MB/s of CPU time", "@closed-descriptor", ">= 100 MB/s",
        lambda bench, rounds: {name: [size / cpu for _, cpu, _, size in values]
                               for name, values in one_pass(bench, rounds).items()}),
    Row("library-trace-events", "the same", "million events/s of CPU time", "@closed-descriptor", "",
        lambda bench, rounds: {name: [events / cpu / 1e6 for _, cpu, events, _ in values]
                               for name, values in one_pass(bench, rounds).items()}),
    Row("library-trace-size", "that trace", "MB", "", "",
        lambda bench, rounds: {"recorded": [large_trace(bench)[2]]}),
    Row("library-build", "a build of many small files under the whole library and its dearest entries, CPU time of the build",
        "s", "bare", "", lambda bench, rounds: column(built(bench, rounds), 0)),
    Row("library-build-wall", "the same, wall-clock time", "s", "bare", "",
        lambda bench, rounds: column(built(bench, rounds), 1)),
    Row("library-build-lost", "events lost meanwhile", "events", "", "0",
        lambda bench, rounds: column(built(bench, rounds), 2)),
    Row("library-nginx", "nginx under the whole library and its dearest entries, CPU time of the worker per request", "us",
        "bare", "", lambda bench, rounds: column(served(bench, rounds), 0)),
    Row("library-nginx-rate", "the same, requests", "requests/s", "bare", "",
        lambda bench, rounds: column(served(bench, rounds), 1)),
    Row("library-nginx-lost", "events lost meanwhile", "events", "", "0",
        lambda bench, rounds: column(served(bench, rounds), 2)),
]
