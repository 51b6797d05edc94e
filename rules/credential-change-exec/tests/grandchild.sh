#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Becomes root again, and a child of its child runs a program, which has lost its parent by then; another is what it was."""
import os
import time


def grandchild(prepare):
    end, held = os.pipe()
    if not os.fork():
        if not os.fork():
            os.setsid()
            time.sleep(0.1)
            prepare()
            os.set_inheritable(held, True)
            os.execv("/bin/true", ["true"])
        os._exit(0)
    os.wait()
    os.close(held)
    os.read(end, 1)
    os.close(end)


os.setresuid(1000, 1000, 0)
os.setresuid(0, 0, 0)
grandchild(lambda: None)
grandchild(lambda: os.setresuid(1000, 1000, 1000))
