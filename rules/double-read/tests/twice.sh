#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""The second half of a block is read again with what follows."""
import os

file = os.open("file", os.O_RDWR | os.O_CREAT)
os.ftruncate(file, 65536)
os.pread(file, 8192, 0)
os.pread(file, 8192, 4096)
