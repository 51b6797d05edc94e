#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Roots within roots, the same again, and calls in vain: nothing leads out."""
import os
import sys

if len(sys.argv) == 1:
    os.execvp("unshare", ["unshare", "--mount", sys.executable, "-SE", __file__, "apart"])


def apart(do):
    child = os.fork()
    if child == 0:
        do()
        os._exit(0)
    os.waitpid(child, 0)


def deeper():
    os.chroot("jail")
    os.chdir("/")
    os.chroot("inner")
    os.chdir("/")
    os.chroot("deep")


def from_outside():
    os.chroot("jail")
    os.chroot("jail/inner")


def same():
    os.chroot("jail")
    os.chdir("/")
    os.chroot(".")
    os.chroot("/")
    os.chroot("../..")


def own_root():
    os.chroot("/")
    os.chdir("/")
    os.chroot(".")
    os.chroot("..")


def other_mount():
    os.chroot("jail")
    os.chdir("/")
    os.chroot("mounted")
    os.chdir("/")
    os.chroot("deep")


def in_vain():
    os.chroot("jail")
    try:
        os.chroot("../nothing")
    except OSError:
        pass



os.makedirs("jail/inner/deep")
os.mkdir("jail/mounted")
if os.system("mount -t tmpfs none jail/mounted"):
    print("nothing can be mounted here")
    sys.exit(77)
os.mkdir("jail/mounted/deep")
for way in deeper, from_outside, same, own_root, other_mount, in_vain:
    apart(way)
