#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Block after block, by any call; again after it has changed; again after a while; and a header that is small; a pipe; sendfile."""
import os
import time

file = os.open("file", os.O_RDWR | os.O_CREAT)
os.write(file, bytes(64 * 4096))
os.lseek(file, 0, os.SEEK_SET)
for at in range(0, 8):
    os.read(file, 4096)
for at in range(8, 16):
    os.pread(file, 4096, 4096 * at)
other = os.open("file", os.O_WRONLY)
os.pwrite(other, b"x", 4100)
os.pread(file, 4096, 4096)
time.sleep(0.15)
os.pread(file, 4096, 8192)
os.pread(file, 1000, 32 * 4096)
os.pread(file, 4096, 32 * 4096)
r, w = os.pipe()
for _ in range(2):
    os.write(w, bytes(4096))
    os.read(r, 4096)
out = os.open("out", os.O_WRONLY | os.O_CREAT)
for _ in range(2):
    os.sendfile(out, file, 40960, 4096)
