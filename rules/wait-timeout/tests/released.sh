#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A lock that another thread has, and gives back in time."""
import sys
import threading

sys.setswitchinterval(60)  # on a busy machine the interpreter's own lock is waited for longer than the usual 5 ms
lock = threading.Lock()
lock.acquire()
thread = threading.Thread(target=lock.acquire, kwargs={"timeout": 5})
thread.start()
lock.release()
thread.join()
