#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the default recording costs a build: 40 small C files with gcc and make -j2, without and with it, in turns.

usage: record_build.py ASTERISM [ROUNDS]

`again` is a second series without a recording: as much as it differs from the first, measuring does. Times are those of the
build alone; what a recording takes to begin is not among them. Prints medians, quartiles and ratios; gates nothing.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile

SOURCE = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
struct node { struct node *next; char name[32]; int value; };
""" + "".join(f"""int find_{i}(struct node *list, const char *text)
{{
    int sum = N;
    for (; list; list = list->next) {{
        if (strcmp(list->name, text) == 0)
            sum += list->value * {i};
        else
            printf("%s %d\\n", list->name, sum);
    }}
    return sum;
}}
""" for i in range(20))
MAKEFILE = "all: $(foreach n,$(shell seq 40),made/$n.o)\nmade/%.o: ; @gcc -O1 -c -DN=$* -o $@ unit.c\n"
TIMED = """import resource, subprocess, time
start = time.monotonic()
subprocess.check_call(["make", "-s", "-j2"])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
open("took", "w").write(f"{used.ru_utime + used.ru_stime} {time.monotonic() - start}")
"""
KINDS = {"off": False, "again": False, "default": True}


def build(asterism, is_recorded):
    """Seconds of the processors, and seconds."""
    for name in ("made", "trace"):
        shutil.rmtree(name, ignore_errors=True)
    os.mkdir("made")
    record = [asterism, "record", "-q", "-o", "trace", "--"] if is_recorded else []
    subprocess.run([*record, sys.executable, "-c", TIMED], check=True)
    return tuple(map(float, open("took").read().split()))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    asterism, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 9
    took = {kind: [] for kind in KINDS}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, text in (("unit.c", SOURCE), ("Makefile", MAKEFILE)):
            with open(name, "w") as file:
                file.write(text)
        for turn in range(rounds):
            for kind in [*KINDS][turn % 3:] + [*KINDS][:turn % 3]:
                took[kind].append(build(asterism, KINDS[kind]))
        os.chdir("/")
    for column, what in enumerate(("processor", "elapsed")):
        for kind, times in took.items():
            values = [time[column] for time in times]
            ratios = sorted(value / off[column] for value, off in zip(values, took["off"]))
            low, middle, high = statistics.quantiles(values, n=4)
            print(f"{what:9} s {kind:8} {middle:6.3f} ({low:.3f} to {high:.3f}), of off {statistics.median(ratios):.3f} "
                  f"({ratios[0]:.3f} to {ratios[-1]:.3f})")


if __name__ == "__main__":
    main()
