#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Every 50th write is a large one, as where a buffer is flushed; the same in two files by turns; and large writes."""
import os

files = [os.open(name, os.O_WRONLY | os.O_CREAT) for name in "abc"]
for i in range(300):
    os.write(files[0], b"x" * (1 if i % 50 else 64))
for i in range(180):
    os.write(files[1 + i % 2], b"x")
for i in range(200):
    os.write(files[1], b"x" * 64)
