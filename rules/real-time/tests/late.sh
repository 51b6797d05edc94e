#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Runs every 10 ms, once after 1.5 s."""
import time

with open("/proc/self/comm", "w") as comm:
    comm.write("beat")
for pause in (10, 10, 10, 1500, 10):
    time.sleep(pause / 1000)
