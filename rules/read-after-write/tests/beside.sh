#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""What is read lies before and behind what was written, or in another file; or another process reads it; a pipe."""
import os

file = os.open("file", os.O_RDWR | os.O_CREAT)
other = os.open("other", os.O_RDWR | os.O_CREAT)
os.ftruncate(file, 65536)
os.ftruncate(other, 65536)
os.pwrite(file, bytes(8192), 4096)
os.pread(file, 4096, 0)
os.pread(file, 4096, 12288)
os.read(file, 4096)
os.lseek(file, 12288, os.SEEK_SET)
os.read(file, 4096)
os.pread(other, 4096, 4096)
r, w = os.pipe()
os.write(w, b"x")
os.read(r, 1)
if os.fork() == 0:
    os.pread(file, 8192, 4096)
    os._exit(0)
os.wait()
