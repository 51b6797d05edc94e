#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What is downloaded is given to a shell, behind options, by the shell's whole name or another one, or to a shell's dot; then what
only reads it: a shell's redirections, the scripts of others, and programs that are no shells."""
import os
import shutil
import socket
import subprocess
import tempfile

listening = socket.create_server(("127.0.0.1", 0))
folder = tempfile.mkdtemp(dir="/tmp")
SCRIPT = b"#!/bin/sh\nx=1\n"
if not shutil.which("bash") or not shutil.which("dash"):
    print("no bash, or no dash")
    raise SystemExit(77)


def download():
    """Its path: the downloader gives it its name at last."""
    path = tempfile.mktemp(dir=folder)
    downloader = os.fork()
    if not downloader:
        with socket.create_connection(listening.getsockname()) as connection:
            with open(path + ".part", "wb") as file:
                shutil.copyfileobj(connection.makefile("rb"), file)
            os.rename(path + ".part", path)
        os._exit(0)
    with listening.accept()[0] as there:
        there.sendall(SCRIPT)
    os.waitpid(downloader, 0)
    return path


def run(*command, **options):
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(command, cwd=folder, check=True, **(streams | options))


shutil.copy(shutil.which("dash"), folder + "/called-otherwise")
for way in (["/usr/bin/sh"], ["/usr/bin/bash"], ["/bin/sh", "-x"], ["bash", "-x"], ["sh", "-e"], ["bash", "--norc", "-o", "pipefail"],
            ["env", "/bin/dash", "-eu"], [folder + "/called-otherwise"]):
    run(*way, download())
run("dash", "-e", os.path.basename(download()))
run("dash", "-c", f". {download()}")

data = download()
with open("reader", "w", encoding="ascii") as file:
    file.write('while read -r line; do :; done <"$1"\nexec 3<"$1"\nread -r line <&3\ncat <"$1"\n')
for shell in "bash", "dash":
    run(shell, "-e", os.path.abspath("reader"), data)
    run(shell, "-c", f"while read -r line; do :; done <{data}; x=$(cat {data}); grep x <{data}")
    run(shell, "-s", input=f"read -r line <{data}\n".encode(), stdin=None)
for program in (["cat"], ["grep", "x"], ["sha256sum"], ["sed", "-n", "p"], ["awk", "{print}"],
                ["python3", "-c", "import sys; open(sys.argv[1]).read()"]):
    run(*program, data)
run("cp", data, "copy")
run("tar", "cf", "archive", "-C", "/", data[1:])
shutil.rmtree(folder)
