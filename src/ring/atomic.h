/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RING_ATOMIC_H
#define RING_ATOMIC_H

/*
 * Every access to a ring's memory, one function per purpose, so that ring.h can name barriers and the model test can
 * put itself in their place.
 */

#include "ring/ring.h"

#include <time.h>

enum { RING_LOOKS = 16 }; /* how often a reader looks for a moment without a writer */

static inline uint64_t ring_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline uint64_t ring_word_load(struct ring_control *control)
{
	return atomic_load_explicit(&control->reserve, memory_order_acquire);
}

/* After reading data. Pairs with ring_word_exchange. */
static inline uint64_t ring_word_load_again(struct ring_control *control)
{
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&control->reserve, memory_order_acquire);
}

static inline bool ring_word_exchange(struct ring_control *control, uint64_t old, uint64_t new)
{
	if (!atomic_compare_exchange_strong(&control->reserve, &old, new))
		return false;
	atomic_thread_fence(memory_order_release);
	return true;
}

static inline uint64_t ring_told_load(struct ring_control *control)
{
	return atomic_load_explicit(&control->told, memory_order_acquire);
}

static inline uint64_t ring_told_comm_load(struct ring_control *control, int word)
{
	return atomic_load_explicit(&control->told_comm[word], memory_order_relaxed);
}

static inline void ring_told_comm_store(struct ring_control *control, int word, uint64_t value)
{
	atomic_store_explicit(&control->told_comm[word], value, memory_order_relaxed);
}

static inline void ring_told_store(struct ring_control *control, uint64_t told)
{
	atomic_store_explicit(&control->told, told, memory_order_release);
}

/* A reader's look. Pairs with ring_commit_add. */
static inline uint64_t ring_commit_load(struct ring_control *control, uint32_t slot)
{
	return atomic_load_explicit(&control->commits[slot], memory_order_acquire);
}

/* A writer's look before it opens a sub-buffer again. Pairs with ring_commit_add. */
static inline uint64_t ring_commit_check(struct ring_control *control, uint32_t slot)
{
	return atomic_load_explicit(&control->commits[slot], memory_order_acquire);
}

static inline void ring_commit_add(struct ring_control *control, uint32_t slot, uint64_t units)
{
	atomic_fetch_add_explicit(&control->commits[slot], units, memory_order_release);
}

/* The unreduced halves. Their writer has not committed yet, so they are never older than a lap. */
static inline uint64_t ring_long_load(_Atomic uint64_t *half)
{
	return atomic_load_explicit(half, memory_order_relaxed);
}

static inline void ring_long_store(_Atomic uint64_t *half, uint64_t value)
{
	atomic_store_explicit(half, value, memory_order_relaxed);
}

static inline uint64_t ring_data_load(_Atomic uint64_t *unit)
{
	return atomic_load_explicit(unit, memory_order_relaxed);
}

static inline void ring_data_store(_Atomic uint64_t *unit, uint64_t value)
{
	atomic_store_explicit(unit, value, memory_order_relaxed);
}

static inline void ring_drop_add(struct ring_control *control)
{
	atomic_fetch_add_explicit(&control->dropped, 1, memory_order_relaxed);
}

static inline uint64_t ring_drop_load(struct ring_control *control)
{
	return atomic_load_explicit(&control->dropped, memory_order_relaxed);
}

static inline uint64_t ring_unread_load(struct ring_control *control)
{
	return atomic_load_explicit(&control->unread, memory_order_relaxed);
}

#endif
