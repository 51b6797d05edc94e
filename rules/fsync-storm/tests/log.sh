#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A log that is synced after each of its 120 lines."""
import os

log = os.open("log", os.O_WRONLY | os.O_CREAT)
for line in range(120):
    os.write(log, b"line\n")
    (os.fsync if line % 2 else os.fdatasync)(log)
