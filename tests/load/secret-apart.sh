#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""One process receives, its child opens a file of secrets."""
import os
import socket

here, there = socket.socketpair()
here.send(b"x")
there.recv(1)
if not os.fork():
    open("/etc/shadow").close()
    os._exit(0)
os.wait()
