#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a replay derives from recorded raw system calls is what the kernel raises.

usage: derive-equal.py ASTERISM PLANT

A program is recorded twice at the same time: its calls by their names, and raw. A replay of the raw trace has to give
the events of the other one, thread by thread, with the same values; strings are not in a raw trace.
Ends with `N passed, N failed, N skipped`: one case per event type.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

RULES = """EVENTS "completed.events"
RULE futex PATTERN { (futex_wait | futex_wait_end | futex_wake | futex_wake_end) }
RULE done PATTERN { (descriptor_closed | data_read | data_written | descriptor_moved) }
"""

# What is of the event, not of its type. An event whose string was awaited says when that came: "completed". Any page may
# have left memory meanwhile, so which ones do is another with each run; late() below makes sure of one.
HEADER = ("event", "ts", "completed", "cpu", "pid", "tid", "comm")

# Whose fields are in memory or in the kernel's own structures: a raw trace cannot have them.
UNTOLD = ("filename", "pathname", "path", "name", "oldname", "newname")

WORK = r"""
import ctypes, mmap, os, socket, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
def files():
    for i in range(20):
        fd = os.open("/dev/null", os.O_RDWR)
        os.write(fd, b"x" * i); os.read(fd, 4); os.lseek(fd, i, os.SEEK_SET); os.dup(fd)
        os.pread(fd, 4, 1 << 33); os.pwrite(fd, b"y", 5)
        os.close(fd); libc.close(fd); libc.read(fd, None, 0); libc.dup2(-1, -7)
        r, w = os.pipe(); os.close(r); os.close(w)
def locks():
    lock = threading.Lock()
    def hold():
        with lock: time.sleep(0.001)
    threads = [threading.Thread(target=hold) for _ in range(8)]
    [t.start() for t in threads]; [t.join() for t in threads]
def sockets():
    a, b = socket.socketpair(); a.send(b"hello"); b.recv(5, socket.MSG_PEEK); a.close(); b.close()
    try: socket.create_connection(("127.0.0.1", 1), 0.1)
    except OSError: pass
def late():
    # A name in a page that nobody has touched.
    with open(__file__, "rb") as file:
        page = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE)
    libc.openat(-100, ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(page))), 0)
files(); locks(); sockets(); late()
for i in range(5):
    if os.fork() == 0: files(); os._exit(i)
    os.wait()
"""


def lines(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    if done.returncode not in (0, 3):
        sys.exit(f"{command}: {done.returncode} {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def fields_of(event):
    return {key: value for key, value in event.items() if key not in HEADER and key not in UNTOLD}


def by_thread(events):
    """type -> thread -> fields of its events in their order; what the recorder's own child does is left out."""
    found = {}
    for event in events:
        if event["comm"] != "asterism":
            found.setdefault(event["event"], {}).setdefault(event["tid"], []).append(fields_of(event))
    return found


def rule_for(number, kind, events):
    fields = fields_of(next(e for e in events if e["event"] == kind))
    returned = ", ".join(f"e.{name} AS {name}" for name in fields if not isinstance(fields[name], str))
    return f"RULE r{number} PATTERN {{ {kind}:e }} RETURN {{ {returned or 'e.tid AS of'} }}\n"


def derived(asterism, trace, kinds, events, folder):
    rules = os.path.join(folder, "derive.rule")
    with open(rules, "w") as file:
        file.write('EVENTS "completed.events"\n' + "".join(rule_for(i, kind, events) for i, kind in enumerate(kinds)))
    found = {}
    for match in lines([asterism, "replay", "-q", "-f", "json", rules, trace]):
        if "match" in match and match["comm"] != "asterism":
            values = {k: v for k, v in match["return"].items() if k != "of"}
            found.setdefault(kinds[int(match["match"][1:])], {}).setdefault(match["tid"], []).append(values)
    return found


def numbers(threads):
    return {tid: [{k: v for k, v in e.items() if not isinstance(v, str)} for e in list_] for tid, list_ in threads.items()}


def recorded(command):
    """A recording that lacks something, as its recorder says then, proves nothing about the rest."""
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=300)
    lacks = [line for line in done.stderr.splitlines() if not re.search(r": note: \d+ events in ", line)]
    if done.returncode or lacks:
        sys.exit(f"recording: {done.returncode}\n{done.stderr}")


def differences(kind, expected, given, events):
    """One line for each thread: where its two lists part, and what the recording by names has around that."""
    for tid in sorted(set(expected) | set(given)):
        named, derived_ = expected.get(tid, []), given.get(tid, [])
        if named == derived_:
            continue
        place = next((i for i, (a, b) in enumerate(zip(named, derived_)) if a != b), min(len(named), len(derived_)))
        around = [e for e in events if e["tid"] == tid and e["event"] == kind][max(0, place - 1):place + 2]
        yield (f"  thread {tid}: {len(named)} by name, {len(derived_)} derived, from {place} on: "
               f"{named[place:place + 2]}, derived {derived_[place:place + 2]}\n    " +
               "\n    ".join(str(e) for e in around))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asterism, plant = sys.argv[1:]
    if os.geteuid() != 0:
        print("recording needs root\n0 passed, 0 failed, 1 skipped")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        named, raw, rules, work = (os.path.join(folder, name) for name in ("named", "raw", "named.rule", "work.py"))
        for path, text in ((rules, RULES), (work, WORK)):
            with open(path, "w") as file:
                file.write(text)
        script = f'"{sys.executable}" "{work}"; exec "{plant}" mix 500'
        recorded([asterism, "record", "-f", "json", "--ring", "32M", "-o", named, "--rules", rules, "-e",
                  "sys_enter_*,sys_exit_*", "--", asterism, "record", "--ring", "32M", "-o", raw, "-e",
                  "sys_enter,sys_exit", "--", "sh", "-c", script])
        events = [e for e in lines([asterism, "dump", "-f", "json", named]) if e["event"] != "match"]
        traced = {e["tid"] for e in lines([asterism, "dump", "-f", "json", raw])}
        expected = by_thread(e for e in events if e["tid"] in traced)
        given = derived(asterism, raw, sorted(expected), events, folder)
    failed = 0
    for kind in sorted(expected):
        if numbers(expected[kind]) != given.get(kind, {}):
            failed += 1
            print(f"FAILED {kind}")
            print("\n".join(differences(kind, numbers(expected[kind]), given.get(kind, {}), events)))
    print(f"{sum(len(e) for t in expected.values() for e in t.values())} events of {len(expected)} types")
    if not any("completed" in e for e in events):
        failed += 1
        print("FAILED: no string was awaited")
    if len(expected) < 40 or "descriptor_closed" not in expected or "futex_wait_end" not in expected:
        failed += 1
        print("FAILED: too little happened")
    print(f"{len(expected) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
