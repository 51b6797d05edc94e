#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Scripts given to interpreters that are called by their paths."""
import os
import shutil
import subprocess
import sys
import tempfile

if os.path.realpath(__file__).startswith("/tmp/"):
    print("this script itself lies below /tmp, so that it is of the kind that the rule looks for")
    sys.exit(77)

folder = tempfile.mkdtemp(dir="/tmp")
try:
    with open(folder + "/x.sh", "w") as script:
        script.write('id >/dev/null\ndate >/dev/null\nls >/dev/null\ncp "$0" "$1/victim"\n')
    with open(folder + "/x.py", "w") as script:
        script.write("import os, subprocess, sys\nfor _ in range(3):\n    subprocess.run(['true'])\nos.listdir('.')\n"
                     "open(sys.argv[1] + '/victim', 'w')\n")
    for command in (["/usr/bin/python3", folder + "/x.py"], ["/usr/bin/bash", "x.sh"], ["/usr/bin/sh", folder + "/x.sh"]):
        subprocess.run(command + [folder], cwd=folder, check=True)
finally:
    shutil.rmtree(folder)
