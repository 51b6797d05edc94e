#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""programs.py ID...: prints those of the ids that the kernel has a program for."""

import ctypes
import os
import struct
import sys

PROG_GET_FD_BY_ID = 13
SYS_BPF = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
libc = ctypes.CDLL(None, use_errno=True)
for number in sys.argv[1:]:
    attr = ctypes.create_string_buffer(struct.pack("=III", int(number), 0, 0), 128)
    fd = libc.syscall(SYS_BPF, PROG_GET_FD_BY_ID, attr, 128)
    if fd >= 0:
        os.close(fd)
        print(number)
