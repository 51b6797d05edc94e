#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""It looks first at what there is, then makes its processes."""
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
        script.write('#!/bin/bash\nfor f in *; do :; done\n/bin/true\n/bin/true\n/bin/true\necho >"$1/victim"\n')
    os.chmod(folder + "/x.sh", 0o755)
    subprocess.run([folder + "/x.sh", folder], cwd=folder, check=True)
finally:
    shutil.rmtree(folder)
