#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Serves a request by a shell."""
import os
import socket

server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
client.send(b"x")
there = server.accept()[0]
there.recv(1)
if not os.fork():
    os.execv("/bin/sh", ["sh", "-c", ":"])
os.wait()
