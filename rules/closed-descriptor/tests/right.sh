#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Nothing is wrong: asks in three ways whether it is open, writes to what is only for reading, has the number again, hands it on."""
import fcntl
import mmap
import os
import select


def refused(call):
    try:
        call()
    except OSError:
        pass


os.dup2(0, 90)
os.close(90)
for command in (fcntl.F_GETFD, fcntl.F_GETFL):
    refused(lambda: fcntl.fcntl(90, command))
poll = select.poll()
poll.register(90)
poll.poll(0)
null = os.dup2(os.open("/dev/null", os.O_RDONLY), 90)
refused(lambda: os.write(90, b"x"))
poll.poll(1)
epoll = select.epoll()
refused(lambda: epoll.unregister(90))
refused(lambda: epoll.register(77))
refused(lambda: mmap.mmap(90, 4096, access=mmap.ACCESS_READ))
os.dup2(1, 91, inheritable=True)
os.closerange(92, 200)
if os.fork() == 0:
    os.execv("/bin/bash", ["bash", "-c", "echo x >&91; exec 9>/dev/null; echo x >&9"])
os.wait()
os.close(91)
os.dup2(0, 91)
os.fstat(91)
