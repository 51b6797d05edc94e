/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_KERNEL_FEATURE_H
#define EBPF_KERNEL_FEATURE_H

/* What the running kernel's BPF has beyond the base that is taken for granted (5.17: atomics, bpf_loop). */

#include <stdbool.h>

/* What helps where maps find no memory. */
#define EBPF_MEMORY_HINT                                                                                               \
	"maps count for the control group that asterism runs in: give it more (memory.max), or take fewer rules or a " \
	"smaller POOL or --ring"

struct ebpf_features {
	bool loop;          /* bpf_loop, the base: without it nothing runs */
	bool long_jump;     /* jumps of 32 bit, 6.6 */
	bool counts_misses; /* of programs at tracepoints of tracefs, 6.7 */
	bool probe_links;   /* links to probes in user code, 6.6: they are detached side by side */
};

/* Asks the kernel. Returns 0, -EPERM (no privilege to load programs) -EOPNOTSUPP (the base is missing), -ENOMEM,
 * -EMFILE or -ENFILE. */
int ebpf_features_probe(struct ebpf_features *features);

/* Whether array values of more than 4 MiB can be had: 1 or 0; tries one, which takes milliseconds. -Exxx: the kernel
 * does not say, as it has no memory, for one. */
int ebpf_has_large_values(void);

/* Whether the kernel counts firings that programs at tracepoints of tracefs miss. */
bool ebpf_counts_misses(void);

/* Whether this kernel runs 32-bit code at all, whose calls have numbers of their own; tries it in a process of its own.
 */
bool ebpf_runs_32bit(void);

/* Whether programs can be told the registers that user code had (bpf_task_pt_regs); tries it. */
bool ebpf_has_user_registers(void);

#endif
