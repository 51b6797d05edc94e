/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RING_ORDER_H
#define RING_ORDER_H

/*
 * The loads, stores and fences of which every access to a ring's memory is made, in C11 and C++11 alike. Each is what
 * <stdatomic.h> calls so. A test of memory orders puts its own in their place.
 */

#include <stdint.h>

static inline uint64_t ring_order_load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline uint64_t ring_order_load_acquire(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void ring_order_store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static inline void ring_order_store_release(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline void ring_order_add(uint64_t *word, uint64_t value)
{
	__atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}

static inline void ring_order_add_release(uint64_t *word, uint64_t value)
{
	__atomic_fetch_add(word, value, __ATOMIC_RELEASE);
}

/* Sequentially consistent. True: it held old, and now holds value. */
static inline int ring_order_exchange(uint64_t *word, uint64_t old, uint64_t value)
{
	return __atomic_compare_exchange_n(word, &old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* Its model has no fences, and the compiler says so at each. */
#if defined(__SANITIZE_THREAD__) && defined(__GNUC__) && __GNUC__ >= 11
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
static inline void ring_order_fence_acquire(void)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

static inline void ring_order_fence_release(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
}
#if defined(__SANITIZE_THREAD__) && defined(__GNUC__) && __GNUC__ >= 11
#pragma GCC diagnostic pop
#endif

#endif
