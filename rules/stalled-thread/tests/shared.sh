#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Two busy processes share a processor for a second, and a third one sleeps all the time."""
import os
import time

os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
for _ in range(2):
    if not os.fork():
        end = time.monotonic() + 1
        while time.monotonic() < end:
            pass
        os._exit(0)
if not os.fork():
    time.sleep(1)
    os._exit(0)
for _ in range(3):
    os.wait()
