#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Whoever waits for a server asks again and again, and gets an answer each time: not yet."""
import ctypes
import os

libc = ctypes.CDLL(None)
for name, status in ((b"timeout", 124), (b"curl", 7), (b"wget", 4), (b"pg_isready", 2)):
    for _ in range(6):
        child = os.fork()
        if not child:
            libc.prctl(15, name)
            os._exit(status)
        os.waitpid(child, 0)
