/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_KERNEL_CPUS_H
#define EBPF_KERNEL_CPUS_H

#include "base/diag.h"

/*
 * How many CPUs the kernel lays per-CPU memory out for. Returns it, or -errno with a sentence: there is no guess
 * that would do, as the kernel writes to that many places.
 */
int ebpf_possible_cpus(struct asterism_diag *diag);

#endif
