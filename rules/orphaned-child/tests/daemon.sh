#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A daemon is begun as ever: fork, setsid, fork, exit. It is meant to be left."""
import os
import time

if not os.fork():
    os.setsid()
    if not os.fork():
        time.sleep(1.6)
    os._exit(0)
os.wait()
time.sleep(1.4)
