#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Privileges are given up, asked for in vain, and never had; and root calls setuid(0)."""
import os

for before in (lambda: os.setresuid(65534, 65534, 65534), lambda: os.setuid(0)):
    child = os.fork()
    if not child:
        before()
        try:
            os.setuid(0)
        except PermissionError:
            pass
        os.execv("/bin/true", ["true"])
    os.waitpid(child, 0)
