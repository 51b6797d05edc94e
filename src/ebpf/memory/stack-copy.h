/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_MEMORY_STACK_COPY_H
#define EBPF_MEMORY_STACK_COPY_H

/* Inside the stacks: the ring of copies. */

#include "ebpf/memory/stack-table.h"

struct emit;

/* How many there are, and how large; none where the kernel, or this architecture, cannot have them. */
struct memory_ring stack_copy_ring(void);

/* The function () that copies the stack of the current thread and returns the copy's number, 0: there is none. */
uint32_t stack_copy_function(struct emit *emit);

/* Takes copy number of the thread; false: it is not there any more. */
bool stack_copy_read(const struct memory *memory, uint64_t number, uint64_t ids, struct memory_stack *stack);

#endif
