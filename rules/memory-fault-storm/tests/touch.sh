#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""80 MiB of fresh memory are touched page by page."""
import mmap

memory = mmap.mmap(-1, 80 << 20)
try:
    memory.madvise(mmap.MADV_NOHUGEPAGE)
except OSError:
    pass  # a kernel without huge pages
for at in range(0, len(memory), 4096):
    memory[at] = 1
