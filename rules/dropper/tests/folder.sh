#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""The program that is written to is named by a path relative to its folder; what is no program, or elsewhere, is no matter."""
import os
import shutil
import subprocess
import tempfile

folder = tempfile.mkdtemp(dir="/tmp")
try:
    os.mkdir(folder + "/bin")
    for name in ("bin/victim", "bin/text", "other"):
        open(folder + "/" + name, "w").close()
        os.chmod(folder + "/" + name, 0o644 if name == "bin/text" else 0o755)
    with open(folder + "/x.sh", "w") as script:
        script.write('#!/bin/bash\n(:)\n(:)\nls >/dev/null\necho >>other\ncd bin\necho >>text\necho >>victim\n')
    os.chmod(folder + "/x.sh", 0o755)
    subprocess.run(["./x.sh"], cwd=folder, check=True)
finally:
    shutil.rmtree(folder)
