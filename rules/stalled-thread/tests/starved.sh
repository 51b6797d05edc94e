#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A real-time thread keeps the only processor that another one may use, for 750 ms."""
import os
import time

os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
child = os.fork()
if not child:
    while True:
        pass
time.sleep(0.1)
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
end = time.monotonic() + 0.75
while time.monotonic() < end:
    pass
os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
os.kill(child, 9)
os.wait()
