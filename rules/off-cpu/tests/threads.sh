#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Three thousand threads, one after the other, that share a hundred numbers: each number rests for 0.1 s and more between two."""
import ctypes
import sys
import threading
import time

LAST = "/proc/sys/kernel/ns_last_pid"


def go_back_to(number):
    with open(LAST, "w") as file:
        file.write(str(number))


try:
    first = int(open(LAST).read()) + 10
    go_back_to(first)
except OSError:
    print("needs", LAST)
    sys.exit(77)
ctypes.CDLL(None).prctl(15, b"maker")
seen = set()
for _ in range(30):
    go_back_to(first)
    for _ in range(100):
        thread = threading.Thread(target=lambda: seen.add(threading.get_native_id()))
        thread.start()
        thread.join()
    time.sleep(0.1)
sys.exit(len(seen) > 1000)
