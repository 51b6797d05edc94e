# SPDX-License-Identifier: BSD-2-Clause
"""How long system calls took, by call, from a trace of `asterism record -a`:  python3 trace_latency.py TRACE..."""

import sys

from asterism_trace import Loss, Trace

begun, spent = {}, {}
with Trace(sys.argv[1:], events="sys_*") as trace:
    for item in trace:
        if isinstance(item, Loss):
            begun.clear()  # what lies between may have ended them
            print(f"{item.count} events are missing", file=sys.stderr)
        elif item.type.startswith("sys_enter"):
            begun[item.tid] = (item.text("id") if item.type == "sys_enter" else item.type[10:], item.time_ns)
        elif item.tid in begun:
            name, since = begun.pop(item.tid)
            spent.setdefault(name, []).append(item.time_ns - since)
for name, times in sorted(spent.items(), key=lambda row: -sum(row[1]))[:10]:
    times.sort()
    print(f"{name:24} {len(times):8} calls  {sum(times) / 1e6:10.3f} ms  median {times[len(times) // 2] / 1e3:9.1f} us")
