#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Receives by calls of files, and opens the secret by names that do not look like it; each in a process of its own."""
import os
import socket

here, there = socket.socketpair()
if not os.path.exists("/etc/shadow"):
    print("no /etc/shadow")
    raise SystemExit(77)


def relative():
    os.chdir("/etc")
    os.open("shadow", os.O_RDONLY)


def link():
    os.symlink("/etc/shadow", "list")
    os.open("list", os.O_RDONLY)


def by_folder():
    os.open("shadow", os.O_RDONLY, dir_fd=os.open("/etc", os.O_RDONLY))


WAYS = (lambda: os.open("/etc/shadow", os.O_RDONLY), relative, link, by_folder,
        lambda: os.open("/etc/../etc//shadow", os.O_RDONLY), lambda: os.open("/proc/self/root/etc/shadow", os.O_RDONLY))
for way in WAYS:
    child = os.fork()
    if not child:
        here.send(b"x")
        (os.read(there.fileno(), 1) if way is not relative else os.readv(there.fileno(), [bytearray(1)]))
        way()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
child = os.fork()
if not child:  # another file of that name
    here.send(b"x")
    os.read(there.fileno(), 1)
    with open("shadow", "w"):
        pass
    os._exit(0)
os.wait()
