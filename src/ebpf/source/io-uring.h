/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_IO_URING_H
#define EBPF_SOURCE_IO_URING_H

/*
 * Operations that processes have done by io_uring raise no event of a system call. They are counted by opcode, so that
 * rules that look for calls which an operation can stand for are told.
 */

#include "ebpf/kernel/array.h"
#include "ebpf/path/value.h"
#include "ebpf/source/plan.h"

/* Opcodes are counted one by one below IO_URING_OTHER, which stands for later ones, and for all where the kernel does
 * not tell them apart. */
enum { IO_URING_OTHER = 63, IO_URING_OPCODES };

struct io_uring {
	struct ebpf_needs needs;
	struct source_want want;  /* of its own program */
	struct ebpf_array counts; /* a u64 by opcode; none: nothing is counted */
};

/* Makes the want. Returns 0, -ENOMEM. */
int io_uring_plan(struct io_uring *ring, const struct btf_kernel *btf, struct asterism_diag *diag);

/* Makes what it counts in. Returns 0, -EPERM, -ENOMEM, with a sentence. */
int io_uring_init(struct io_uring *ring, struct asterism_diag *diag);
void io_uring_fini(struct io_uring *ring);

/* The body of the want. */
void io_uring_emit(const struct io_uring *ring, struct ebpf_asm *as);

/* Operations so far whose opcodes are in the set of bits. */
uint64_t io_uring_count(const struct io_uring *ring, uint64_t opcodes);

/*
 * Adds the opcodes of operations that stand for calls of which events of type tell, as bits. Nothing where it tells of
 * none. Returns 0, -ENOMEM.
 */
int io_uring_opcodes(const struct event_type *type, uint64_t *opcodes);

#endif
