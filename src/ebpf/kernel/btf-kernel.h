/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_KERNEL_BTF_KERNEL_H
#define EBPF_KERNEL_BTF_KERNEL_H

/*
 * The type information (BTF) of the running kernel, read in place: mapped where the kernel can map it, so that its
 * megabytes count for no process, and indexed sparsely in one pass. Immutable after opening, so threads may share it.
 *
 * That of a module is split: its types and names go on where those of the kernel end, and refer to them. It is opened
 * over the kernel's, and then has the types of both.
 */

#include "base/diag.h"

#include <linux/btf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct btf_kernel;

/* Opens the kernel's own. Returns 0; -EOPNOTSUPP (this kernel has none), -EINVAL (malformed), -ENOMEM, -Exxx. */
int btf_kernel_open(struct asterism_diag *diag, struct btf_kernel **opened);

/* The same over the length bytes at bytes, which must outlive the result and be 4-byte aligned. */
int btf_kernel_from_bytes(const void *bytes, size_t length, struct asterism_diag *diag, struct btf_kernel **opened);

/* The same of a module, over base, which must outlive the result. */
int btf_kernel_from_split(const struct btf_kernel *base, const void *bytes, size_t length, struct asterism_diag *diag,
			  struct btf_kernel **opened);

/* Whether the type is one of the module's own, which the kernel's do not have. */
bool btf_kernel_is_split(const struct btf_kernel *btf, uint32_t id);

void btf_kernel_close(struct btf_kernel *btf);

/* The type numbered id, or NULL (also for 0, which is void). What it refers to may still be out of range. */
const struct btf_type *btf_kernel_type(const struct btf_kernel *btf, uint32_t id);

/* The name at an offset of the string section; "" where there is none. */
const char *btf_kernel_name(const struct btf_kernel *btf, uint32_t offset);

/* The id of the first type of this kind and name, or 0. Passes over all types: about half a millisecond. */
uint32_t btf_kernel_find(const struct btf_kernel *btf, uint32_t kind, const char *name);

/* Follows typedefs and qualifiers from *id and updates it. The type reached, or NULL for void and nonsense. */
const struct btf_type *btf_kernel_bare(const struct btf_kernel *btf, uint32_t *id);

/* sizeof(type id) in bytes; 0 where it has none. */
uint32_t btf_kernel_size(const struct btf_kernel *btf, uint32_t id);

/* A raw tracepoint's prototype; the leading `void *` is not among the parameters. */
struct btf_tracepoint {
	uint32_t id;                    /* of the typedef btf_trace_<name>, what a program attaches to */
	const struct btf_param *params; /* unnamed on kernels that keep no names */
	uint32_t param_count;
};

/* Returns 0, or -ENOENT where the kernel, or the module whose it is, has no tracepoint of this name. */
int btf_kernel_tracepoint(const struct btf_kernel *btf, const char *name, struct btf_tracepoint *found);

#endif
