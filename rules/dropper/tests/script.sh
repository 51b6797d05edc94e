#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Scripts, of which other programs do the work: by absolute and relative path, and as an interpreter's argument."""
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
        script.write('#!/bin/bash\nid >/dev/null\ndate >/dev/null\nls >/dev/null\ncp "$0" "$1/victim"\n')
    os.chmod(folder + "/x.sh", 0o755)
    for command in ([folder + "/x.sh"], ["./x.sh"], ["sh", folder + "/x.sh"], ["bash", "x.sh"]):
        subprocess.run(command + [folder], cwd=folder, check=True)
finally:
    shutil.rmtree(folder)
