/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_MEMORY_STACK_RING_H
#define EBPF_MEMORY_STACK_RING_H

/*
 * A ring of entries that generated code writes round and round, for what is too large to go with a match: the match
 * knows the number of its entry, and the entry says which number it holds by now, so a reader that comes too late
 * notices. A writer claims an entry by one compare-and-exchange of its number and refuses one that another writer is
 * at; the exchange that puts the new number releases what it has written to the acquiring load of the reader, who looks
 * at the number before and after.
 */

#include "ebpf/memory/layout.h"

/* In front of the entries: how many were ever taken. */
enum { STACK_RING_HEAD_BYTES = 64 };

/* What the number of an entry is while it is being written. */
#define STACK_RING_BUSY UINT64_MAX

/* What each entry begins with. */
struct stack_ring_entry {
	uint64_t number; /* 1 to UINT32_MAX; 0: it holds none; STACK_RING_BUSY */
	uint64_t ids;    /* tgid << 32 | tid of the thread */
};

static inline uint64_t stack_ring_bytes(const struct memory_ring *ring)
{
	return STACK_RING_HEAD_BYTES + (uint64_t)ring->entries * ring->entry_bytes;
}

/* Claims the next entry for the current thread: r6 = its number, r8 = its address; or leaves for no. */
struct emit;
void memory_ring_claim(struct emit *emit, const struct memory_ring *ring, uint32_t no);
/* The entry in r8 holds number r6 from now on, 0: nothing. Overwrites r1. */
void memory_ring_publish(struct emit *emit);

/* The entry that holds number and is of the thread; NULL: there is none any more. What is read there afterwards was
 * its own if stack_ring_holds is true then. */
const void *stack_ring_find(const struct memory *memory, const struct memory_ring *ring, uint64_t number, uint64_t ids);
bool stack_ring_holds(const void *entry, uint64_t number);

#endif
