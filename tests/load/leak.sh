#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Opens a secret, and connects."""
import socket

open("a-secret", "w").close()
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname()).close()
