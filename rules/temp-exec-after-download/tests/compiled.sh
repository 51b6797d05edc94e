#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What is executed was written by a process without the net; what was downloaded goes elsewhere, or is only read."""
import os
import socket
import tempfile

listening = socket.create_server(("127.0.0.1", 0))
path = tempfile.mktemp(dir="/tmp")
downloader = os.fork()
if not downloader:
    with socket.create_connection(listening.getsockname()) as connection:
        with open(path + ".data", "wb") as file:
            file.write(connection.recv(1000))
    os._exit(0)
there = listening.accept()[0]
there.sendall(b"#!/bin/sh\nexit 0\n")
os.waitpid(downloader, 0)
if not os.fork():
    with open(path, "w") as file:
        file.write("#!/bin/sh\nexit 0\n")
        os.fchmod(file.fileno(), 0o700)
    os._exit(0)
os.wait()
socket.create_connection(listening.getsockname())
open(path).close()
status = os.spawnv(os.P_WAIT, path, [path])
os.unlink(path)
os.unlink(path + ".data")
raise SystemExit(status)
