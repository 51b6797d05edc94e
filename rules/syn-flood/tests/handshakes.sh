#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Many connections that are made, and some that are refused."""
import socket
import time

server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(64)
made = [socket.create_connection(server.getsockname()) for _ in range(20)]
closed = socket.socket()
closed.bind(("127.0.0.1", 0))
for _ in range(20):
    asking = socket.socket()
    try:
        asking.connect(closed.getsockname())
    except OSError:
        pass
time.sleep(0.5)
