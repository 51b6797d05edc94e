#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Ten generations, of which each process makes a thread and a child that ends at once before the one that goes on."""
import os
import threading


def explode(generation):
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    if not os.fork():
        os._exit(0)
    if generation and not os.fork():
        explode(generation - 1)
        os._exit(0)
    for _ in range(2 if generation else 1):
        os.wait()


explode(9)
