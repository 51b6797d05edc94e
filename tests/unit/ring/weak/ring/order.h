/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RING_ORDER_H
#define RING_ORDER_H

/* Stands in for src/ring/order.h where test-order.c explores what a reader may see: see there. */

#include <stdint.h>

#define RING_LOOKS 1 /* a second look is another call */

enum weak_order { WEAK_RELAXED, WEAK_ORDERED };

uint64_t weak_load(const uint64_t *word, enum weak_order order);
void weak_store(uint64_t *word, uint64_t value, enum weak_order order);
void weak_fence_acquire(void);
void weak_fence_release(void);

static inline uint64_t ring_order_load(const uint64_t *word)
{
	return weak_load(word, WEAK_RELAXED);
}

static inline uint64_t ring_order_load_acquire(const uint64_t *word)
{
	return weak_load(word, WEAK_ORDERED);
}

static inline void ring_order_store(uint64_t *word, uint64_t value)
{
	weak_store(word, value, WEAK_RELAXED);
}

static inline void ring_order_store_release(uint64_t *word, uint64_t value)
{
	weak_store(word, value, WEAK_ORDERED);
}

static inline void ring_order_add(uint64_t *word, uint64_t value)
{
	weak_store(word, *word + value, WEAK_RELAXED);
}

static inline void ring_order_add_release(uint64_t *word, uint64_t value)
{
	weak_store(word, *word + value, WEAK_ORDERED);
}

static inline int ring_order_exchange(uint64_t *word, uint64_t old, uint64_t value)
{
	if (*word != old)
		return 0;
	weak_store(word, value, WEAK_ORDERED);
	return 1;
}

static inline void ring_order_fence_acquire(void)
{
	weak_fence_acquire();
}

static inline void ring_order_fence_release(void)
{
	weak_fence_release();
}

#endif
