#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A shell opens the file in /var/tmp, and what is downloaded goes to standard output; as in curl URL > FILE."""
import os
import socket
import tempfile

listening = socket.create_server(("127.0.0.1", 0))
path = tempfile.mktemp(dir="/var/tmp")
downloader = os.fork()
if not downloader:
    file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o700)
    with socket.create_connection(listening.getsockname()) as connection:
        os.write(file, connection.recv(1000))
    os._exit(0)
there = listening.accept()[0]
there.sendall(b"#!/bin/sh\nexit 0\n")
os.waitpid(downloader, 0)
status = os.spawnv(os.P_WAIT, path, [path])
os.unlink(path)
raise SystemExit(status)
