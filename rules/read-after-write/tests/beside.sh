#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What is read lies before and behind what was written, or in another file, or was written before it was opened anew."""
import os

file = os.open("file", os.O_RDWR | os.O_CREAT)
other = os.open("other", os.O_RDWR | os.O_CREAT)
os.pwrite(file, bytes(8192), 4096)
os.pread(file, 4096, 0)
os.pread(file, 4096, 12288)
os.pread(other, 4096, 4096)
os.close(file)
file = os.open("file", os.O_RDONLY)
os.pread(file, 4096, 4096)
