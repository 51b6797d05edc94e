# SPDX-License-Identifier: BSD-2-Clause
"""What numbers are worth nothing without: the machine that they were measured on."""

import os
import re
import subprocess


def read(path, default=""):
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return default


def first_line(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
        return (done.stdout or done.stderr).splitlines()[0].strip()
    except (OSError, IndexError, subprocess.TimeoutExpired):
        return "missing"


def facts():
    cpu = re.search(r"model name\s*:\s*(.*)", read("/proc/cpuinfo"))
    memory = re.search(r"MemTotal:\s*(\d+)", read("/proc/meminfo"))
    hypervisor = "hypervisor" in read("/proc/cpuinfo")
    return {
        "cpu": cpu.group(1) if cpu else "unknown",
        "cpus": os.cpu_count(),
        "virtual": hypervisor,
        "governor": read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "unknown"),
        "memory MiB": int(memory.group(1)) // 1024 if memory else 0,
        "kernel": os.uname().release,
        "bpf jit": read("/proc/sys/net/core/bpf_jit_enable", "unknown"),
        "load": read("/proc/loadavg"),
        "bpftrace": first_line("bpftrace", "--version"),
        "compiler": first_line("gcc", "--version"),
        "revision": first_line("git", "-C", os.path.dirname(os.path.abspath(__file__)), "describe", "--always", "--dirty"),
    }
