#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What inetd does is no reverse shell: the connection was accepted. Nor is a client that runs a program with a pipe."""
import os
import socket
import subprocess

listening = socket.create_server(("127.0.0.1", 0))
child = os.fork()
if not child:
    there = listening.accept()[0]
    for fd in range(3):
        os.dup2(there.fileno(), fd)
    os.execv("/bin/sh", ["sh"])
with socket.create_connection(listening.getsockname()) as connection:
    subprocess.run(["/bin/true"], input=b"some", stdout=subprocess.PIPE, check=True)
    connection.sendall(b"exit 0\n")
    os.waitpid(child, 0)
# The descriptor of a closed connection now is a file's.
connection = socket.create_connection(listening.getsockname())
fd = connection.fileno()
connection.close()
if not os.fork():
    null = os.open("/dev/null", os.O_RDWR)
    assert null == fd
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.execv("/bin/true", ["true"])
os.wait()
