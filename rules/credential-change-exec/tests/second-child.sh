#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The first child ends without a program, the second one runs it."""
import os

child = os.fork()
if not child:
    os.setresuid(65534, 65534, 0)
    os.setreuid(-1, 0)
    for first in True, False:
        if not os.fork():
            if first:
                os._exit(0)
            os.execv("/bin/true", ["true"])
        os.wait()
    os._exit(0)
os.waitpid(child, 0)
