#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Nobody listens, and it is tried again every 0.4 s: time for others to fail very often."""
import socket
import time

port = socket.create_server(("127.0.0.1", 0))
address = port.getsockname()
port.close()
for _ in range(10):
    with socket.socket() as client:
        assert client.connect_ex(address)
    time.sleep(0.4)
