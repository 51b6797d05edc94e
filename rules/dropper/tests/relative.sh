#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""As virus.sh, run by a path relative to the folder for temporary files."""
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
    shutil.copy("/usr/bin/perl", folder + "/para")
    subprocess.run(["./para", "-e", """for (1..3) { exit 0 unless fork } wait for 1..3;
        opendir D, "."; readdir D; open F, ">", "$ENV{PWD}/victim";"""], cwd=folder, env={"PWD": folder}, check=True)
finally:
    shutil.rmtree(folder)
