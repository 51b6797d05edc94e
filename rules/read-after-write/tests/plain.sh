#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Ways of reading back: write, lseek and read; opened anew; by a copy of the descriptor."""
import os

a = os.open("a", os.O_RDWR | os.O_CREAT)
os.write(a, bytes(101))
os.lseek(a, 0, os.SEEK_SET)
os.read(a, 200)
with open("b", "wb", 0) as file:
    file.write(bytes(202))
with open("b", "rb", 0) as file:
    file.read(202)
c = os.open("c", os.O_RDWR | os.O_CREAT)
os.writev(c, [bytes(303)])
os.pread(os.dup(c), 400, 0)
