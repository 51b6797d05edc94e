# SPDX-License-Identifier: BSD-2-Clause
"""What is in a trace: its events, as they are dumped, and when it ended, as the headers of its packets say."""

import glob
import json
import os
import struct
import subprocess

PACKET = struct.Struct("<I16sHHQQQQQ")  # up to packet_bits (docs/formats/trace.md)


def end_of(trace):
    """The latest end of a packet, ns; 0 where the trace is no directory."""
    latest = 0
    for path in glob.glob(os.path.join(trace, "stream_*")):
        with open(path, "rb") as file:
            while len(header := file.read(PACKET.size)) == PACKET.size:
                *_, end_ns, _, bits = PACKET.unpack(header)
                latest = max(latest, end_ns)
                file.seek(bits // 8 - PACKET.size, os.SEEK_CUR)
    return latest


class Events(list):
    """All events as dictionaries, in order; end: when the recording ended, or the time of the last event, ns."""

    def __init__(self, asterism, trace):
        done = subprocess.run([asterism, "dump", "-f", "json", trace], stdout=subprocess.PIPE, text=True, check=True)
        super().__init__(event for event in map(json.loads, done.stdout.splitlines()) if "event" in event)
        self.end = max(end_of(trace), max((event["ts"] for event in self), default=0))
