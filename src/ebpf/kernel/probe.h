/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_KERNEL_PROBE_H
#define EBPF_KERNEL_PROBE_H

/*
 * What the running kernel offers to programs, one row per feature, each asked only when somebody wants to know. Rows
 * are for people and for choices with an alternative; feature.h holds what generated code depends on.
 */

#include "base/diag.h"
#include "ebpf/kernel/btf-kernel.h"
#include "ebpf/kernel/feature.h"

struct probe {
	const char *name;
	const char *purpose; /* what asterism does with it */
	const char *without; /* what is different where it is missing; NULL: nothing runs in the kernel then */
	const char *since;   /* the first Linux that has it; NULL: not a matter of the version */
};

/* The rows in the order to show them; NULL past the end. */
const struct probe *probe_get(size_t index);

/* Whether the kernel has it: 1, 0, or -errno where it cannot be told (-EPERM without privilege). btf may be NULL. */
int probe_ask(size_t index, const struct btf_kernel *btf);

/*
 * Whether this process may load programs on this kernel at all, without loading one. Returns 0; -EPERM (privilege),
 * -EOPNOTSUPP (locked down), with one sentence.
 */
int probe_permission(struct asterism_diag *diag);

/* The same, and what generated code depends on. -ENOMEM as well. */
int probe_features(struct ebpf_features *features, struct asterism_diag *diag);

#endif
