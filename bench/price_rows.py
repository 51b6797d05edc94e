# SPDX-License-Identifier: BSD-2-Clause
"""What each shipped rule costs a server, as its README says it. Measured when it is asked for (bench/run --only price):
some thirty rules come and go under one load, which takes ten minutes. tools/prices writes the figures down."""

import json
import subprocess

from hot_rows import HotWebServer, toggled
from rows import Row

SECONDS = 0.5


def entries(bench):
    """What @all consists of."""
    text = subprocess.run([bench.asterism, "rules", "-f", "json"], check=True, capture_output=True, text=True).stdout
    every = [json.loads(line) for line in text.splitlines()]
    return [entry["name"] for entry in every if entry["kind"] not in ("overview", "template") and not entry["needs"]]


def measure(bench, rounds):
    bench.need_root()
    server = HotWebServer(bench)
    try:
        ways = {f"@{name}": lambda name=name: bench.start_asterism(f"@{name}", *server.pids) for name in entries(bench)}
        ratios, lost = toggled(bench, server, 2 * rounds - 1, {"nobody, too": lambda: None, **ways}, SECONDS)
    finally:
        server.close()
    for name, count in lost.items():
        if count:
            bench.note(f"{name} lost {count} events")
    return ratios


ROWS = [Row("price", "nginx under wrk: CPU time of the server per request, one rule at a time", "x nobody", "", "", measure)]
