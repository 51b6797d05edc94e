#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs on connections that were accepted (inetd), and those whose input and output is no connection."""
import os
import socket
import subprocess

with open("script", "w", encoding="ascii") as script:
    script.write("#!/bin/sh\nread -r line\n")
os.chmod("script", 0o755)
ADDRESSES = [("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)]
os.link("script", "script.sh")
PROGRAMS = [
    ["cat"],
    ["./script"],
    ["sh", "-c", "cat"],
    ["sh", "-ec", "cat"],
    ["sh", os.path.abspath("script")],
    ["sh", "-e", os.path.abspath("script")],
    ["sh", "script.sh"],
]


def serve(listening, address, program):
    child = os.fork()
    if not child:
        there = listening.accept()[0]
        for fd in range(3):
            os.dup2(there.fileno(), fd)
        os.execvp(program[0], program)
    with socket.create_connection(address) as connection:
        connection.sendall(b"exit 0\n")
        connection.shutdown(socket.SHUT_WR)
        os.waitpid(child, 0)


for host, family in ADDRESSES:
    listening = socket.create_server((host, 0), family=family)
    for program in PROGRAMS:
        serve(listening, listening.getsockname()[:2], program)
both = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
serve(both, ("127.0.0.1", both.getsockname()[1]), ["cat"])

listening = socket.create_server(("127.0.0.1", 0))
with socket.create_connection(listening.getsockname()) as connection:
    # A client that runs a program with pipes, with the connection as its input or output alone, and beside them.
    subprocess.run(["/bin/true"], input=b"some", stdout=subprocess.PIPE, check=True)
    subprocess.run(["/bin/true"], stdin=connection, stdout=subprocess.PIPE, check=True)
    subprocess.run(["/bin/true"], stdin=subprocess.DEVNULL, stdout=connection, check=True)
    subprocess.run(["/bin/true"], stdin=subprocess.DEVNULL, pass_fds=[connection.fileno()], check=True)
here, there = socket.socketpair()
subprocess.run(["/bin/sh", "-c", "exit 0"], stdin=here, stdout=here, check=True)
unconnected, listening = socket.socket(type=socket.SOCK_DGRAM), socket.create_server(("127.0.0.1", 0))
for other in unconnected, listening:
    subprocess.run(["/bin/sh", "-c", "exit 0"], stdin=other, stdout=other, check=True)
# The descriptor of a closed connection now is a file's.
connection = socket.create_connection(listening.getsockname())
fd = connection.fileno()
connection.close()
if not os.fork():
    null = os.open("/dev/null", os.O_RDWR)
    assert null == fd
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.execv("/bin/true", ["true"])
os.wait()
