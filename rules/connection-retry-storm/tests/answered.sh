#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Twenty connections that succeed, nine that fail, and twenty that fail at different addresses."""
import socket

server = socket.create_server(("127.0.0.1", 0))
address = server.getsockname()
for _ in range(20):
    socket.create_connection(address).close()
server.close()
for _ in range(9):
    with socket.socket() as client:
        assert client.connect_ex(address)
for host in range(2, 22):
    with socket.socket() as client:
        assert client.connect_ex((f"127.0.0.{host}", address[1]))
