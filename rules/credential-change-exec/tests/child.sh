#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""It, which is no root, takes the effective user id back that it had kept, and a child runs the program."""
import os

child = os.fork()
if not child:
    os.setresuid(65534, 65534, 0)
    os.setreuid(-1, 0)
    if not os.fork():
        os.execv("/bin/true", ["true"])
    os.wait()
    os._exit(0)
os.waitpid(child, 0)
