/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SOURCE_CALLS_32BIT_H
#define EBPF_SOURCE_CALLS_32BIT_H

/*
 * Counts system calls of 32-bit code where the kernel dispatches them, which other calls never get to. Where it has no
 * such place a program that all calls run counts them, and has to look at each call's thread.
 */

#include "ebpf/kernel/array.h"
#include "ebpf/source/plan.h"
#include "ebpf/source/scope.h"

struct calls_32bit {
	struct ebpf_array count; /* a u64; none: the plan's units count */
	int program, link;
	uint64_t before;
};

struct calls_32bit_options {
	const struct btf_kernel *btf;
	const struct ebpf_features *features; /* NULL: the kernel is not asked, and taken to let it */
	const struct scope *scope;
};

/* Takes counting over from the unit of plan that does it, if there is one and this kernel can. Descriptors are -1
 * before. */
void calls_32bit_init(struct calls_32bit *calls, struct source_plan *plan, const struct calls_32bit_options *options);
void calls_32bit_fini(struct calls_32bit *calls);

/* Calls before now do not count. */
void calls_32bit_begin(struct calls_32bit *calls);
uint64_t calls_32bit_count(const struct calls_32bit *calls);

/* Whether calls are counted from here on. */
int calls_32bit_switch(struct calls_32bit *calls, bool on, struct asterism_diag *diag);

#endif
