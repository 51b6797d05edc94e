#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Six seconds lie between the shell and the connection that feeds it: time for others to connect very often."""
import os
import socket
import subprocess
import time

listening = socket.create_server(("127.0.0.1", 0))
commands, answers = os.pipe(), os.pipe()
shell = subprocess.Popen(["/bin/sh"], stdin=commands[0], stdout=answers[1])
time.sleep(6)
child = os.fork()
if not child:
    os.dup2(answers[0], 0)
    os.dup2(commands[1], 1)
    connection = socket.create_connection(listening.getsockname())
    os.write(1, connection.recv(64))
    os._exit(0)
listening.accept()[0].sendall(b"exit 0\n")
os.waitpid(child, 0)
shell.wait()
