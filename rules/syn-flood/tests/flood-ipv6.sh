#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Asks for connections that nobody makes, in a network of its own: the answers go to an address where nobody is.
[ "${1:-}" = inside ] || exec unshare --net "$0" inside
command -v ip >/dev/null || { echo "needs ip (iproute2)"; exit 77; }
ip link set lo up
ip -6 addr add fd00::1/128 dev lo nodad 2>/dev/null || { echo "needs IPv6"; exit 77; }
ip link add asterism0 type veth peer name asterism1 || { echo "needs veth"; exit 77; }
ip link set asterism1 up
ip link set asterism0 up
until ip -o link show asterism0 | grep -q 'state UP'; do sleep 0.05; done # the kernel notes the carrier when it has time
ip -6 route add fd00::77 dev asterism0
ip -6 neigh add fd00::77 lladdr 02:00:00:00:00:01 dev asterism0
exec /usr/bin/python3 -SE - <<'END'
import socket
import struct
import time

server = socket.socket(socket.AF_INET6)
server.bind(("fd00::1", 8000))
server.listen(64)


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


raw = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW)
source, target = (socket.inet_pton(socket.AF_INET6, a) for a in ("fd00::77", "fd00::1"))
for port in range(2000, 2008):
    tcp = struct.pack("!HHIIBBHHH", port, 8000, 1, 0, 5 << 4, 2, 8192, 0, 0)
    tcp = tcp[:16] + struct.pack("!H", checksum(source + target + struct.pack("!II", 20, 6) + tcp)) + tcp[18:]
    raw.sendto(struct.pack("!IHBB16s16s", 6 << 28, 20, 6, 64, source, target) + tcp, ("fd00::1", 0))
time.sleep(0.6)
socket.create_connection(("fd00::1", 8000))  # in a recording it is events that let time pass
END
