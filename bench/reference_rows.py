# SPDX-License-Identifier: BSD-2-Clause
"""The three rules that the thesis measures its engine with (4.7), in its own words, by wmk.events."""

from rows import Row, added_cost
from tools import need_tool
from trace_rows import rates

RULES = {
    "syscall": "RULE syscall PATTERN { [syscall:a] } RETURN { a.SyscallNr, a.TimeStamp }",
    "longsyscalls": "RULE longsyscalls PATTERN { [syscall:a, syscallexit:b] } WHERE { [ProcessId], [ThreadId], "
                    "b.TimeStamp - a.TimeStamp > 2ms, a.SyscallNr < 300 } RETURN { a.SyscallNr, a.TimeStamp, b.TimeStamp }",
    "nosyscallexit": "RULE nosyscallexit PATTERN { [syscall:a, ~(syscallexit | threadtermination | waitevent), syscall] } "
                     "WHERE { [ProcessId], [ThreadId], a.SyscallNr < 300 } RETURN { a.SyscallNr, a.TimeStamp }",
}
UNTOLD = "RULE syscall PATTERN { [syscall:a] } WHERE { a.SyscallNr == 9999 } RETURN { a.SyscallNr, a.TimeStamp }"


def file_of(bench, name, text):
    return bench.rule_file(f"reference-{name}", f'EVENTS "wmk.events"\n{text}\n')


def measure_replay(bench, rounds):
    """With their matches written, as text to a pipe."""
    need_tool("babeltrace2")
    return rates(bench, rounds, {
        "babeltrace2 decoding only": ["babeltrace2", "TRACE", "-c", "sink.utils.dummy"],
        **{name: [bench.asterism, "replay", "-q", "--jobs", "1", file_of(bench, name, text), "TRACE"]
           for name, text in RULES.items()}}, 1)


def measure_live(bench, rounds):
    """As `syscall` matches every call it is measured with a condition that none meets: what else it adds is its results."""
    texts = {**RULES, "syscall": UNTOLD}
    files = {name: file_of(bench, "live-" + name, text) for name, text in texts.items()}
    starters = {"empty programs": lambda load: bench.start_peer("empty-pair", load.pid)}
    starters |= {name: lambda load, file=file: bench.start_asterism(file, load.pid) for name, file in files.items()}
    return added_cost(bench, rounds, starters, {"events": bench.calls})


ROWS = [
    Row("reference-replay", "the rules of the thesis over a recorded trace on one job, by CPU time", "million events/s",
        "babeltrace2 decoding only", "the thesis: 0.130, 0.058 and 0.013", measure_replay),
    Row("reference-live", "the rules of the thesis in the kernel, added per call", "CPU ns", "empty programs",
        "the thesis has none", measure_live),
]
