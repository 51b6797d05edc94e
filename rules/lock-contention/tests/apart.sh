#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Eight processes write large pieces to a file each."""
import os

piece = bytes(8 << 20)
for _ in range(8):
    if not os.fork():
        file = os.open(f"file{os.getpid()}", os.O_WRONLY | os.O_CREAT)
        for _ in range(8):
            os.pwrite(file, piece, 0)
        os._exit(0)
for _ in range(8):
    os.wait()
