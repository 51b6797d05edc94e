#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What writes is a child of the process that has connected, or a child of that; or a shell's, whose connection is /dev/tcp. Then
what was downloaded is the interpreter of a script, and the program that the dynamic loader is given."""
import os
import platform
import shutil
import socket
import subprocess
import tempfile

listening = socket.create_server(("127.0.0.1", 0))
port = listening.getsockname()[1]
folder = tempfile.mkdtemp(dir="/tmp")
LOADER = "/lib64/ld-linux-x86-64.so.2"
SHELL = "exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3 >{path}; chmod 700 {path}"
if not shutil.which("bash") or platform.machine() == "x86_64" and not os.path.exists(LOADER):
    print("no bash, or no loader")
    raise SystemExit(77)
with open("/bin/true", "rb") as file:
    PROGRAM = file.read()


def fork(function, *names):
    child = os.fork()
    if not child:
        function(*names)
        os._exit(0)
    return child


def wait_for(function, *names):
    assert os.waitpid(fork(function, *names), 0)[1] == 0


def write(connection, path):
    with open(path, "wb") as file:
        shutil.copyfileobj(connection.makefile("rb"), file)
        os.fchmod(file.fileno(), 0o700)


def by_child(path):
    wait_for(write, socket.create_connection(("127.0.0.1", port)), path)


def by_its_child(path):
    wait_for(wait_for, write, socket.create_connection(("127.0.0.1", port)), path)


def by_shell(path):
    os.execvp("bash", ["bash", "-c", SHELL.format(port=port, path=path)])


def directly(path):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        write(connection, path)


def download(how):
    path = tempfile.mktemp(dir=folder)
    child = fork(how, path)
    with listening.accept()[0] as there:
        there.sendall(PROGRAM)
    assert os.waitpid(child, 0)[1] == 0
    return path


for way in by_child, by_its_child, by_shell:
    subprocess.run([download(way)], check=True)
script = tempfile.mktemp(dir="/tmp")
interpreter = download(directly)
wait_for(lambda: open(script, "w", encoding="ascii").write(f"#!{interpreter}\n"))
os.chmod(script, 0o700)
subprocess.run([script], check=True)
os.unlink(script)
subprocess.run([LOADER, download(directly)], check=True)
shutil.rmtree(folder)
