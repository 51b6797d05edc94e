#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Opens a file fifty times, looks for one that is not there seven times and asks for one in its way twice."""
import ctypes
import os

ctypes.CDLL(None).prctl(15, b"planted")
for _ in range(50):
    os.close(os.open("file", os.O_WRONLY | os.O_CREAT))
for number in range(9):
    try:
        os.open("missing" if number < 7 else "file", os.O_WRONLY | (os.O_CREAT | os.O_EXCL if number >= 7 else 0))
    except OSError:
        pass
