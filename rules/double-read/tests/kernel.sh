#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a file of /sys holds is made anew for each read."""
import os
import sys

if not os.path.exists("/sys/kernel/btf/vmlinux"):
    sys.exit(77)
for _ in range(3):
    with open("/sys/kernel/btf/vmlinux", "rb", buffering=0) as file:
        file.read(8192)
