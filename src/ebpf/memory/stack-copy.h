/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_MEMORY_STACK_COPY_H
#define EBPF_MEMORY_STACK_COPY_H

/* Inside the stacks: the ring of copies. */

#include "ebpf/memory/stack-table.h"

struct emit;

struct ebpf_asm;

/* Whether the registers of this architecture are known here. */
bool stack_image_is_known(void);

/* A task in a register that calls preserve, and where struct vm_area_struct has its file. */
struct stack_owner {
	uint8_t task;
	uint32_t file_offset;
};

/*
 * Fills the image at r8 + to with the stack of the current thread, or in a program that may wait for memory with the
 * owner's: of it only memory that is of no file, as file systems may take for ever to bring it. Overwrites r0-r5, r7,
 * r9.
 */
void stack_image_emit(struct ebpf_asm *as, int32_t to, const struct stack_owner *owner);

struct program_stack_copy stack_image_describe(const struct stack_image *image);

/* How many there are, and how large; none where the kernel, or this architecture, cannot have them. */
struct memory_ring stack_copy_ring(void);

/* The function () that copies the stack of the current thread and returns the copy's number, 0: there is none. */
uint32_t stack_copy_function(struct emit *emit);

/* Takes copy number of the thread; false: it is not there any more. */
bool stack_copy_read(const struct memory *memory, uint64_t number, uint64_t ids, struct memory_stack *stack);

#endif
