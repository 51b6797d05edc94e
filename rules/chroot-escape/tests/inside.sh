#!/usr/bin/python3 -SE
# SPDX-License-Identifier: BSD-2-Clause
"""The ways that are right: nothing to tell."""
import os


def apart(do):
    child = os.fork()
    if child == 0:
        os.mkdir("jail%d" % os.getpid())
        do("jail%d" % os.getpid())
        os.open(".", os.O_RDONLY)
        os._exit(0)
    os.waitpid(child, 0)


def first_there(jail):
    os.chdir(jail)
    os.chroot(".")


def then_there(jail):
    os.chroot(jail)
    os.chdir("/")


def without_rights(jail):
    os.chroot(jail)
    os.setresuid(65534, 65534, 65534)


os.chmod(".", 0o755)
apart(first_there)
apart(then_there)
apart(without_rights)
