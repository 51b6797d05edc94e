#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""16 MiB of fresh memory: not enough for a storm. Touching them again is none at all."""
import mmap

memory = mmap.mmap(-1, 16 << 20)
try:
    memory.madvise(mmap.MADV_NOHUGEPAGE)
except OSError:
    pass  # a kernel without huge pages
for at in 20 * list(range(0, len(memory), 4096)):
    memory[at] = 1
