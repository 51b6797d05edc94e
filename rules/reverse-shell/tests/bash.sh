#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What bash makes of a redirection to /dev/tcp."""
import os
import socket
import subprocess

listening = socket.create_server(("127.0.0.1", 0))
port = listening.getsockname()[1]
shell = subprocess.Popen(["/bin/bash", "-c", f"/bin/sh >& /dev/tcp/127.0.0.1/{port} 0>&1; exit 0"])
there = listening.accept()[0]
there.sendall(b"exit 0\n")
shell.wait()
