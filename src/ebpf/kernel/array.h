/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_KERNEL_ARRAY_H
#define EBPF_KERNEL_ARRAY_H

/* An array map that is mapped into this process: programs and we read and write the same memory, without a call. */

#include "base/diag.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/* All 0: there is none. */
struct ebpf_array {
	int fd;
	size_t bytes;
	void *memory;
};

/* Makes it of count values. access: PROT_READ, or with PROT_WRITE. Returns 0 or -errno: then nothing has changed. */
int ebpf_array_init(struct ebpf_array *array, const char *name, uint32_t value_bytes, uint32_t count, int access);
void ebpf_array_fini(struct ebpf_array *array);

/* Says why the kernel refused a map for what, of so many bytes. Returns -EPERM, -ENOMEM, -E2BIG, -EOPNOTSUPP. */
int ebpf_map_refused(struct asterism_diag *diag, int error, const char *what, uint64_t bytes);

#endif
