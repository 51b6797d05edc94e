#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A child opens the secret, and this process connects."""
import os
import socket

if not os.fork():
    open("a-secret", "w").close()
    os._exit(0)
os.wait()
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname()).close()
