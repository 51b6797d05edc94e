#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A reader is woken by a real-time thread, and has to wait for it: it keeps the processor for 750 ms."""
import os
import time

os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
read, write = os.pipe()
child = os.fork()
if not child:
    os.read(read, 1)
    os._exit(0)
while open(f"/proc/{child}/stat").read().rsplit(") ", 1)[1][0] != "S":
    time.sleep(0.01)
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
os.write(write, b"x")
end = time.monotonic() + 0.75
while time.monotonic() < end:
    pass
os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
os.wait()
