/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RING_ATOMIC_H
#define RING_ATOMIC_H

/*
 * Stands in for src/ring/atomic.h where the merge is explored: before each look at a word that writers change others
 * may run. What a writer writes is written in one step, so looks at data need none.
 */

#include "ring/ring.h"

#define RING_LOOKS 2

void model_step(void);

static inline uint64_t ring_clock_now(const struct ring *ring)
{
	return ring->now();
}

static inline uint64_t ring_word_load(struct ring_control *control)
{
	model_step();
	return control->reserve;
}

static inline uint64_t ring_word_load_again(struct ring_control *control)
{
	model_step();
	return control->reserve;
}

static inline uint64_t ring_commit_load(struct ring_control *control, uint32_t slot)
{
	model_step();
	return control->commits[slot];
}

static inline uint64_t ring_long_load(uint64_t *half)
{
	return *half;
}

static inline uint64_t ring_data_load(uint64_t *unit)
{
	return *unit;
}

static inline uint64_t ring_drop_load(struct ring_control *control)
{
	return control->dropped;
}

static inline uint64_t ring_unread_load(struct ring_control *control)
{
	return control->unread;
}

#endif
