#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""8 KiB are written at 4096; a part of them, and what follows, is read back."""
import os

file = os.open("file", os.O_RDWR | os.O_CREAT)
os.ftruncate(file, 65536)
os.pwrite(file, bytes(8192), 4096)
os.pread(file, 4096, 12000)
