#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A record of a log is brought to the disk, and nobody waits a minute for that."""
import ctypes
import os

ctypes.CDLL(None).prctl(15, b"planted")
log = os.open("log", os.O_WRONLY | os.O_CREAT)
os.write(log, b"record\n")
os.fsync(log)
