#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Extents side by side; appended; written again after somebody has read it, after a sync, or a while."""
import os
import time

file = os.open("file", os.O_RDWR | os.O_CREAT)
for at in range(0, 8):
    os.write(file, bytes(4096))
for at in range(8, 16):
    os.pwrite(file, bytes(4096), 4096 * at)
os.pread(file, 10, 4096)
os.pwrite(file, bytes(4096), 4096)
if os.fork() == 0:
    os.pread(file, 10, 4096)
    os._exit(0)
os.wait()
os.pwrite(file, bytes(4096), 4096)
os.fsync(file)
os.pwrite(file, bytes(4096), 4096)
time.sleep(0.15)
os.pwrite(file, bytes(4096), 4096)
log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
for _ in range(3):
    os.write(log, b"a line\n")
    os.pwrite(log, b"a line\n", 0)
