#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A server with one thread. In each of five rounds it works on one request for 0.3 s, while another waits on a connection that it has,
and a third on one that it has not accepted yet; a fourth comes afterwards. The clients count which took more than 0.1 s."""
import ctypes
import os
import selectors
import socket
import sys
import time

ROUNDS = 5
server = socket.create_server(("127.0.0.1", 0))
address = server.getsockname()
child = os.fork()
if child:
    ctypes.CDLL(None).prctl(15, b"planted")
    ready = selectors.DefaultSelector()
    ready.register(server, selectors.EVENT_READ)
    left = 4 * ROUNDS
    while left:
        for key, _ in ready.select():
            if key.fileobj is server:
                ready.register(server.accept()[0], selectors.EVENT_READ)
                continue
            request = key.fileobj.recv(100)
            if not request:
                ready.unregister(key.fileobj)
                key.fileobj.close()
                continue
            if request == b"slow":
                time.sleep(0.3)
            key.fileobj.sendall(b"answer")
            left -= 1
    for key in list(ready.get_map().values()):
        key.fileobj.close()
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def ask(connection, request):
    connection.sendall(request)
    return connection, time.monotonic()


slow = 0
kept = [socket.create_connection(address) for _ in range(2)]
for _ in range(ROUNDS):
    asked = [ask(kept[0], b"slow")]
    time.sleep(0.05)
    asked += [ask(kept[1], b"quick"), ask(socket.create_connection(address), b"quick")]
    for connection, since in asked:
        connection.recv(100)
        slow += time.monotonic() - since > 0.1
    connection, since = ask(kept[1], b"quick")
    connection.recv(100)
    slow += time.monotonic() - since > 0.1
os._exit(slow != 3 * ROUNDS)
