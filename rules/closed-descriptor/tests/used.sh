#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Reads from a descriptor that was closed."""
import os

fd = os.dup2(os.open("/dev/null", os.O_RDONLY), 90)
os.close(fd)
try:
    os.read(fd, 1)
except OSError:
    pass
