#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A file in a folder that is known is brought to the disk twice; what it is said of is the descriptor's.
mkdir -p /tmp/asterism-fsync-stall && cd /tmp/asterism-fsync-stall || exit 77
/usr/bin/python3 -SE -c 'import ctypes, os
ctypes.CDLL(None).prctl(15, b"planted")
log = os.open("log", os.O_WRONLY | os.O_CREAT)
for record in b"one", b"two":
    os.write(log, record)
    os.fsync(log)'
rm -r /tmp/asterism-fsync-stall
