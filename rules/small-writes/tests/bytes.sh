#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""120 bytes, one by one."""
import os

file = os.open("file", os.O_WRONLY | os.O_CREAT)
for _ in range(120):
    os.write(file, b"x")
