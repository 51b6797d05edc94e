#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Three requests: one comes in two pieces, one is worked on for long, and the answer to one goes out in two pieces."""
import ctypes
import os
import socket
import time

server = socket.create_server(("127.0.0.1", 0))
heard, hears = os.pipe()
child = os.fork()
if not child:
    for number in range(3):
        connection = socket.create_connection(server.getsockname())
        connection.sendall(b"GET / ")
        os.read(heard, 1)
        time.sleep(0 if number else 0.2)
        connection.sendall(b"HTTP/1.0\r\n")
        while connection.recv(1000):
            pass
    os._exit(0)
ctypes.CDLL(None).prctl(15, b"planted")
for number in range(3):
    connection = server.accept()[0]
    connection.recv(1000)
    os.write(hears, b"x")
    while b"\n" not in connection.recv(1000):
        pass
    time.sleep(0.2 if number == 1 else 0)
    connection.sendall(b"a" * 1000)
    time.sleep(0.2 if number == 2 else 0)
    connection.sendall(b"b" * 1000)
    connection.close()
os.waitpid(child, 0)
