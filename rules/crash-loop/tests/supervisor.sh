#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""A supervisor starts a program again and again that is not there: by itself, then by a shell; and a shell one that says the same
by itself (as the dynamic loader, where a library is missing)."""
import os
import subprocess

for command in ["./absent"], ["sh", "-c", "exec ./absent"]:
    for _ in range(6):
        child = os.fork()
        if not child:
            try:
                os.execvp(command[0], command)
            except FileNotFoundError:
                os._exit(127)
        os.waitpid(child, 0)
with open("service", "w", encoding="ascii") as file:
    file.write("#!/usr/bin/python3 -SE\nraise SystemExit(127)\n")
os.chmod("service", 0o700)
subprocess.run(["sh", "-c", "for i in 1 2 3 4 5 6; do ./service; done; exit 0"], check=True, stderr=subprocess.DEVNULL)
