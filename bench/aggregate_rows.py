# SPDX-License-Identifier: BSD-2-Clause
"""Rows about matches that are added up in the kernel, beside the maps of bpftrace over the same calls."""

from rows import Row, added_cost
from tools import start_bpftrace

CALLS = "RULE calls PATTERN { sys_enter:a } AGGREGATE { COUNT } BY { a.id }\n"
TOOK = """RULE took PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid] }
AGGREGATE { HISTOGRAM(b.ts - a.ts) AS took } BY { a.id }
"""
BPFTRACE_CALLS = "tracepoint:raw_syscalls:sys_enter /pid == %d/ { @calls[args->id] = count(); }"
BPFTRACE_TOOK = """tracepoint:raw_syscalls:sys_enter /pid == %d/ { @s[tid] = nsecs; }
tracepoint:raw_syscalls:sys_exit /@s[tid]/ { @took[args->id] = hist(nsecs - @s[tid]); delete(@s[tid]); }"""


def measure(rule, script, events):
    """Each tool beside the load; what every one of its calls should have been added to is looked at."""
    def rounds(bench, count):
        file = bench.rule_file("added", rule)
        return added_cost(bench, count, {
            "bpftrace": lambda load: start_bpftrace(script % load.pid),
            "asterism": lambda load: bench.start_asterism(file, load.pid),
        }, {"events": events * bench.calls, "matches": bench.calls})
    return rounds


ROWS = [
    Row("aggregate-count", "COUNT of calls by their number, added per call", "CPU ns", "bpftrace", "<= 1x bpftrace",
        measure(CALLS, BPFTRACE_CALLS, 1)),
    Row("aggregate", "HISTOGRAM of how long calls take, by their number, added per call", "CPU ns", "bpftrace",
        "<= 0.6x bpftrace", measure(TOOK, BPFTRACE_TOOK, 2)),
]
