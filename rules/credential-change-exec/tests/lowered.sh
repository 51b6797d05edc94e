#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Root works as another user for a moment, as sudo and apt-get do, and then runs a program by a child."""
import os
import subprocess

for round in range(3):
    os.seteuid(65534)
    os.access("/root", os.R_OK)
    os.seteuid(0)
subprocess.run(["/bin/true"], check=True)
