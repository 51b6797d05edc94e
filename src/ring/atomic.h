/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RING_ATOMIC_H
#define RING_ATOMIC_H

/*
 * Every access to a ring's memory, one function per purpose, so that ring.h can name barriers and the model test can
 * put itself in their place.
 */

#include "ring/counter.h"
#include "ring/order.h"
#include "ring/ring.h"

#include <time.h>

#ifndef RING_LOOKS
#define RING_LOOKS 16 /* how often a reader looks for a moment without a writer */
#endif

static inline uint64_t ring_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline uint64_t ring_clock_tsc(void)
{
	return ring_counter(0); /* none: ring_clock_is_there */
}

static inline uint64_t ring_clock_now(const struct ring *ring)
{
	if (ring->now)
		return ring->now();
	return ring->clock == RING_CLOCK_TSC ? ring_clock_tsc() : ring_clock_ns();
}

static inline uint64_t ring_word_load(struct ring_control *control)
{
	return ring_order_load_acquire(&control->reserve);
}

/* After reading data. Pairs with ring_word_exchange. */
static inline uint64_t ring_word_load_again(struct ring_control *control)
{
	ring_order_fence_acquire();
	return ring_order_load_acquire(&control->reserve);
}

static inline bool ring_word_exchange(struct ring_control *control, uint64_t old, uint64_t new)
{
	if (!ring_order_exchange(&control->reserve, old, new))
		return false;
	ring_order_fence_release();
	return true;
}

static inline uint64_t ring_reported_load(struct ring_control *control)
{
	return ring_order_load_acquire(&control->reported);
}

static inline uint64_t ring_reported_comm_load(struct ring_control *control, int word)
{
	return ring_order_load(&control->reported_comm[word]);
}

static inline void ring_reported_comm_store(struct ring_control *control, int word, uint64_t value)
{
	ring_order_store(&control->reported_comm[word], value);
}

static inline void ring_reported_store(struct ring_control *control, uint64_t reported)
{
	ring_order_store_release(&control->reported, reported);
}

/* A reader's look. Pairs with ring_commit_add. */
static inline uint64_t ring_commit_load(struct ring_control *control, uint32_t slot)
{
	return ring_order_load_acquire(&control->commits[slot]);
}

/* A writer's look before it opens a sub-buffer again. Pairs with ring_commit_add. */
static inline uint64_t ring_commit_check(struct ring_control *control, uint32_t slot)
{
	return ring_order_load_acquire(&control->commits[slot]);
}

static inline void ring_commit_add(struct ring_control *control, uint32_t slot, uint64_t units)
{
	ring_order_add_release(&control->commits[slot], units);
}

/* The unreduced halves, whose writer has not committed yet, so that they are never older than a lap; and when the next
 * sub-buffer is due. */
static inline uint64_t ring_long_load(uint64_t *half)
{
	return ring_order_load(half);
}

static inline void ring_long_store(uint64_t *half, uint64_t value)
{
	ring_order_store(half, value);
}

static inline uint64_t ring_data_load(uint64_t *unit)
{
	return ring_order_load(unit);
}

static inline void ring_data_store(uint64_t *unit, uint64_t value)
{
	ring_order_store(unit, value);
}

static inline void ring_drop_add(struct ring_control *control)
{
	ring_order_add(&control->dropped, 1);
}

static inline uint64_t ring_drop_load(struct ring_control *control)
{
	return ring_order_load(&control->dropped);
}

static inline uint64_t ring_unread_load(struct ring_control *control)
{
	return ring_order_load(&control->unread);
}

#endif
