#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Extents side by side; written again after it was read, or synced, or after a while."""
import os
import time

file = os.open("file", os.O_RDWR | os.O_CREAT)
for at in range(0, 16):
    os.pwrite(file, bytes(4096), 4096 * at)
os.pread(file, 10, 4096)
os.pwrite(file, bytes(4096), 4096)
os.fsync(file)
os.pwrite(file, bytes(4096), 4096)
time.sleep(0.15)
os.pwrite(file, bytes(4096), 4096)
