#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""A header is written over when the rest is known."""
import os

file = os.open("file", os.O_RDWR | os.O_CREAT)
os.pwrite(file, bytes(4096), 0)
os.pwrite(file, bytes(64), 4000)
