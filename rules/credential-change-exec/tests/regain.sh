#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A process that is not root takes the privileges back that it had kept, and runs a program."""
import os

child = os.fork()
if not child:
    os.setresuid(65534, 65534, 0)
    os.setresuid(0, 0, 0)
    os.execv("/bin/true", ["true"])
os.waitpid(child, 0)
