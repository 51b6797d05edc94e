#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Ten processes poll one listening socket; one connection comes, and all try to accept it."""
import os
import select
import socket
import time

listening = socket.create_server(("127.0.0.1", 0), backlog=16)
listening.setblocking(False)
children = []
for _ in range(10):
    child = os.fork()
    if not child:
        poll = select.poll()
        poll.register(listening, select.POLLIN)
        end = time.monotonic() + 1
        while time.monotonic() < end:
            if poll.poll(100):
                time.sleep(0.003)  # so that all have seen it before the first takes it
                try:
                    listening.accept()
                except BlockingIOError:
                    pass
        os._exit(0)
    children.append(child)
time.sleep(0.5)
socket.create_connection(listening.getsockname())
for child in children:
    os.waitpid(child, 0)
