#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""48 MiB of fresh memory: as apt and pip take at once, not enough for a storm. Touching them again is none at all."""
import mmap

memory = mmap.mmap(-1, 48 << 20)
try:
    memory.madvise(mmap.MADV_NOHUGEPAGE)
except OSError:
    pass  # a kernel without huge pages
for at in 20 * list(range(0, len(memory), 4096)):
    memory[at] = 1
