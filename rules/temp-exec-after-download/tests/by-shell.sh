#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What is downloaded is given to a shell, behind options or by its whole name; then what shells do with data."""
import os
import shutil
import socket
import subprocess
import tempfile

listening = socket.create_server(("127.0.0.1", 0))
folder = tempfile.mkdtemp(dir="/tmp")
with open("/bin/true", "rb") as file:
    PROGRAM = file.read()
SCRIPT = b"#!/bin/sh\nexit 0\n"


def download(content):
    """Its path: a downloader opens another file first, and gives the right one its name at last."""
    path = tempfile.mktemp(dir=folder)
    downloader = os.fork()
    if not downloader:
        with socket.create_connection(listening.getsockname()) as connection:
            with open(path + ".log", "wb") as log, open(path + ".part", "wb") as file:
                log.write(b"begun")
                shutil.copyfileobj(connection.makefile("rb"), file)
                os.fchmod(file.fileno(), 0o700)
            os.rename(path + ".part", path)
        os._exit(0)
    with listening.accept()[0] as there:
        there.sendall(content)
    os.waitpid(downloader, 0)
    return path


def shell(*arguments):
    subprocess.run(arguments, cwd=folder, check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


for way in ["/usr/bin/sh"], ["/usr/bin/bash"], ["/bin/sh", "-x"], ["bash", "-e"], ["setsid", "-w", "bash", "--norc"], ["env", "/bin/dash", "-eu"]:
    shell(*way, download(SCRIPT))
shell("/usr/bin/dash", "-e", os.path.basename(download(SCRIPT)))
# Another program's script reads it, or a shell that is given a command.
data = download(b"one\ntwo\n")
with open("reader", "w", encoding="ascii") as file:
    file.write('while read -r line; do :; done <"$1"\n')
subprocess.run(["/usr/bin/bash", "-e", "reader", data], check=True)
subprocess.run(["/usr/bin/dash", os.path.abspath("reader"), data], check=True)
shell("/usr/bin/bash", "-c", f"while read -r line; do :; done <{data}")
shell("/usr/bin/bash", "-ec", f"read -r line <{data}")
shell("/usr/bin/sed", "-n", "p", data)
subprocess.run(["/usr/bin/bash", "-s"], input=f"read -r line <{data}\n".encode(), check=True)
shutil.rmtree(folder)
