/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_MEMORY_STACK_TABLE_H
#define EBPF_MEMORY_STACK_TABLE_H

/*
 * Where generated code leaves the stacks of matches until this process has the match: in a ring the addresses that the
 * kernel finds by frame pointers, and in another one, of fewer entries, what it takes to unwind them here: the
 * registers of user code, and the bytes of its stack.
 */

#include "ebpf/memory/stack-ring.h"
#include "program/match.h"

enum {
	STACK_ENTRIES = 4096,    /* a power of two */
	STACK_ENTRY_BYTES = 288, /* of struct stack_entry */
	STACK_DONE_SHIFT = 32,   /* matcher_match.done: the number of the stack, above the bits of statements */
};

struct stack_entry {
	struct stack_ring_entry ring;
	uint64_t copy;  /* its number; 0: none was made */
	uint64_t bytes; /* of frames, as many as there are */
	uint64_t frames[PROGRAM_FRAMES_MAX];
};

_Static_assert(sizeof(struct stack_entry) == STACK_ENTRY_BYTES, "shared with generated code");

/* A copy is taken by pages of STACK_PAGE_BYTES, from the one on that the stack pointer is in, or what is used below it.
 */
enum {
	STACK_PAGE_BYTES = 4096,
	STACK_COPY_BYTES = 16 << 10, /* at least so many, where there are as many */
	STACK_COPY_PAGES = STACK_COPY_BYTES / STACK_PAGE_BYTES + 1,
	STACK_COPIES_BYTES_MAX = 4 << 20, /* of all copies: what every kernel takes */
};

struct stack_image {
	uint64_t start; /* the address of bytes */
	uint64_t pages; /* bit i: page i could be read */
	uint64_t registers[PROGRAM_REGISTERS_MAX];
	uint8_t bytes[STACK_COPY_PAGES * STACK_PAGE_BYTES];
};

struct stack_copy {
	struct stack_ring_entry ring;
	struct stack_image image;
};

/* What is read of it. */
struct memory_stack {
	uint64_t frames[PROGRAM_FRAMES_MAX];
	uint32_t count;
	bool has_copy;
	struct program_stack_copy copy;
	struct stack_copy room;
};

/* The stack of match; count is 0: none was taken, or it is not there any more. */
void memory_stack_read(const struct memory *memory, const struct matcher_match *match, struct memory_stack *stack);

#endif
