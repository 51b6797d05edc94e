#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Clients of asterismd that are not as `asterism ctl` is: cut short, too long, slow, many, tireless.

    control.py SOCKET raw TEXT      sends TEXT (with escapes) and ends its side; prints what comes back
    control.py SOCKET half TEXT     the same, but goes on listening until the daemon hangs up
    control.py SOCKET long BYTES    one line of so many bytes
    control.py SOCKET announce N    announces a load of N bytes, sends a few, hangs up
    control.py SOCKET slow          asks a thousand things and reads nothing; then asks ping as somebody else
    control.py SOCKET crowd N       that many clients at once; prints how many are served
    control.py SOCKET overflow UNIT FILE   wants results, waits for FILE to be there, then asks for one
    control.py SOCKET cycles N PID  loads, lets match nothing, unloads; prints what PID holds before and after
"""

import json
import os
import re
import socket
import sys
import time


def connect(path):
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.connect(path)
    link.settimeout(60)
    return link


def read_line(link):
    got = b""
    while not got.endswith(b"\n"):
        piece = link.recv(65536)
        if not piece:
            break
        got += piece
    return got.decode()


def ask(link, request, body=b""):
    link.sendall(json.dumps(request).encode() + b"\n" + body)
    return json.loads(read_line(link))


def drain(link):
    got = b""
    try:
        while piece := link.recv(65536):
            got += piece
    except ConnectionResetError:
        pass
    return got.decode()


def raw(path, text, ends=True):
    link = connect(path)
    link.sendall(text.encode().decode("unicode_escape").encode("latin1"))
    if ends:
        link.shutdown(socket.SHUT_WR)
    print(drain(link), end="")


def long(path, count):
    link = connect(path)
    try:
        link.sendall(b"x" * int(count) + b"\n")
    except (BrokenPipeError, ConnectionResetError):
        pass
    print(drain(link), end="")


def announce(path, count):
    link = connect(path)
    link.sendall(json.dumps({"op": "load", "unit": "cut", "length": int(count)}).encode() + b"\nRULE")
    link.close()


def slow(path):
    link = connect(path)
    link.setblocking(False)
    sent = 0
    try:
        for _ in range(1000):
            sent += link.send(b'{"op":"query"}\n')
    except BlockingIOError:
        pass
    print(ask(connect(path), {"op": "ping"})["ok"], sent > 0)


def crowd(path, count):
    links = [connect(path) for _ in range(int(count))]
    served = 0
    for link in links:
        try:
            served += ask(link, {"op": "ping"})["ok"]
        except (BrokenPipeError, ConnectionResetError):
            pass
    print(served)


def overflow(path, unit, file):
    link = connect(path)
    ask(link, {"op": "next-result", "unit": unit, "timeout_ms": 0})
    print("ready", flush=True)
    while not os.path.exists(file):
        time.sleep(0.02)
    print(json.dumps(ask(link, {"op": "next-result", "unit": unit, "timeout_ms": 5000})))
    print(json.dumps(ask(link, {"op": "next-result", "unit": unit, "timeout_ms": 5000})))


def held(pid):
    """Descriptors, and ids of programs, maps and links that the process holds; KB of memory that are its own: of files, the kernel drops and
    reads pages as it likes."""
    ids = {"prog_id": set(), "map_id": set(), "link_id": set()}
    folder = f"/proc/{pid}/fdinfo"
    fds = os.listdir(folder)
    for fd in fds:
        with open(f"{folder}/{fd}") as file:
            for name, value in re.findall(r"^(\w+_id):\s*(\d+)", file.read(), re.M):
                ids.get(name, set()).add(value)
    with open(f"/proc/{pid}/status") as file:
        memory = int(re.search(r"^RssAnon:\s*(\d+)", file.read(), re.M).group(1))
    return {"fds": len(fds), **{name: len(found) for name, found in ids.items() if name != "link_id"}, "kb": memory}


CYCLED = b"""
RULE pair PATTERN { [sys_enter_getppid:a, sys_exit_getppid:b] } WHERE { [tid] } WITHIN 1s DO { CALL Count("pairs") }
RULE text PATTERN { [sys_enter_openat:a] } WHERE { a.filename LIKE "/nowhere/at/all*" } RETURN { a.filename }
"""


def cycles(path, count, pid):
    link = connect(path)

    def cycle(number):
        for _ in range(number):
            loaded = ask(link, {"op": "load", "unit": "cycled", "length": len(CYCLED), "activate": True}, CYCLED)
            assert loaded["ok"], loaded
            assert ask(link, {"op": "unload", "unit": "cycled"})["ok"]

    cycle(50)
    before = held(pid)
    cycle(int(count))
    print(json.dumps({"before": before, "after": held(pid)}))


def main():
    path, what, *rest = sys.argv[1:]
    if what == "half":
        raw(path, *rest, ends=False)
    else:
        {"raw": raw, "long": long, "announce": announce, "slow": slow, "crowd": crowd, "overflow": overflow,
         "cycles": cycles}[what](path, *rest)


main()
