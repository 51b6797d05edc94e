#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A client that waits long between its requests, and a server that waits for its own client before it answers."""
import ctypes
import os
import socket
import time

server = socket.create_server(("127.0.0.1", 0))
child = os.fork()
if not child:
    connection = socket.create_connection(server.getsockname())
    for _ in range(2):
        connection.sendall(b"ping")
        connection.recv(100)
        time.sleep(1.2)
    os._exit(0)
ctypes.CDLL(None).prctl(15, b"planted")
connection = server.accept()[0]
for _ in range(2):
    connection.recv(100)
    connection.sendall(b"pong")
os.waitpid(child, 0)
connection.close()
