#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""A descriptor from before leads out: by fchdir, and by openat. Either is done by a process of its own."""
import os


def apart(do):
    child = os.fork()
    if child == 0:
        before = os.open(".", os.O_RDONLY)
        os.chroot("jail")
        os.chdir("/")
        do(before)
        os._exit(0)
    os.waitpid(child, 0)


os.mkdir("jail")
apart(os.fchdir)
apart(lambda before: os.open("..", os.O_RDONLY, dir_fd=before))
apart(lambda before: os.open("made", os.O_WRONLY | os.O_CREAT, dir_fd=before))
