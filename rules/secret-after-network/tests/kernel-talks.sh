#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Receives from the kernel alone (netlink), as su does, which tells the audit of what it does, and opens the secret."""
import os
import socket
import struct

NETLINK_ROUTE, RTM_GETLINK, NLM_F_REQUEST, NLM_F_DUMP = 0, 18, 1, 0x300
if not os.path.exists("/etc/shadow"):
    print("no /etc/shadow")
    raise SystemExit(77)
with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_ROUTE) as kernel:
    kernel.send(struct.pack("IHHIIBxxxxxxx", 24, RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, 1, 0, socket.AF_UNSPEC))
    assert kernel.recv(65536)
os.open("/etc/shadow", os.O_RDONLY)
