#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Nobody stays stopped, whoever is killed when.

usage: verdict-kill.py ASTERISM ASKED [ROUNDS]

Starts targets that are asked about all the time, and kills asterism at a random moment of its start, its work or its
end, or its keeper, or those who answer. After each round every target must go on, no keeper and no program be left.
How long a start takes here is measured first. ASTERISM_TEST_PATIENCE multiplies how long is waited for anything.
"""

import ctypes
import mmap
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

THREADS_MAX, THREAD_BYTES, HEAD_BYTES = 16, 64, 8
TARGETS = 3
SYS_BPF, PROG_GET_FD_BY_ID = 321, 13
PATIENCE = int(os.environ.get("ASTERISM_TEST_PATIENCE", "1"))
RULE = """SYNCHRONOUS RULE ask PATTERN { sys_exit_getpid:b } RETURN { b.ret AS r } DO { CALL Ask(%s) }
"""
STOP = """RULE stop PATTERN { sys_exit_getpid:b } RETURN { b.ret AS r } DO { CALL Stop(#PID) }
"""

libc = ctypes.CDLL(None, use_errno=True)


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def state_of(pid):
    stat = read(f"/proc/{pid}/stat")
    return stat[stat.rindex(")") + 2] if stat else None


def programs_of(pid):
    found = set()
    try:
        fds = os.listdir(f"/proc/{pid}/fdinfo")
    except OSError:
        return found
    for fd in fds:
        for line in read(f"/proc/{pid}/fdinfo/{fd}").splitlines():
            if line.startswith("prog_id:"):
                found.add(int(line.split()[1]))
    return found


def is_loaded(program):
    attr = ctypes.create_string_buffer(struct.pack("II", program, 0) + bytes(120))
    fd = libc.syscall(SYS_BPF, PROG_GET_FD_BY_ID, attr, 128)
    if fd >= 0:
        os.close(fd)
    return fd >= 0


def keepers_of(pid):
    children = read(f"/proc/{pid}/task/{pid}/children").split()
    return [int(child) for child in children if read(f"/proc/{child}/comm").strip() == "asterism-keep"]


def wait_until(condition):
    end = time.monotonic() + 5 * PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


class Target:
    def __init__(self, asked, threads):
        self.file = tempfile.NamedTemporaryFile(prefix="asked-")
        self.process = subprocess.Popen([asked, self.file.name, str(threads), "0", "100"])
        wait_until(lambda: os.path.getsize(self.file.name) > 0)
        self.map = mmap.mmap(self.file.fileno(), 0)
        self.threads = threads

    def progress(self):
        return [struct.unpack_from("Q", self.map, HEAD_BYTES + i * THREAD_BYTES + 8)[0] for i in range(self.threads)]

    def goes_on(self):
        """Every thread comes back from calls, so nothing is stopped; and stays so."""
        before = self.progress()
        return wait_until(lambda: all(now > then for now, then in zip(self.progress(), before)))

    def end(self):
        self.process.kill()
        self.process.wait()


class Check:
    def __init__(self, asterism, asked):
        self.asterism = asterism
        self.folder = tempfile.TemporaryDirectory()
        self.targets = [Target(asked, 1 + i) for i in range(TARGETS)]
        self.failures = 0
        self.checks = 0
        self.answer = self.write("answer", "#!/bin/sh\nexit 0\n")
        self.rule = self.write("ask.rule", RULE % "300ms")
        self.start_seconds = self.measure_start()

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def fail(self, what):
        print("FAILED:", what)
        self.failures += 1

    def start(self, *more, rule=None, ask=True):
        pids = [word for target in self.targets for word in ("-p", str(target.process.pid))]
        asking = ["--ask", self.answer] if ask else []
        return subprocess.Popen([self.asterism, "run", "-q", "--allow-actions", *asking, *more, rule or self.rule, *pids],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stopped(self):
        return [target for target in self.targets if state_of(target.process.pid) == "T"]

    def wait_for_work(self, process):
        """Until it has asked about somebody. What is asked about is stopped."""
        if not wait_until(lambda: keepers_of(process.pid) and self.stopped()):
            self.fail("nobody is asked about")

    def measure_start(self):
        begin = time.monotonic()
        process = self.start()
        self.wait_for_work(process)
        seconds = time.monotonic() - begin
        process.terminate()
        process.wait()
        return seconds

    def check_end(self, what, programs, keepers):
        self.checks += 1
        for target in self.targets:
            if target.process.poll() is not None:
                self.fail(f"{what}: a target has ended")
            elif not target.goes_on():
                self.fail(f"{what}: {target.process.pid} is {state_of(target.process.pid)}")
                os.kill(target.process.pid, signal.SIGCONT)
        if not wait_until(lambda: not any(is_loaded(program) for program in programs)):
            self.fail(f"{what}: a program is left")
        if not wait_until(lambda: not any(os.path.exists(f"/proc/{keeper}") for keeper in keepers)):
            self.fail(f"{what}: a keeper is left")
        time.sleep(0.05)
        for target in self.targets:
            if not target.goes_on():
                self.fail(f"{what}: {target.process.pid} is stopped late")
                os.kill(target.process.pid, signal.SIGCONT)

    def kill_at(self, what, delay, how=signal.SIGKILL, **options):
        process = self.start(**options)
        time.sleep(delay)
        programs, keepers = programs_of(process.pid), keepers_of(process.pid)
        process.send_signal(how)
        process.wait()
        self.check_end(what, programs, keepers)

    def in_shutdown(self, delay):
        process = self.start()
        self.wait_for_work(process)
        programs, keepers = programs_of(process.pid), keepers_of(process.pid)
        process.terminate()
        time.sleep(delay)
        process.kill()
        process.wait()
        self.check_end(f"killed {delay * 1e3:.1f} ms after SIGTERM", programs, keepers)

    def freeze(self, process):
        """It stands still, and all targets with it: their next call is asked about."""
        self.wait_for_work(process)
        process.send_signal(signal.SIGSTOP)
        if not wait_until(lambda: len(self.stopped()) == TARGETS):
            self.fail("somebody is not asked about")

    def frozen(self, what):
        """Killed while it does nothing: with matches in the ring, and with answerers at work."""
        process = self.start()
        self.freeze(process)
        programs, keepers = programs_of(process.pid), keepers_of(process.pid)
        process.kill()
        process.wait()
        self.check_end(what, programs, keepers)

    def both(self):
        """What nobody can make good: the keeper and asterism are killed together. Shows that a test here can fail."""
        process = self.start()
        self.freeze(process)
        for keeper in keepers_of(process.pid):
            os.kill(keeper, signal.SIGKILL)
        process.kill()
        process.wait()
        time.sleep(0.2)
        stopped = self.stopped()
        for target in stopped:
            os.kill(target.process.pid, signal.SIGCONT)
        if not stopped:
            self.fail("with nobody left to let them go on, nobody is stopped")

    def kill_keeper(self, times):
        process = self.start()
        self.wait_for_work(process)
        seen = set()
        for _ in range(times):
            if not wait_until(lambda: keepers_of(process.pid)):
                self.fail("a killed keeper is not replaced")
                break
            keeper = keepers_of(process.pid)[0]
            if keeper in seen:
                self.fail("a killed keeper is still there")
            seen.add(keeper)
            os.kill(keeper, signal.SIGKILL)
            wait_until(lambda: not os.path.exists(f"/proc/{keeper}"))
            if not all(target.goes_on() for target in self.targets):
                self.fail("with a killed keeper somebody stays stopped")
        programs, keepers = programs_of(process.pid), keepers_of(process.pid)
        process.kill()
        process.wait()
        self.check_end("killed after its keepers", programs, keepers)


def answerers(check):
    """Those who answer are late, dead, or crash: the default holds, and the targets go on."""
    for name, text in (("late", "#!/bin/sh\nexec sleep 5\n"), ("killed", "#!/bin/sh\nkill -KILL $$\n"),
                       ("crashed", "#!/bin/sh\nkill -SEGV $$\n"), ("other", "#!/bin/sh\nexit 7\n")):
        check.answer = check.write(name, text)
        check.rule = check.write("ask.rule", RULE % '40ms, "CONTINUE"')
        process = check.start()
        check.wait_for_work(process)
        for target in check.targets:
            if not target.goes_on():
                check.fail(f"an answerer that is {name} holds a target")
        programs, keepers = programs_of(process.pid), keepers_of(process.pid)
        process.terminate()
        process.wait()
        check.check_end(f"answerer {name}", programs, keepers)
    check.answer = check.write("late", "#!/bin/sh\nexec sleep 5\n")
    check.rule = check.write("ask.rule", RULE % '10s, "CONTINUE"')
    check.frozen("killed while it waits for an answer")


def main():
    if os.geteuid():
        print("skipped: needs root")
        return 77
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored, and asterism respects that
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 120
    check = Check(sys.argv[1], sys.argv[2])
    rng = random.Random(os.environ.get("SEED"))
    stop = check.write("stop.rule", STOP)
    try:
        for i in range(rounds):
            delay = rng.uniform(0, 2 * check.start_seconds)
            check.kill_at(f"killed after {delay * 1e3:.1f} ms", delay, ask=i % 3 != 0)
        for i in range(rounds // 6):
            check.in_shutdown(rng.uniform(0, check.start_seconds / 2))
        for i in range(rounds // 6):
            delay = rng.uniform(0, 2 * check.start_seconds)
            check.kill_at(f"Stop, killed after {delay * 1e3:.1f} ms", delay, ask=False, rule=stop)
        for how in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            check.kill_at(f"ended by {how.name}", 2 * check.start_seconds, how)
            check.kill_at(f"Stop, ended by {how.name}", 2 * check.start_seconds, how, ask=False, rule=stop)
        for i in range(rounds // 12):
            check.frozen("killed with matches in the ring")
        check.both()
        check.kill_keeper(5)
        answerers(check)
    finally:
        for target in check.targets:
            target.end()
    print(f"{check.checks - check.failures} passed, {check.failures} failed, 0 skipped")
    return check.failures != 0


sys.exit(main())
