#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Programs that were to get a descriptor: it was closed at exec, in the same process and in a child's."""
import os

os.dup2(1, 90, inheritable=False)
if os.fork() == 0:
    os.execv("/bin/bash", ["bash", "-c", "echo x 2>/dev/null >&90; true"])
os.wait()
os.dup2(1, 8, inheritable=False)
os.execv("/bin/bash", ["bash", "-c", "echo x 2>/dev/null >&8; true"])
