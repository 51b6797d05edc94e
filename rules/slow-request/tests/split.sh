#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Four requests to a server with one thread: it sleeps for one, computes for one, computes beside others on the same processor for
one, and leaves one to another thread."""
import ctypes
import os
import signal
import socket
import threading
import time


def compute(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


server = socket.create_server(("127.0.0.1", 0))
child = os.fork()
if not child:
    for request in (b"sleep", b"compute", b"share", b"hand"):
        connection = socket.create_connection(server.getsockname())
        connection.sendall(request)
        connection.recv(100)
        connection.close()
    os._exit(0)
ctypes.CDLL(None).prctl(15, b"planted")
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
for _ in range(4):
    connection = server.accept()[0]
    request = connection.recv(100)
    if request == b"sleep":
        time.sleep(0.3)
        connection.sendall(b"x")
    elif request == b"compute":
        compute(0.3)
        connection.sendall(b"x")
    elif request == b"share":
        others = []
        for _ in range(3):
            other = os.fork()
            if not other:
                while True:
                    pass
            others.append(other)
        compute(0.2)
        connection.sendall(b"x")
        for other in others:
            os.kill(other, signal.SIGKILL)
            os.waitpid(other, 0)
    else:
        time.sleep(0.2)
        thread = threading.Thread(target=connection.sendall, args=(b"x",))
        thread.start()
        thread.join()
    connection.close()
os.waitpid(child, 0)
