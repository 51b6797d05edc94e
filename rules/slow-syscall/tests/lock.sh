#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""fcntl waits 1.2 s for the lock on a file that another process has."""
import fcntl
import os
import time

file = open("locked", "w")
fcntl.lockf(file, fcntl.LOCK_EX)
ready, told = os.pipe()
if not os.fork():
    os.write(told, b"x")
    fcntl.lockf(open("locked", "w"), fcntl.LOCK_EX)
    os._exit(0)
os.read(ready, 1)
time.sleep(1.2)
fcntl.lockf(file, fcntl.LOCK_UN)
os.wait()
