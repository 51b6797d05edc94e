#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A sleeper whose time is up has to wait for a real-time thread, which keeps the processor for 750 ms."""
import os
import time

os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
child = os.fork()
if not child:
    time.sleep(0.2)
    os._exit(0)
time.sleep(0.1)
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
end = time.monotonic() + 0.75
while time.monotonic() < end:
    pass
os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
os.wait()
