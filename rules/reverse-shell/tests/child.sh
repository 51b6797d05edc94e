#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Connected, and a child runs the shell."""
import os
import socket

listening = socket.create_server(("127.0.0.1", 0))
child = os.fork()
if not child:
    connection = socket.create_connection(listening.getsockname())
    for fd in range(3):
        os.dup2(connection.fileno(), fd)
    if not os.fork():
        os.execv("/bin/sh", ["sh"])
    os.wait()
    os._exit(0)
there = listening.accept()[0]
there.sendall(b"exit 0\n")
os.waitpid(child, 0)
