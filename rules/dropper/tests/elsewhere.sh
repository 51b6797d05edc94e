#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""The same is done by a script that lies in a folder of its user, with the working directory in a folder for temporary files."""
import os
import shutil
import subprocess
import sys
import tempfile

if os.path.realpath(__file__).startswith("/tmp/"):
    print("this script itself lies below /tmp, so that it is of the kind that the rule looks for")
    sys.exit(77)

home = tempfile.mkdtemp(dir="/root" if os.access("/root", os.W_OK) else "/var/lib")
folder = tempfile.mkdtemp(dir="/tmp")
try:
    with open(home + "/x.sh", "w") as script:
        script.write('#!/bin/bash\nid >/dev/null\ndate >/dev/null\nls >/dev/null\ncp "$0" "$1/victim"\n')
    os.chmod(home + "/x.sh", 0o755)
    for command in ([home + "/x.sh"], ["bash", home + "/x.sh"], ["bash", "-c", '. "$0"', home + "/x.sh"]):
        subprocess.run(command + [folder], cwd=folder, check=True)
    subprocess.run(["./x.sh", folder], cwd=home, check=True)
finally:
    shutil.rmtree(folder)
    shutil.rmtree(home)
