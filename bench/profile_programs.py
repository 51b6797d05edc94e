# SPDX-License-Identifier: BSD-2-Clause
"""Real programs from Debian's sources, with frame pointers throughout, and the work that they are given."""

import glob
import os
import shutil
import subprocess

from tools import HERE, Missing, need_tool, once

FLAGS = ["-O2", "-g", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer", "-fno-shrink-wrap",
         "-fno-optimize-sibling-calls"]
PACKAGES = ("bzip2", "sqlite3", "lua5.4")
LIBRARIES = ("libc.so.6", "libm.so.6", "libbz2.so.1.0")
WORK = os.path.join(HERE, "profiles")


def call(command, what, **options):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", **options)
    if done.returncode:
        raise Missing(f"{what}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def fetch(folder):
    """Debian's source packages, by apt with a list of its own: that of the machine stays as it is."""
    need_tool("apt-get", "apt")
    for name in ("lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(folder, "apt", name))
    sources = os.path.join(folder, "apt", "sources.list")
    with open(sources, "w") as file:
        file.write("deb-src http://deb.debian.org/debian bookworm main\n")
    apt = ["apt-get", "-q", "-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=-",
           "-o", f"Dir::State::lists={folder}/apt/lists", "-o", f"Dir::Cache={folder}/apt/cache",
           "-o", "APT::Sandbox::User=root"]
    call([*apt, "update"], "apt-get update")
    call([*apt, "source", "--download-only", *PACKAGES], "apt-get source", cwd=folder)


def unpack(folder, package):
    archive = glob.glob(os.path.join(folder, package + "_*.orig.tar.*"))
    if len(archive) != 1:
        raise Missing(f"apt-get source left {len(archive)} archives of {package}, where one was expected")
    call(["tar", "-xf", archive[0], "-C", folder], archive[0])
    return glob.glob(os.path.join(folder, package.rstrip("5.4") + "-*"))[0]


def compiled(folder, name):
    """Compiles one of the programs bzip2, sqlite3 and lua."""
    out = ["-o", f"{folder}/{name}"]
    if name == "bzip2":
        files = ("blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib", "bzip2")
        call(["gcc", *FLAGS, "-D_FILE_OFFSET_BITS=64", *(file + ".c" for file in files), *out], name,
             cwd=unpack(folder, "bzip2"))
    elif name == "lua":
        sources = [path for path in glob.glob(unpack(folder, "lua5.4") + "/src/*.c") if not path.endswith("luac.c")]
        call(["gcc", *FLAGS, "-DLUA_USE_POSIX", *sources, *out, "-lm"], name)
    else:
        call(["gcc", *FLAGS, "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION", "sqlite3.c", "shell.c", *out, "-lm"],
             name, cwd=os.path.join(folder, "sqlite"))


def build(bench, *names):
    """The folder with these programs, libraries of their own, and a text to compress, which is the source of sqlite3."""
    def prepare():
        need_tool("gcc")
        need_tool("tclsh", "tcl")
        folder = os.path.join(bench.folder, "programs")
        os.makedirs(folder)
        fetch(folder)
        sqlite = os.path.join(folder, "sqlite")
        os.rename(unpack(folder, "sqlite3"), sqlite)
        call(["./configure", "--disable-tcl", "--disable-readline"], "sqlite3", cwd=sqlite)
        call(["make", "sqlite3.c", "shell.c"], "sqlite3", cwd=sqlite)
        with open(os.path.join(folder, "text"), "wb") as out:
            for name in ("sqlite3.c", "shell.c"):
                with open(os.path.join(sqlite, name), "rb") as file:
                    out.write(file.read())
        own_libraries(folder)
        return folder
    folder = once(bench, "programs", prepare)
    for name in names:
        once(bench, "program " + name, lambda name=name: compiled(folder, name))
    return folder


def own_libraries(folder):
    """valgrind ends at a probe of a function that another program has put into a library: copies have none."""
    os.makedirs(os.path.join(folder, "libraries"))
    for name in LIBRARIES:
        found = [path for path in glob.glob(f"/lib/{os.uname().machine}-linux-gnu/{name}") if os.path.exists(path)]
        if not found:
            raise Missing(f"{name} was not found", "install libbz2-1.0 and libc6")
        shutil.copy(os.path.realpath(found[0]), os.path.join(folder, "libraries", name))


def text_of(folder, megabytes):
    """A file of that length, of the text again and again."""
    path = os.path.join(folder, f"text-{megabytes}")
    if not os.path.exists(path):
        with open(os.path.join(folder, "text"), "rb") as file:
            text = file.read()
        with open(path, "wb") as out:
            left = megabytes * 1_000_000
            while left > 0:
                left -= out.write(text[:left])
    return path


def bare(bench):
    """A folder for programs that need nothing to be fetched, with libraries of their own."""
    def prepare():
        folder = os.path.join(bench.folder, "bare")
        os.makedirs(folder)
        own_libraries(folder)
        return folder
    need_tool("gcc")
    return once(bench, "bare programs", prepare)


def appendix(folder, is_timed):
    """The program of the thesis's appendix D: d does six times the work for b. Timed, it says what its functions took."""
    path = os.path.join(folder, "appendix-timed" if is_timed else "appendix")
    call(["gcc", "-O0", "-g", "-fno-omit-frame-pointer", *(["-DTIMED"] if is_timed else []), f"{WORK}/appendix.c", "-o", path],
         "appendix")
    return path


def commands(folder):
    """{program: (its command, how perf gets stacks that are true)}"""
    return {
        "bzip2": ([f"{folder}/bzip2", "-9", "-c", f"{folder}/text"], "fp"),
        "sqlite3": ([f"{folder}/sqlite3", ":memory:", f".read {WORK}/statements.sql"], "dwarf,16384"),
        "lua": ([f"{folder}/lua", f"{WORK}/work.lua"], "dwarf,16384"),
    }
