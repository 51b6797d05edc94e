#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A bomb that stops by itself: each process forks twice, for eight generations."""
import os


def explode(generation):
    for _ in range(2):
        if generation and not os.fork():
            explode(generation - 1)
            os._exit(0)
    for _ in range(2 if generation else 0):
        os.wait()


explode(8)
