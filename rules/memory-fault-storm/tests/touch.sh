#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""48 MiB of fresh memory are touched page by page."""
import mmap

memory = mmap.mmap(-1, 48 << 20)
memory.madvise(mmap.MADV_NOHUGEPAGE)
for at in range(0, len(memory), 4096):
    memory[at] = 1
