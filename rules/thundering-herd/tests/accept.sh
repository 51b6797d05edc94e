#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Ten processes poll one listening socket; one connection comes, all see it, and then all try to accept it."""
import os
import select
import socket

listening = socket.create_server(("127.0.0.1", 0), backlog=16)
listening.setblocking(False)
seen, have_seen = os.pipe()
begin, let_begin = os.pipe()
children = []
for _ in range(10):
    child = os.fork()
    if not child:
        poll = select.poll()
        poll.register(listening, select.POLLIN)
        poll.poll()
        os.write(have_seen, b".")
        os.read(begin, 1)
        try:
            listening.accept()
        except BlockingIOError:
            pass
        os._exit(0)
    children.append(child)
socket.create_connection(listening.getsockname())
for _ in children:
    os.read(seen, 1)
os.write(let_begin, b"." * len(children))
for child in children:
    os.waitpid(child, 0)
