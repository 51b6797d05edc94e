#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Unpacks itself and writes to nothing but its own folder."""
import os
import shutil
import subprocess
import tempfile

folder = tempfile.mkdtemp(dir="/tmp")
try:
    program = folder + "/.para.tmp"
    shutil.copy("/usr/bin/perl", program)
    subprocess.run([program, "-e", """for (1..3) { exit 0 unless fork } wait for 1..3;
        opendir D, "."; readdir D; open F, "+<", "$ARGV[0]/other" or open F, ">", "$ARGV[0]/other";""", folder], check=True)
finally:
    shutil.rmtree(folder)
