#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Closes twice."""
import os

os.dup2(0, 90)
os.close(90)
try:
    os.close(90)
except OSError:
    pass
