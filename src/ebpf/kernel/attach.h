/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_KERNEL_ATTACH_H
#define EBPF_KERNEL_ATTACH_H

/*
 * Attaching loaded programs to tracepoints. What is attached is a descriptor that closes on exec and is pinned nowhere:
 * closing it, however that comes about, detaches.
 */

#include "base/diag.h"

#include <stdint.h>

/* A tp_btf program to the tracepoint it was loaded for. Returns a descriptor or -errno with a sentence naming it. */
int attach_raw(int program_fd, const char *tracepoint, struct asterism_diag *diag);

/* A tracepoint program through perf, for all processes and CPUs; id as attach_tracefs_id gives it. Likewise. */
int attach_classic(int program_fd, const char *tracepoint, uint32_t id, struct asterism_diag *diag);

/*
 * How often the kernel did not run the program because the CPU was in it already, since it was loaded; -1 where the
 * kernel does not count (before 5.12).
 */
int64_t attach_misses(int program_fd);

#endif
