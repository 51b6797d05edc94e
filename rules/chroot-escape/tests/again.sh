#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""Out by chroot itself, each way by a process of its own, which reports itself once."""
import os
import sys

if len(sys.argv) == 1:
    os.execvp("unshare", ["unshare", "--mount", "--pid", "--fork", sys.executable, "-SE", __file__, "apart"])


def apart(do):
    child = os.fork()
    if child == 0:
        do()
        os._exit(0)
    os.waitpid(child, 0)


def classic():
    os.chroot("jail")
    os.chroot("../../../../../../../..")


def one_up():
    os.chroot("jail/inner")
    os.chroot("jail")


def aside():
    os.chroot("jail")
    os.chroot("other")


def descriptor():
    before = os.open(".", os.O_RDONLY)
    os.chroot("jail")
    os.fchdir(before)  # this is where it is told
    os.chroot(".")


def steps():
    os.chroot("jail")
    for _ in range(20):
        os.chdir("..")  # the first is where it is told
    os.chroot(".")


def by_child():
    os.chroot("jail")
    if os.fork() == 0:
        os.chroot("..")
        os._exit(0)
    os.wait()


def mounted():
    """The jail lies on a file system of its own: the way out leads to the system's root."""
    os.chroot("mounted/jail")
    os.chroot("../../../../../../../..")


os.makedirs("jail/inner")
os.mkdir("other")
os.mkdir("mounted")
if os.system("mount -t tmpfs none mounted"):
    print("nothing can be mounted here")
    sys.exit(77)
os.mkdir("mounted/jail")
for way in classic, one_up, aside, descriptor, steps, by_child, mounted:
    apart(way)
