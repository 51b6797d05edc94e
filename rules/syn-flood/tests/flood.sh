#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Asks for connections that nobody makes, in a network of its own: the answers go to an address where nobody is.
[ "${1:-}" = inside ] || exec unshare --net "$0" inside
command -v ip >/dev/null || { echo "needs ip (iproute2)"; exit 77; }
ip link set lo up
ip addr add 10.0.0.1/32 dev lo
ip route add 10.0.0.77 dev lo
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
echo 0 >/proc/sys/net/ipv4/conf/lo/rp_filter
exec /usr/bin/python3 -SE - <<'END'
import socket
import struct
import time

server = socket.socket()
server.bind(("10.0.0.1", 8000))
server.listen(64)


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
source, target = socket.inet_aton("10.0.0.77"), socket.inet_aton("10.0.0.1")
for port in range(2000, 2008):
    tcp = struct.pack("!HHIIBBHHH", port, 8000, 1, 0, 5 << 4, 2, 8192, 0, 0)
    tcp = tcp[:16] + struct.pack("!H", checksum(source + target + struct.pack("!BBH", 0, 6, 20) + tcp)) + tcp[18:]
    raw.sendto(struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40, port, 0, 64, 6, 0, source, target) + tcp, ("10.0.0.1", 0))
time.sleep(0.6)
socket.create_connection(("10.0.0.1", 8000))  # in a recording it is events that let time pass
END
