#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Has received from a socket, and opens a file of secrets."""
import socket

here, there = socket.socketpair()
here.send(b"x")
there.recv(1)
open("/etc/shadow").close()
