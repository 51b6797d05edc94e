#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Closes, gets the number again in several ways, and uses it: nothing is wrong."""
import fcntl
import os
import socket

null = os.open("/dev/null", os.O_RDWR)
held = socket.socket()
for again in (lambda: os.dup2(null, 90), lambda: fcntl.fcntl(null, fcntl.F_DUPFD, 90),
              lambda: os.dup2(held.fileno(), 90)):
    os.dup2(null, 90)
    os.close(90)
    again()
    os.fstat(90)
os.close(90)
r, w = os.pipe()
os.close(r)
os.close(w)
os.pipe()
os.write(w, b"x")
try:
    os.read(77, 1)  # never open: another mistake
except OSError:
    pass
