#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Ways of reading a file twice: read and lseek, opened anew, by a copy of the descriptor."""
import os

for name in "abc":
    with open(name, "wb", 0) as file:
        file.write(bytes(8192))
a = os.open("a", os.O_RDONLY)
os.read(a, 8192)
os.lseek(a, 0, os.SEEK_SET)
os.read(a, 8192)
for _ in range(2):
    with open("b", "rb", 0) as file:
        file.read(8192)
c = os.open("c", os.O_RDONLY)
os.readv(c, [bytearray(8192)])
os.pread(os.dup(c), 8192, 0)
