/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_KERNEL_BTF_PATH_H
#define EBPF_KERNEL_BTF_PATH_H

/*
 * Turns `->member`, `.member` and `[index]` steps, starting at a value of a known kernel type, into the loads that
 * follow them.
 */

#include "ebpf/kernel/btf-kernel.h"
#include "event/path.h"

enum btf_end {
	BTF_END_SELF,    /* the value that the steps start at, there were none */
	BTF_END_LOAD,    /* an integer, or a pointer as one, in memory */
	BTF_END_ADDRESS, /* the address of something that is neither */
	BTF_END_CHARS,   /* a char array in memory */
};

/* Memory is always named as an offset from the last pointer. */
struct btf_spot {
	uint32_t offset;
	uint32_t pointee; /* the struct that this pointer points to; 0 where it is none that the verifier would know */
	bool is_plain;    /* the verifier finds the same at this offset as we do, so that a plain load will do */
};

enum { BTF_POINTERS_MAX = 16 };

struct btf_access {
	struct btf_spot pointers[BTF_POINTERS_MAX]; /* to fetch one after the other, 8 bytes each */
	uint32_t pointer_count;
	enum btf_end end;
	struct btf_spot spot; /* LOAD, ADDRESS, CHARS */
	uint32_t bytes;       /* SELF, LOAD: 1, 2, 4, 8; CHARS: of the array */
	bool is_signed;       /* SELF, LOAD */
	bool is_pointer;      /* SELF, LOAD */
	bool is_padded;       /* CHARS: the kernel keeps everything after the NUL zero */
	uint8_t shift, bits;  /* LOAD of a bit-field: bits of them from bit shift on; else bits is 0 */
};

/* Where a walk begins and how it goes on. */
struct btf_path {
	uint32_t type;    /* of the value that it begins with */
	bool from_struct; /* it begins with a pointer to struct type, the one value whose type may have no name of its
			     own */
	const struct event_path_step *hops;
	uint32_t count;
};

/*
 * Follows path. Returns 0, or -ENOENT (no such member on this kernel) or -EINVAL (nothing to follow there) with one
 * clause in reason.
 */
int btf_path_resolve(const struct btf_kernel *btf, const struct btf_path *path, struct btf_access *access, char *reason,
		     size_t size);

#endif
