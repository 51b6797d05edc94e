/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_MEMORY_STACK_TABLE_H
#define EBPF_MEMORY_STACK_TABLE_H

/*
 * Where generated code leaves the stacks of matches until this process has the match: a ring of entries that is written
 * round and round. A match knows the number of its stack; the entry says whose stack it holds by now, so a reader that
 * comes too late notices.
 */

#include "ebpf/memory/layout.h"
#include "program/match.h"

enum {
	STACK_ENTRIES = 4096,        /* a power of two */
	STACK_ENTRY_BYTES = 280,     /* of struct stack_entry */
	STACK_TABLE_HEAD_BYTES = 64, /* in front of the entries: how many were ever taken */
	STACK_DONE_SHIFT = 32,       /* matcher_match.done: the number of the stack, above the bits of statements */
};

/* What the number of an entry is while it is being written. */
#define STACK_BUSY UINT64_MAX

struct stack_entry {
	uint64_t number; /* 1 to UINT32_MAX; 0: it holds none; STACK_BUSY */
	uint64_t ids;    /* tgid << 32 | tid of the thread */
	uint64_t bytes;  /* of frames, as many as there are */
	uint64_t frames[PROGRAM_FRAMES_MAX];
};

_Static_assert(sizeof(struct stack_entry) == STACK_ENTRY_BYTES, "shared with generated code");

/* The frames of the stack of match go to frames. Returns how many; 0: none was taken, or it is not there any more. */
uint32_t memory_stack_read(const struct memory *memory, const struct matcher_match *match,
			   uint64_t frames[PROGRAM_FRAMES_MAX]);

#endif
