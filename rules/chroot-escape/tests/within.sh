#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""What lies inside, however it is named: by descriptors, deep down, the root itself, another file system mounted there."""
import os
import sys

if len(sys.argv) == 1:
    os.execvp("unshare", ["unshare", "--mount", sys.executable, "-SE", __file__, "apart"])
os.makedirs("jail/" + "d/" * 20)
os.mkdir("jail/other")
if os.system("mount -t tmpfs none jail/other"):
    print("nothing can be mounted here")
    sys.exit(77)
inside = os.open("jail", os.O_RDONLY)
os.chroot("jail")
os.fchdir(inside)
os.open("d", os.O_RDONLY, dir_fd=inside)
os.open("../../../..", os.O_RDONLY)
os.chdir("..")
os.open("/" + "d/" * 20, os.O_RDONLY)
os.chdir("d/" * 18)
os.open("../d/d", os.O_RDONLY)
os.chdir("/other")
os.open(".", os.O_RDONLY)
os.open("file", os.O_WRONLY | os.O_CREAT)
os.open("..", os.O_RDONLY)
