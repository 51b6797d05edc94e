#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Takes a name that asks for nothing."""
with open("/proc/self/comm", "w") as comm:
    comm.write("share-nothing")
