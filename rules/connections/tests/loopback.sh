#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Four connections to an own server and three by IPv6, and two attempts at a port where nobody listens; UNIX sockets do not count."""
import ctypes
import socket

ctypes.CDLL(None).prctl(15, b"planted")
server = socket.create_server(("127.0.0.1", 0))
unused = socket.create_server(("127.0.0.1", 0))
gone = unused.getsockname()
unused.close()
local = socket.socket(socket.AF_UNIX)
local.bind("here")
local.listen()
for _ in range(4):
    socket.socket(socket.AF_UNIX).connect("here")
    with socket.create_connection(server.getsockname()):
        server.accept()[0].close()
six = socket.create_server(("::1", 0), family=socket.AF_INET6)
for _ in range(3):
    with socket.create_connection(six.getsockname()[:2]):
        six.accept()[0].close()
for _ in range(2):
    try:
        socket.create_connection(gone)
    except ConnectionRefusedError:
        pass
