#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A server that is sent a few bytes, takes them by CALL, and then does what VARIANT says, a shell mostly.

usage: web-shell.py VARIANT [CALL]

VARIANT: a function of Shells below; CALL: one of Receives. The shell says "shell" if it lives long enough.
"""
import ctypes
import os
import shutil
import socket
import subprocess
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
SAYS = "echo shell"


def apart(do):
    """A child that does it, waited for."""
    child = os.fork()
    if not child:
        do()
        os._exit(0)
    os.waitpid(child, 0)


def execute(file):
    os.execv(file, ["httpd", "-c", SAYS])


class Shells:
    def child():
        apart(lambda: execute("/bin/sh"))

    def popen():
        subprocess.run(SAYS, shell=True, check=False)

    def itself():
        execute("/bin/sh")

    def setsid():
        subprocess.run(["setsid", "-w", "-f", "sh", "-c", SAYS], check=False)

    def env():
        subprocess.run(["env", "-i", "nice", "timeout", "5", "/bin/sh", "-c", SAYS], check=False)

    def twice():
        apart(lambda: apart(lambda: apart(lambda: execute("/bin/sh"))))

    def daemon():
        end, held = os.pipe()
        if not os.fork():
            os.close(end)
            if not os.fork():
                os.setsid()
                time.sleep(0.2)  # its parent is gone
                execute("/bin/sh")
            os._exit(0)
        os.wait()
        os.close(held)
        os.read(end, 1)
        time.sleep(0.2)

    def symlink():
        os.symlink("/bin/sh", "innocent")
        apart(lambda: execute("./innocent"))

    def dash():
        apart(lambda: execute("/usr/bin/dash"))

    def rbash():
        apart(lambda: execute("/bin/rbash"))

    def busybox():
        apart(lambda: os.execv(shutil.which("busybox"), ["sh", "-c", SAYS]))

    def applet():
        """BusyBox as whatever ends in a shell: by its own name, by a path, by one of its programs."""
        for arguments in ["busybox", "ash"], ["./sh"], ["busybox", "env", "sh"]:
            if subprocess.run([*arguments, "-c", SAYS], executable=shutil.which("busybox"), check=False).returncode >= 0:
                print("shell")

    def static():
        """A shell with the name that packages give it beside the ordinary one."""
        for name in "bash-static", "ksh93", "zsh5":
            shutil.copy("/bin/sh", name)
            if subprocess.run([f"./{name}", "-c", SAYS], check=False).returncode >= 0:
                print("shell")

    def script():
        with open("innocent", "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\n{SAYS}\n")
        os.chmod("innocent", 0o755)
        apart(lambda: os.execv("./innocent", ["innocent"]))

    def descriptor():
        fd = os.open("/bin/sh", os.O_RDONLY)
        apart(lambda: os.execve(fd, ["httpd", "-c", SAYS], {}))

    def relative():
        os.chdir("/bin")
        apart(lambda: execute("./sh"))

    def spawn():
        os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", SAYS], {}), 0)

    def thread():
        import threading

        worker = threading.Thread(target=Shells.child)
        worker.start()
        worker.join()

    def flood():
        """17,000 receptions by another process of the server's come first, and as many by itself."""

        def receive():
            a, b = socket.socketpair()
            for _ in range(17000):
                a.send(b"x")
                b.recv(1)

        receive()
        apart(receive)
        Shells.child()

    def program():
        """No shell: a program, and one that becomes another."""
        subprocess.run(["/bin/echo", "program"], check=False)
        subprocess.run(["env", "ssh-keygen", "-?"], check=False, stderr=subprocess.DEVNULL)
        if busybox := shutil.which("busybox"):
            for arguments in ["date"], ["sha256sum", "x.sh"], ["ls", "-l", "sh"], ["shuf"], ["wget", "http://sh"]:
                for called in arguments, ["busybox", *arguments]:
                    killed = subprocess.run(called, executable=busybox, check=False, stdin=subprocess.DEVNULL, capture_output=True)
                    assert killed.returncode >= 0, called

    def late():
        """A shell that nobody asked for: nothing has come for more than ten seconds."""
        time.sleep(10.5)
        Shells.child()


def unasked():
    """A shell of a server to which nothing has come, and one beside a server to which something has come."""
    apart(lambda: execute("/bin/sh"))
    listening = socket.create_server(("127.0.0.1", 0))
    server = os.fork()
    if not server:
        listening.accept()[0].recv(10)
        os._exit(0)
    socket.create_connection(listening.getsockname()).sendall(b"x")
    os.waitpid(server, 0)
    apart(lambda: execute("/bin/sh"))


class Message(ctypes.Structure):
    _fields_ = [("header", ctypes.c_void_p * 7), ("bytes", ctypes.c_uint32)]


class Receives:
    def read(there):
        os.read(there.fileno(), 100)

    def readv(there):
        os.readv(there.fileno(), [bytearray(100)])

    def recvfrom(there):
        there.recv(100)

    def recvmsg(there):
        there.recvmsg(100)

    def recvmmsg(there):
        text = ctypes.create_string_buffer(100)
        vector = (ctypes.c_void_p * 2)(ctypes.addressof(text), 100)
        message = Message()
        message.header[2] = ctypes.addressof(vector)
        message.header[3] = 1
        assert libc.recvmmsg(there.fileno(), ctypes.byref(message), 1, 0, None) == 1
        assert message.bytes == 5

    def preadv2(there):
        text = ctypes.create_string_buffer(100)
        vector = (ctypes.c_void_p * 2)(ctypes.addressof(text), 100)
        assert libc.preadv2(there.fileno(), vector, 1, ctypes.c_long(-1), 0) == 5

    def splice(there):
        _, into = os.pipe()
        assert libc.splice(there.fileno(), None, into, None, 100, 0) == 5

    def sendfile(there):
        _, into = os.pipe()
        assert os.sendfile(into, there.fileno(), None, 100) == 5


variant = sys.argv[1]
if variant == "unasked":
    unasked()
    sys.exit()
listening = socket.create_server(("127.0.0.1", 0))
server = os.fork()
if not server:
    there = listening.accept()[0]
    vars(Receives)[sys.argv[2] if len(sys.argv) > 2 else "recvfrom"](there)
    vars(Shells)[variant]()
    os._exit(0)
connection = socket.create_connection(listening.getsockname())
connection.sendall(b"bytes")
os.waitpid(server, 0)
