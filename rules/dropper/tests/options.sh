#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""A script that is given to interpreters behind options, or to one by another path."""
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
        script.write(f'import os\nfor command in "id", "date", "ls", "cp {folder}/x.py {folder}/victim":\n    os.system(command + " >/dev/null")\n')
    for command in (["sh", "-e", folder + "/x.sh"], ["/usr/bin/bash", "--norc", "-u", "x.sh"], ["python3", "-u", folder + "/x.py"]):
        subprocess.run(command + [folder], cwd=folder, check=True)
finally:
    shutil.rmtree(folder)
