#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Block after block; again after it has changed; again after a while; and a header that is read twice, but is small."""
import os
import time

file = os.open("file", os.O_RDWR | os.O_CREAT)
for at in range(0, 16):
    os.pread(file, 4096, 4096 * at)
os.pwrite(file, b"x", 4100)
os.pread(file, 4096, 4096)
time.sleep(0.15)
os.pread(file, 4096, 8192)
os.pread(file, 1000, 32 * 4096)
os.pread(file, 4096, 32 * 4096)
