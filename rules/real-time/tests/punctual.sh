#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Runs every 10 ms; somebody else does not, but nobody has asked about it."""
import os
import time

other = os.fork()
if other == 0:
    time.sleep(1.2)
    os._exit(0)
with open("/proc/self/comm", "w") as comm:
    comm.write("beat")
while os.waitpid(other, os.WNOHANG)[0] == 0:
    time.sleep(0.01)
