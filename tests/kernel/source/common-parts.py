#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Random catalogs whose conditions and fields have parts in common: common-parts.py ASTERISM SEED COUNT.

One type has each part as a field of its own, so that none is computed for two; from these the conditions and fields of the
others at the same call are computed here. Both ways to have events, recorded and by rules, must give these.
"""

import collections
import json
import operator
import os
import random
import subprocess
import sys
import tempfile

STRUCTS = {  # pointers that lead on, what is read
    "task_struct": ("real_parent:task_struct group_leader:task_struct signal:signal_struct mm:mm_struct cred:cred",
                    "tgid flags static_prio exit_signal sched_reset_on_fork mm"),
    "signal_struct": ("tty:tty_struct", "nr_threads oom_score_adj is_child_subreaper tty"),
    "tty_struct": ("link:tty_struct", "count"),
    "mm_struct": ("exe_file:file", "start_code pgd"),
    "file": ("f_inode:inode f_path.dentry:dentry", "f_flags"),
    "dentry": ("d_parent:dentry d_inode:inode d_sb:super_block", "d_name.len d_inode"),
    "inode": ("i_sb:super_block i_mapping->host:inode", "i_ino i_mode i_blkbits"),
    "super_block": ("s_root:dentry", "s_dev s_magic"),
    "cred": ("", "uid.val euid.val fsgid.val"),
}
BASES = [("task_struct", "current->real_parent"), ("task_struct", "16"), ("dentry", "current->fs->pwd.dentry"),
         ("file", "kernel_word((syscall_arg(3) & 1 << 3) + current->files->fdt->fd)"), ("tty_struct", "current->signal->tty"),
         ("dentry", "cast(mm_struct, current->mm)->exe_file->f_path.dentry")]
BITS = {"i64": 64, "u64": 64, "i32": 32, "u32": 32, "i16": 16, "u8": 8}
ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_,
              "<<": lambda a, b: a << (b & 63), ">>": lambda a, b: (a & (1 << 64) - 1) >> (b & 63)}
COMPARE = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
CALLS = """
import ctypes, os
data = (ctypes.c_uint64 * 8)(0xfffe807f00000001, 0, 5, 1 << 63, 7)
data[1] = ctypes.addressof(data)
for n in range(12):
    ctypes.CDLL(None).syscall(110, n, ctypes.c_void_p(ctypes.addressof(data) + 4 * (n % 3)), n % 2, n // 2)
"""


class Catalog:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.leaves, self.trees = [], []
        self.bases = [[*base, []] for base in self.random.sample(BASES, self.random.choice([1, 1, 2]))]

    def leaf(self):
        base = self.random.choice(self.bases)
        struct, steps = base[0], []
        kept = base[2][:self.random.randint(0, len(base[2]))]  # of the last one from there
        for i in range(self.random.randint(1, 5)):
            ways = dict(way.split(":") for way in STRUCTS[struct][0].split())
            if not ways:
                break
            steps.append(kept[i] if i < len(kept) else self.random.choice(list(ways)))
            struct = ways[steps[-1]]
        base[2] = steps
        text = f"cast({base[0]}, {base[1]})->" + "->".join([*steps, self.random.choice(STRUCTS[struct][1].split())])
        text = self.random.choice([text] * 6 + ["user_word(syscall_arg(1))", "user_int(syscall_arg(1) + 8, 2)",
                                                "kernel_word(current->files->fdt->fd + 8)"])
        if text not in self.leaves:
            self.leaves.append(text)
        return text

    def tree(self, depth):
        """A path, as text or (left, operator, right)."""
        if self.trees and self.random.random() < 0.25:
            return self.random.choice(self.trees)
        if depth == 0 or self.random.random() < 0.3:
            return self.leaf() if self.random.random() < 0.9 else self.random.choice(["0", "1", "3", "-77"])
        tree = (self.tree(depth - 1), self.random.choice([*ARITHMETIC, "+", "*", *COMPARE]), self.tree(depth - 1))
        if len(text_of(tree)) > 400:
            return self.leaf()
        self.trees.append(tree)
        return tree


def text_of(tree):
    return tree if isinstance(tree, str) else f"({text_of(tree[0])} {tree[1]} {text_of(tree[2])})"


def signed(value, bits=64):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def value_of(tree, leaves):
    if isinstance(tree, str):
        return leaves[tree] if tree in leaves else int(tree)
    left, right = value_of(tree[0], leaves), value_of(tree[2], leaves)
    return signed(int((ARITHMETIC | COMPARE)[tree[1]](left, right)))


def seen(lines, name, fields):
    """{(type, n): fields} of the lines of JSON."""
    found = {}
    for event in map(json.loads, lines):
        values = fields(event)
        if values and "n" in values:
            found[name(event), values["n"]] = {key: values[key] for key in values if key[0] in "lnv"}
    return found


def run(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stderr}")
    return done.stdout.splitlines()


def try_seed(asterism, seed, folder):
    catalog = Catalog(seed)
    types = {}
    for i in range(catalog.random.randint(1, 4)):
        when = [(catalog.tree(3), *catalog.random.choice([("!=", 99), ("!=", -1), ("!=", 1 << 40), ("!=", 7), (">=", 0), ("<", 9)]))
                for _ in range(catalog.random.randint(1, 8))]
        types[f"t{i}"] = when, [(kind, catalog.tree(4)) for kind in catalog.random.choices(list(BITS), k=4)]
    call = "\nFROM raw_syscalls:sys_enter WHEN id == 110"
    fields = {"alone": ["n", *(f"l{i}" for i in range(len(catalog.leaves)))], **{name: ["n", "v0", "v1", "v2", "v3"] for name in types}}
    with open(f"{folder}/x.events", "w") as file:
        file.write(f"EVENT alone {{ n: i64{''.join(f', l{i}: i64' for i in range(len(catalog.leaves)))} }}{call} {{ n = syscall_arg(0)"
                   + "".join(f",\n l{i} = {leaf}" for i, leaf in enumerate(catalog.leaves)) + " }\n")
        for name, (when, values) in types.items():
            file.write(f"EVENT {name} {{ n: i64{''.join(f', v{i}: {kind}' for i, (kind, _) in enumerate(values))} }}{call}"
                       + "".join(f" AND\n {text_of(tree)} {compare} {limit}" for tree, compare, limit in when)
                       + " { n = syscall_arg(0)" + "".join(f",\n v{i} = {text_of(tree)}" for i, (_, tree) in enumerate(values)) + " }\n")
    with open(f"{folder}/x.rule", "w") as file:
        file.write('EVENTS "x.events"\n' + "".join(
            f"RULE {name} PATTERN {{ {name}:a }} RETURN {{ {', '.join(f'a.{field} AS {field}' for field in fields[name])} }}\n" for name in fields))
    program = ["--", sys.executable, "-c", CALLS]
    run([asterism, "record", "-q", "--catalog", "x.events", "-e", ",".join(fields), "-o", f"trace-{seed}", *program], folder)
    ways = {"recorded": seen(run([asterism, "dump", "-f", "json", f"trace-{seed}"], folder), lambda e: e.get("event"), lambda e: e),
            "by rules": seen(run([asterism, "run", "-q", "-f", "json", "x.rule", *program], folder), lambda e: e.get("match"),
                             lambda e: e.get("return"))}
    counts = collections.Counter()
    for way, events in ways.items():
        for n in range(12):
            alone = events["alone", n]
            leaves = {leaf: signed(alone[f"l{i}"]) for i, leaf in enumerate(catalog.leaves)}
            for name, (when, values) in types.items():
                expected = None
                if all(COMPARE[compare](value_of(tree, leaves), limit) for tree, compare, limit in when):
                    results = [(kind, value_of(tree, leaves)) for kind, tree in values]
                    expected = {"n": n, **{f"v{i}": signed(value, BITS[kind]) if kind[0] == "i" else value & (1 << BITS[kind]) - 1
                                           for i, (kind, value) in enumerate(results)}}
                counts[expected is not None] += 1
                if events.get((name, n)) != expected:
                    with open(f"{folder}/x.events") as file:
                        sys.exit(f"seed {seed}, {way}, {name} of call {n}: {events.get((name, n))}, expected: {expected}\n{alone}\n{file.read()}")
    return counts


def main():
    asterism, first, count = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            counts += try_seed(asterism, seed, folder)
    print(f"{count} catalogs, {counts[True]} events as expected, and {counts[False]} that are none")


main()
