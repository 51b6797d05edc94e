#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Changes its root and opens a relative path without having gone there."""
import os

os.mkdir("jail")
os.chroot("jail")
os.open(".", os.O_RDONLY)
