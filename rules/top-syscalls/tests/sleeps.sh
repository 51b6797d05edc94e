#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sleeps three times, 0.1 s each, and asks 1000 times for its parent: 230 and 110."""
import ctypes
import os
import time

ctypes.CDLL(None).prctl(15, b"planted")
for _ in range(3):
    time.sleep(0.1)
for _ in range(1000):
    os.getppid()
