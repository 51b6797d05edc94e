#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""The program is not opened: another one is moved to its place, by mv and by a call of its own."""
import os
import shutil
import subprocess
import sys
import tempfile

if os.path.realpath(__file__).startswith("/tmp/"):
    print("this script itself lies below /tmp, so that it is of the kind that the rule looks for")
    sys.exit(77)

folder, programs = tempfile.mkdtemp(dir="/tmp"), tempfile.mkdtemp(prefix="dropper-bin-", dir="/tmp")
try:
    with open(folder + "/x.sh", "w") as script:
        script.write('#!/bin/bash\nid >/dev/null\ndate >/dev/null\nls >/dev/null\ncp "$0" new\nmv new "$1/victim"\n')
    os.chmod(folder + "/x.sh", 0o755)
    with open(folder + "/x.py", "w") as script:
        script.write("import os, subprocess, sys\nfor _ in range(3):\n    subprocess.run(['true'])\nos.listdir('.')\n"
                     "open('new', 'w').close()\nos.rename('new', sys.argv[1] + '/victim')\n")
    for command in (["./x.sh"], ["python3", "x.py"]):
        subprocess.run(command + [programs], cwd=folder, check=True)
finally:
    shutil.rmtree(folder)
    shutil.rmtree(programs)
