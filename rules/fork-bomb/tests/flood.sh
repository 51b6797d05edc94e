#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""One process forks 600 times and more."""
import os

for _ in range(620):
    if not os.fork():
        os._exit(0)
for _ in range(620):
    os.wait()
