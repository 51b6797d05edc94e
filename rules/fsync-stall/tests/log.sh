#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Five records of a log, each brought to the disk: 75, fdatasync."""
import ctypes
import os

ctypes.CDLL(None).prctl(15, b"planted")
log = os.open("log", os.O_WRONLY | os.O_CREAT)
for _ in range(5):
    os.write(log, b"record\n")
    os.fdatasync(log)
