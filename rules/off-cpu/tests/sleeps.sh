#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sleeps three times, 0.1 s each, and waits 0.3 s for a pipe: 230, clock_nanosleep, and 0, read."""
import ctypes
import os
import time

ctypes.CDLL(None).prctl(15, b"planted")
for _ in range(3):
    time.sleep(0.1)
reader, writer = os.pipe()
if not os.fork():
    ctypes.CDLL(None).prctl(15, b"writer")
    time.sleep(0.3)
    os.write(writer, b"x")
    os._exit(0)
os.read(reader, 1)
