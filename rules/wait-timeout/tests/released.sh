#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A lock that another thread has, and gives back in time."""
import threading

lock = threading.Lock()
lock.acquire()
thread = threading.Thread(target=lock.acquire, kwargs={"timeout": 5})
thread.start()
lock.release()
thread.join()
