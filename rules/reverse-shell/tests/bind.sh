#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Shells for who connects: over IPv4, IPv6 and both, by a server and by a child of it, and once by another name."""
import os
import shutil
import socket
import subprocess


def serve(listening, address, run):
    child = os.fork()
    if not child:
        there = listening.accept()[0]
        run(there)
        os._exit(0)
    with socket.create_connection(address) as connection:
        connection.sendall(b"exit 0\n")
        os.waitpid(child, 0)


def become(*names):
    def run(there):
        for fd in range(3):
            os.dup2(there.fileno(), fd)
        os.execv(names[0], names[1:])

    return run


shutil.which("bash") and os.symlink(shutil.which("bash"), "other")
four = socket.create_server(("127.0.0.1", 0))
six = socket.create_server(("::1", 0), family=socket.AF_INET6)
both = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
serve(four, four.getsockname(), become("/bin/sh", "sh"))
serve(six, six.getsockname()[:2], become("/bin/sh", "sh", "-i"))
serve(four, four.getsockname(), become("other", "bash", "--rcfile", "/dev/null", "-i"))
serve(four, four.getsockname(), become("other", "bash", "--norc", "-i"))
serve(both, ("127.0.0.1", both.getsockname()[1]), become("other", "httpd"))
serve(four, four.getsockname(), lambda there: subprocess.run(["/bin/sh"], stdin=there, stdout=there, check=False))
