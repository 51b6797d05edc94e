/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_MEMORY_STOCK_H
#define EBPF_MEMORY_STOCK_H

/*
 * Places of one kind that a rule's code takes and gives back: those of its runs (memory/pool.c), those of the events
 * that they keep (memory/log.c). They are numbered from 1.
 */

#include "ebpf/memory/emit.h"

struct emit_stock {
	const struct memory_region *places;  /* from number 0 on, which is nobody's */
	uint32_t bytes, count;               /* of one; of all but number 0; */
	uint32_t fresh;                      /* of these, how many are there for whoever asks first */
	int32_t next;                        /* where a free one has the number of the next */
	int32_t free;                        /* a CPU's stack, in its line */
	const struct memory_region *counter; /* how many were ever taken, */
	int32_t used;                        /* at this offset */
	const char *take, *release;          /* names of the functions */
	/* What else is done as the place in r6 is given back, or is not: leaves for stays. Keeps r6-r8. May be NULL. */
	void (*before_release)(struct emit *emit, uint32_t stays);
};

/* There is none; another CPU was faster. */
struct emit_stock_exits {
	uint32_t empty, missed;
};

/*
 * The top place leaves the stack of the line in r1: its number is then in `number`. The place at address `place` with
 * number r5 goes there, or leaves for missed. Overwrites r0, r2-r5.
 */
void memory_stock_pop(struct emit *emit, const struct emit_stock *stock, uint8_t number,
		      const struct emit_stock_exits *exits);
void memory_stock_push(struct emit *emit, const struct emit_stock *stock, uint8_t place, uint32_t missed);

/* Functions (): a place, 0: there is none, more than their count: too much contention; (number): gives it back. */
uint32_t memory_stock_function_take(struct emit *emit, const struct emit_stock *stock);
uint32_t memory_stock_function_release(struct emit *emit, const struct emit_stock *stock);

#endif
