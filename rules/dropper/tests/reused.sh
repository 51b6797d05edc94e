#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""The family's first process has ended; its number is used again, by another program from a temporary folder."""
import os
import shutil
import subprocess
import sys
import tempfile

LAST = "/proc/sys/kernel/ns_last_pid"
if not os.path.exists(LAST):
    print("numbers of processes cannot be chosen here")
    sys.exit(77)


def use_again(number, program):
    for _ in range(200):
        with open(LAST, "w") as last:
            last.write(str(number - 1))
        other = subprocess.Popen([program, "-e", "1"])
        other.wait()
        if other.pid == number:
            return
    print("others take the numbers of processes too fast")
    sys.exit(77)


folder = tempfile.mkdtemp(dir="/tmp")
try:
    program = folder + "/.para.tmp"
    shutil.copy("/usr/bin/perl", program)
    first = subprocess.Popen([program, "-e", """exit 0 if fork; for (1..3) { exit 0 unless fork } wait for 1..3;
        opendir D, "."; readdir D; syswrite STDOUT, "x"; sysread STDIN, $x, 1; open F, ">", "$ARGV[0]/victim";""", folder],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    first.stdout.read(1)
    first.wait()
    use_again(first.pid, program)
    first.stdin.close()
    first.stdout.read()
finally:
    shutil.rmtree(folder)
