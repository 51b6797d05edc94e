#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sleeps three times, 50 ms each (230, clock_nanosleep); its reads, a thousand, are not asked for."""
import ctypes
import os
import time

ctypes.CDLL(None).prctl(15, b"planted")
null = os.open("/dev/null", os.O_RDONLY)
for _ in range(1000):
    os.read(null, 1)
for _ in range(3):
    time.sleep(0.05)
