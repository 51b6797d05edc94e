#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Three ways to gain what a program then runs with: by CAP_SETUID alone, by capset, by a saved user id for a child."""
import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
SETUID, PR_SET_KEEPCAPS = 1 << 7, 8


def capset(effective, permitted):
    header = struct.pack("Ii", 0x20080522, 0)
    low, high = 0xFFFFFFFF, 32
    data = struct.pack("6I", effective & low, permitted & low, 0, effective >> high, permitted >> high, 0)
    if libc.capset(header, data):
        raise OSError(ctypes.get_errno(), "capset")


def run():
    os.execv("/bin/true", ["true"])


def by_setuid():
    libc.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)
    os.setresuid(65534, 65534, 65534)
    capset(SETUID, SETUID)
    os.setresuid(0, 0, 0)
    run()


def by_capset():
    capset(0, SETUID)
    capset(SETUID, SETUID)
    run()


def for_a_child():
    os.setresuid(65534, 65534, 0)
    os.seteuid(0)
    if not os.fork():
        run()
    os.wait()
    os._exit(0)


for way in by_setuid, by_capset, for_a_child:
    if not os.fork():
        way()
    os.wait()
