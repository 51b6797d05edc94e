#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Threads and processes that run, sleep, wait for locks and pipes and wake each other, at random: a workload to record.

usage: workload.py SECONDS SEED [FILE]   FILE: where each thread writes `TID NS`, the time on a processor that the kernel
counts for it (/proc/TID/schedstat) at its end
"""

import os
import random
import sys
import threading
import time


def spin(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def note(file):
    tid = threading.get_native_id()
    with open(f"/proc/self/task/{tid}/schedstat") as stat:
        ran = int(stat.read().split()[0])
    file.append(f"{tid} {ran}\n")


def work(until, seed, lock, event, pipe, notes):
    chance = random.Random(seed)
    while time.monotonic() < until:
        what = chance.randrange(7)
        if what == 0:
            spin(chance.random() / 500)
        elif what == 1:
            time.sleep(chance.random() / 300)
        elif what == 2:
            with lock:
                time.sleep(chance.random() / 2000)
        elif what == 3:
            event.set()
        elif what == 4:
            event.wait(chance.random() / 300)
            event.clear()
        elif what == 5:
            os.write(pipe[1], b"x")
            os.read(pipe[0], 1)
        else:
            os.sched_yield()
    note(notes)


def main():
    seconds, seed = float(sys.argv[1]), int(sys.argv[2])
    until, notes = time.monotonic() + seconds, []
    lock, event, pipe = threading.Lock(), threading.Event(), os.pipe()
    threads = [threading.Thread(target=work, args=(until, seed + i, lock, event, pipe, notes)) for i in range(6)]
    for thread in threads:
        thread.start()
    while time.monotonic() < until:
        child = os.fork()
        if not child:
            spin(0.001)
            os._exit(0)
        os.waitpid(child, 0)
        time.sleep(0.01)
    for thread in threads:
        thread.join()
    if len(sys.argv) > 3:
        with open(sys.argv[3], "w") as file:
            file.writelines(notes)


if __name__ == "__main__":
    main()
