#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Ways of closing, and of using what was closed: close_range, poll, mmap, the second of two descriptors."""
import ctypes
import os
import select


def use(call):
    try:
        call()
    except OSError:
        pass


for fd in range(90, 96):
    os.dup2(0, fd)
os.closerange(90, 92)
use(lambda: os.fstat(90))
os.close(92)
poll = select.poll()
poll.register(0)
poll.register(92)
poll.poll(1)
os.close(93)
ctypes.CDLL(None).mmap(None, 4096, 1, 2, 93, 0)
os.close(94)
epoll = select.epoll()
use(lambda: epoll.register(94))
os.close(95)
use(lambda: os.open("file", os.O_RDONLY, dir_fd=95))
