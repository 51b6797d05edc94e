#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A lock that another thread has, with a time limit."""
import threading

lock = threading.Lock()
lock.acquire()
threading.Thread(target=lock.acquire, kwargs={"timeout": 0.05}).start()
