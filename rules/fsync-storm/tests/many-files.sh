#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""120 files, each synced once; and one 60 times."""
import os

for name in range(120):
    with open(f"file{name}", "w") as file:
        os.fsync(os.dup2(file.fileno(), 100 + name))
log = os.open("log", os.O_WRONLY | os.O_CREAT)
for line in range(60):
    os.fsync(log)
