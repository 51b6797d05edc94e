#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What is downloaded is the second file of the process, and is renamed; it is executed by a relative name, a link, a
descriptor and a path of another spelling; a program each, then a script, which is also given to its interpreter."""
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


def directly(path):
    subprocess.run([path], check=True)


def relative(path):
    subprocess.run(["./" + os.path.basename(path)], cwd=folder, check=True)


def link(path):
    os.symlink(path, path + ".link")
    subprocess.run([path + ".link"], check=True)


def otherwise(path):
    subprocess.run(["/proc/self/root/" + path], check=True)


def descriptor(path):
    fd = os.open(path, os.O_RDONLY)
    os.set_inheritable(fd, True)
    child = os.fork()
    if not child:
        os.execve(fd, ["program"], {})
    assert os.waitpid(child, 0)[1] == 0
    os.close(fd)


for content in PROGRAM, SCRIPT:
    for run in directly, relative, link, otherwise, descriptor:
        run(download(content))
subprocess.run(["/bin/sh", download(SCRIPT)], check=True)
shutil.rmtree(folder)
