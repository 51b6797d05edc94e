/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_KERNEL_BTF_MODULE_H
#define EBPF_KERNEL_BTF_MODULE_H

/*
 * Which loaded module has a tracepoint. Nothing is kept: modules come and go, so each question looks at what is there
 * then.
 */

#include "ebpf/kernel/btf-kernel.h"

#define BTF_MODULE_FOLDER "/sys/kernel/btf"

enum { BTF_MODULE_NAME_BYTES = 64 }; /* more than MODULE_NAME_LEN */

/* What is looked for, and why it was not found. */
struct btf_module_search {
	const struct btf_kernel *base; /* the kernel's types */
	const char *folder;            /* with a file a module: BTF_MODULE_FOLDER */
	const char *tracepoint;        /* "system:name" */
	char *reason;
	size_t size;
};

struct btf_module {
	char name[BTF_MODULE_NAME_BYTES];
	struct btf_kernel *btf; /* close it before base, with btf_module_close */
	void *bytes;            /* that it is read from */
};

/*
 * The module called like the system is looked at first, then all others. Returns 0; -ENOENT (no module that is loaded
 * and has BTF does); -EACCES or -EINVAL with one clause in reason where none does, but the BTF of one, first of all
 * that called like the system, cannot be read or is damaged, so that it might; -ENOMEM.
 */
int btf_module_find(const struct btf_module_search *search, struct btf_module *found);

/* Leaves an empty one, which may be closed, too. */
void btf_module_close(struct btf_module *module);

#endif
