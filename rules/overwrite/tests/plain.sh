#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Ways of writing over: write and lseek, opened anew, by a copy of the descriptor."""
import os

a = os.open("a", os.O_WRONLY | os.O_CREAT)
os.write(a, bytes(100))
os.lseek(a, 0, os.SEEK_SET)
os.write(a, bytes(101))
for count in (200, 202):
    with open("b", "wb", 0) as file:
        file.write(bytes(count))
c = os.open("c", os.O_WRONLY | os.O_CREAT)
os.writev(c, [bytes(300)])
os.pwrite(os.dup(c), bytes(303), 0)
