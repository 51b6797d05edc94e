#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Two processes poll one listening socket and get many connections: each batch ends with one try in vain."""
import os
import select
import socket
import time

listening = socket.create_server(("127.0.0.1", 0), backlog=16)
listening.setblocking(False)
children = []
for _ in range(2):
    child = os.fork()
    if not child:
        poll = select.poll()
        poll.register(listening, select.POLLIN)
        while True:
            if poll.poll(100):
                try:
                    listening.accept()
                except BlockingIOError:
                    pass
    children.append(child)
time.sleep(0.5)
for _ in range(200):
    socket.create_connection(listening.getsockname()).close()
for child in children:
    os.kill(child, 9)
    os.waitpid(child, 0)
