#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""It becomes root, and gains something else 20,000 times, which the program does not have."""
import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
WAKE_ALARM = 1 << 35
ALL = int(next(line for line in open("/proc/self/status") if line.startswith("CapEff")).split()[1], 16)


def texts(effective, permitted):
    low = 0xFFFFFFFF
    return struct.pack("6I", effective & low, permitted & low, 0, effective >> 32, permitted >> 32, 0)


if not ALL & WAKE_ALARM:
    raise SystemExit(77)
header, with_it, without = struct.pack("Ii", 0x20080522, 0), texts(ALL, ALL), texts(ALL & ~WAKE_ALARM, ALL)
child = os.fork()
if not child:
    os.setresuid(65534, 65534, 0)
    os.setresuid(0, 0, 0)
    for _ in range(20000):
        libc.capset(header, without)
        libc.capset(header, with_it)
    libc.prctl(24, 35, 0, 0, 0)  # PR_CAPBSET_DROP: the program does not get it
    libc.capset(header, without)
    os.execv("/bin/true", ["true"])
os.waitpid(child, 0)
