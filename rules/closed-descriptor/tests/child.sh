#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""The parent closes, and its child uses: closed before the fork. What is closed afterwards the child still has."""
import os

os.dup2(0, 90)
os.dup2(0, 91)
os.close(90)
child = os.fork()
if child == 0:
    os.fstat(91)
    try:
        os.fstat(90)
    except OSError:
        pass
    os._exit(0)
os.close(91)
os.waitpid(child, 0)
