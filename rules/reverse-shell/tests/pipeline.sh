#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Pipelines with shells and programs that have connections, without a circle."""
import shutil
import socket
import subprocess
import sys
import threading

if not shutil.which("busybox"):
    print("there is no busybox, whose nc this needs")
    sys.exit(77)
NC = "busybox nc 127.0.0.1 PORT"
WAYS = [
    f"echo date | sh | {NC} | cat",
    f"echo date | {NC} | sh | cat",
    f"mkfifo f; cat f | sed s/a/b/ | {NC} >f",
    f"cat f | sh -c 'cat; exit 0' | {NC} >f",
]
listening = socket.create_server(("127.0.0.1", 0))


def answer(server):
    there = server.accept()[0]
    there.sendall(b"exit 0\n")
    there.shutdown(socket.SHUT_WR)
    while there.recv(4096):
        pass
    there.close()


for text in WAYS:
    asked = threading.Thread(target=answer, args=[listening])
    asked.start()
    with subprocess.Popen(["bash", "-c", text.replace("PORT", str(listening.getsockname()[1]))]) as shell:
        shell.wait(20)
    asked.join()
