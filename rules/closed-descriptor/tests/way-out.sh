#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Closes twice as programs do that are known for it, where it does no harm: by their names."""
import ctypes
import os

libc = ctypes.CDLL(None)
NAMES = ("man", "mandb", "whatis", "apropos", "gpg", "gpgconf", "tmux: client", "tmux: server", "scp", "sftp")
for name in NAMES:
    child = os.fork()
    if not child:
        libc.prctl(15, name.encode())
        os.dup2(0, 90)
        os.close(90)
        assert libc.close(90) == -1
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
if not os.fork():
    libc.prctl(15, b"gpg-agent")  # asks by fstat which of its descriptors are there
    os.dup2(0, 90)
    os.close(90)
    try:
        os.fstat(90)
    except OSError:
        pass
    os._exit(0)
os.wait()
