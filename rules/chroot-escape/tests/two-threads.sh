#!/usr/bin/python3 -E
# SPDX-License-Identifier: BSD-2-Clause
"""A thread asks for a root directory in vain, again and again, while another one leaves the one that it has."""
import ctypes
import os
import threading

if os.cpu_count() < 2:
    raise SystemExit(77)
os.makedirs("jail")
for _ in range(20):
    child = os.fork()
    if child == 0:
        chroot = ctypes.CDLL(None).chroot
        os.chroot("jail")
        busy = True

        def ask():
            while busy:
                chroot(b"nothing")

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        chroot(b"../../../../../../../..")
        busy = False
        for thread in threads:
            thread.join()
        os._exit(0)
    os.waitpid(child, 0)
