#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""verified.py [--programs] ASTERISM RULES...: what it costs the kernel's verifier to accept the programs of rules.

For each argument (several rules of one session joined by +): instructions of the programs, instructions that the
verifier followed for them, how often that is for each instruction, and milliseconds until the observed program
began. With --programs the same of each program, the worst first.
"""

import ctypes
import os
import re
import subprocess
import sys
import time

BPF_SYSCALL = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
BPF_PROG_GET_FD_BY_ID, BPF_OBJ_GET_INFO_BY_FD = 13, 15
INFO_BYTES, LENGTH_OFF, NAME_OFF, VERIFIED_OFF = 232, 20, 64, 216
libc = ctypes.CDLL(None, use_errno=True)


def bpf(command, attr):
    result = libc.syscall(BPF_SYSCALL, command, ctypes.byref(attr), ctypes.sizeof(attr))
    if result < 0:
        raise OSError(ctypes.get_errno(), "bpf")
    return result


def program_of(number):
    """(name, instructions, followed) of the program with this number."""
    fd = bpf(BPF_PROG_GET_FD_BY_ID, (ctypes.c_uint32 * 3)(number))
    info = (ctypes.c_uint8 * INFO_BYTES)()
    where = (ctypes.c_uint32 * 4)(fd, INFO_BYTES)
    ctypes.c_uint64.from_buffer(where, 8).value = ctypes.addressof(info)
    bpf(BPF_OBJ_GET_INFO_BY_FD, where)
    os.close(fd)
    name = bytes(info[NAME_OFF:NAME_OFF + 16]).split(b"\0")[0].decode()
    length = int.from_bytes(bytes(info[LENGTH_OFF:LENGTH_OFF + 4]), sys.byteorder)
    followed = int.from_bytes(bytes(info[VERIFIED_OFF:VERIFIED_OFF + 4]), sys.byteorder)
    return name, length // 8, followed


def programs_of(pid):
    numbers = set()
    for entry in os.scandir(f"/proc/{pid}/fdinfo"):
        try:
            with open(entry.path) as file:
                found = re.search(r"^prog_id:\s*(\d+)", file.read(), re.M)
        except OSError:
            continue
        if found:
            numbers.add(int(found.group(1)))
    return [program_of(number) for number in sorted(numbers)]


def load(asterism, rules):
    """(programs, milliseconds until the observed program began)."""
    begun, begin = os.pipe()
    over, end = os.pipe()
    script = f"echo >&{begin}; read line <&{over}"
    started = time.monotonic()
    session = subprocess.Popen([asterism, "run", "-q", *rules, "--", "bash", "-c", script], pass_fds=(begin, over),
                               stdout=subprocess.DEVNULL)
    os.close(begin)
    os.close(over)
    is_loaded = os.read(begun, 1)
    took = (time.monotonic() - started) * 1000
    programs = programs_of(session.pid) if is_loaded else []
    os.close(begun)
    os.close(end)
    session.wait()
    if not programs:
        raise SystemExit(f"verified.py: {' '.join(rules)}: nothing was loaded")
    return programs, took


def show(name, instructions, followed, rest=""):
    print(f"{name:30} {instructions:8} {followed:9} {followed / instructions:6.2f} {rest}", flush=True)


def main():
    arguments = sys.argv[1:]
    each = "--programs" in arguments
    asterism, *sets = [argument for argument in arguments if argument != "--programs"]
    print(f"{'':30} {'instr.':>8} {'verified':>9} {'ratio':>6}     ms")
    for rules in sets:
        programs, took = load(asterism, rules.split("+"))
        show(rules[-30:], sum(p[1] for p in programs), sum(p[2] for p in programs), f"{took:6.0f}")
        for program in sorted(programs, key=lambda p: -p[2]) if each else []:
            show("  " + program[0], *program[1:])


main()
