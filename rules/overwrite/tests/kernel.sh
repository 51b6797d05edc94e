#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What is written to a file of /proc is an order to the kernel, and lies nowhere."""
for _ in range(3):
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("0")
