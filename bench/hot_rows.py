# SPDX-License-Identifier: BSD-2-Clause
"""What rules cost a server while it serves. One load runs all the time, and observers come and go under it: of each the
CPU time of the server per request is taken in a short window, between two windows without any. So what the machine
does else hits all alike. Nothing is observed in `nobody, too`: its distance from 1 is what noise there is."""

import glob
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import time

from library_rows import WebServer, lost_of
from rows import Row
from tools import READY_SECONDS, Missing, need_tool, once, start_bpftrace, turned

NARROW = "@creation-error"
# The same question as NARROW: which calls of the server fail to create something.
BPFTRACE = "tracepoint:syscalls:sys_exit_openat,tracepoint:syscalls:sys_exit_open,tracepoint:syscalls:sys_exit_creat," \
    "tracepoint:syscalls:sys_exit_mkdir,tracepoint:syscalls:sys_exit_mkdirat /(%s) && args->ret < 0/ " \
    "{ @[-args->ret] = count(); }"
WINDOW_SECONDS, SETTLING_SECONDS = 1.0, 0.1
STATUS = "location /status { stub_status; access_log off; }"


def cpu_ns_of(pids):
    """What all threads of the processes have had."""
    total = 0
    for path in (path for pid in pids for path in glob.glob(f"/proc/{pid}/task/*/schedstat")):
        with open(path) as file:
            total += int(file.read().split()[0])
    return total


class HotWebServer(WebServer):
    """nginx, asked without an end."""
    pids = property(lambda self: (self.process.pid, self.worker))
    serving = property(lambda self: (self.worker,))

    def __init__(self, bench):
        super().__init__(bench, STATUS)
        self.load = subprocess.Popen(["taskset", "-c", "0", "wrk", "-t1", "-c32", "-d3600s",
                                      f"http://127.0.0.1:{self.port}/index.html"],
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def requests(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=READY_SECONDS) as connection:
            connection.sendall(b"GET /status HTTP/1.0\r\n\r\n")
            text = b"".join(iter(lambda: connection.recv(4096), b""))
        return int(re.search(rb"requests\s*\n\s*\d+ \d+ (\d+)", text).group(1))

    def close(self):
        self.load.kill()
        self.load.wait()
        super().close()


class HotRedis:
    """redis without persistence, asked for SET and GET without an end."""
    pids = serving = property(lambda self: (self.process.pid,))

    def __init__(self, bench):
        need_tool("redis-server")
        need_tool("redis-benchmark", "redis-tools")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        on = ["taskset", "-c", str(bench.cpu)]
        self.process = subprocess.Popen([*on, "redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                                         "--appendonly", "no", "--dir", bench.folder],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.load = None
        self.wait()
        self.load = subprocess.Popen(["taskset", "-c", "0", "redis-benchmark", "-q", "-p", str(self.port), "-c", "32", "-l",
                                      "-t", "set,get"],
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait(self):
        end = time.monotonic() + READY_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                return self.requests()
            except OSError:
                time.sleep(0.05)
        self.close()
        raise Missing("redis-server did not answer")

    def cpu_ns(self):
        return cpu_ns_of(self.pids)

    def requests(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=READY_SECONDS) as connection:
            connection.sendall(b"INFO stats\r\nQUIT\r\n")
            text = b"".join(iter(lambda: connection.recv(65536), b""))
        return int(re.search(rb"total_commands_processed:(\d+)", text).group(1))

    def close(self):
        for process in (self.load, self.process):
            if process:
                process.kill()
                process.wait()


class HotPostgres:
    """PostgreSQL, asked for one row after the other over four connections without an end. A sequence counts the requests:
    PostgreSQL's own statistics are up to a second late."""
    CLIENTS = 4
    pids = property(lambda self: (self.process.pid, *self.serving))

    def __init__(self, bench):
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not programs:
            raise Missing("postgres is missing: install the package postgresql")
        self.programs, self.folder, self.process, self.load = programs[-1], os.path.join(bench.folder, "database"), None, None
        os.mkdir(self.folder)
        os.chmod(bench.folder, 0o711)
        shutil.chown(self.folder, "nobody", "nogroup")
        try:
            self.start(os.path.join(self.folder, "data"), bench.cpu)
            self.ask_without_end()
        except BaseException:
            self.close()
            raise

    def start(self, data, cpu):
        self.as_nobody("initdb", "--no-sync", "-A", "trust", "-U", "bench", "-D", data).wait()
        self.process = self.as_nobody("postgres", "-D", data, "-c", "listen_addresses=", "-c", "fsync=off",
                                      "-c", f"unix_socket_directories={self.folder}", on=cpu)
        self.until("answered", lambda: self.as_nobody("pg_isready", "-q", "-h", self.folder).wait() == 0)

    def ask_without_end(self):
        asked = os.path.join(self.folder, "asked.sql")
        with open(asked, "w") as file:
            file.write("\\set id random(1, 100000)\nSELECT abalance FROM pgbench_accounts WHERE aid = :id;\n"
                       "SELECT nextval('requests');\n")
        self.as_nobody("pgbench", "-i", "-q", "-h", self.folder, "-U", "bench", "postgres").wait()
        self.ask("CREATE SEQUENCE requests")
        self.load = self.as_nobody("pgbench", "-n", "-M", "prepared", "-c", str(self.CLIENTS), "-T", "3600", "-f", asked,
                                   "-h", self.folder, "-U", "bench", "postgres", on=0)
        self.until("had all its clients", lambda: len(self.backends()) == self.CLIENTS)
        self.serving = tuple(self.backends())

    def until(self, what, reached):
        end = time.monotonic() + READY_SECONDS
        while not reached():
            if time.monotonic() > end or self.process.poll() is not None:
                raise Missing(f"postgres has not {what} in {READY_SECONDS} s")
            time.sleep(0.05)

    def as_nobody(self, program, *arguments, on=0):
        return subprocess.Popen(["taskset", "-c", str(on), "setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups",
                                 os.path.join(self.programs, program), *arguments], env={"HOME": self.folder, "LC_ALL": "C"},
                                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def ask(self, text):
        done = subprocess.run([os.path.join(self.programs, "psql"), "-At", "-h", self.folder, "-U", "bench", "-c", text, "postgres"],
                              capture_output=True, text=True)
        if done.returncode:
            raise Missing("psql: " + done.stderr.strip()[:200])
        return done.stdout.strip()

    def backends(self):
        return [int(pid) for pid in self.ask("SELECT pid FROM pg_stat_activity WHERE application_name = 'pgbench'").split()]

    def cpu_ns(self):
        return cpu_ns_of(self.serving)

    def requests(self):
        return int(self.ask("SELECT last_value FROM requests"))

    def close(self):
        if self.load:
            self.load.kill()
            self.load.wait()
        if self.process:
            self.process.send_signal(signal.SIGINT)  # what postgres calls a fast shutdown: it ends its children
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def window(server, seconds):
    """CPU us of the server per request, for some time from now on."""
    time.sleep(SETTLING_SECONDS)
    requests, spent = server.requests(), server.cpu_ns()
    time.sleep(seconds)
    requests, spent = server.requests() - requests, server.cpu_ns() - spent
    if requests < 100:
        raise Missing(f"the server had {requests} requests in {seconds} s")
    return spent / requests / 1000


def observers(bench, server):
    """What observes, by name: how it is started."""
    def rules(name):
        return lambda: bench.start_asterism(name, *server.pids)
    return {"nobody, too": lambda: None,
            "empty programs": lambda: bench.start_peer("empty-pair", server.serving[0]),
            f"bpftrace, as {NARROW}": lambda: start_bpftrace(BPFTRACE % " || ".join(f"pid == {pid}" for pid in server.serving)),
            NARROW: rules(NARROW), "@default": rules("@default"), **({} if bench.quick else {"@all": rules("@all")})}


def toggled(bench, server, rounds, ways, seconds):
    """name -> ratios to the windows before and after it; and the events lost by each."""
    ratios, lost = {name: [] for name in ways}, {name: 0 for name in ways if name.startswith("@")}
    for turn in range(rounds):
        before = window(server, seconds)
        for name in turned(ways, turn):
            observer = ways[name]()
            try:
                cost = window(server, seconds)
            finally:
                if observer:
                    bench.stop(observer)
            after = window(server, seconds)
            ratios[name].append(cost / statistics.mean((before, after)))
            before = after
            if name in lost:
                lost[name] += lost_of(observer.results)
    return ratios, lost


def served(bench, kind, rounds):
    def make():
        bench.need_root()
        server = kind(bench)
        try:
            return toggled(bench, server, rounds if bench.quick else 3 * rounds, observers(bench, server),
                           WINDOW_SECONDS / 4 if bench.quick else WINDOW_SECONDS)
        finally:
            server.close()
    return once(bench, f"hot {kind.__name__}", make)


def measure_ratio(kind):
    def measure(bench, rounds):
        ratios, _ = served(bench, kind, rounds)
        for name, values in ratios.items():
            if len(values) > 3:
                low, _, high = statistics.quantiles(values, n=4)
                bench.note(f"{name}: half of the rounds lie between {low:.2f} and {high:.2f}")
        return ratios
    return measure


def measure_lost(kind):
    return lambda bench, rounds: {name: [float(count)] for name, count in served(bench, kind, rounds)[1].items()}


ROWS = [row for kind, name, what in ((HotWebServer, "hot-nginx", "nginx under wrk"), (HotRedis, "hot-redis", "redis"),
                                        (HotPostgres, "hot-postgres", "PostgreSQL under pgbench"))
        for row in (
            Row(name, f"{what}: CPU time of the server per request, observers coming and going under one load", "x nobody", "",
                f"{NARROW} <= 1.05, @default <= 1.15, where empty programs leave room for it", measure_ratio(kind)),
            Row(f"{name}-lost", "events lost meanwhile", "events", "", "0", measure_lost(kind)))]
