#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""The child does what the parent has made possible."""
import os

os.mkdir("jail")
os.chroot("jail")
child = os.fork()
if child == 0:
    os.chdir("..")
    os._exit(0)
os.waitpid(child, 0)
