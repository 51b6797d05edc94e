/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RING_ATOMIC_H
#define RING_ATOMIC_H

/* Stands in for src/ring/atomic.h where the ring is explored: every access is a step of the model in test-model.c. */

#include "ring/ring.h"

enum { RING_LOOKS = 2 };

enum model_kind {
	MODEL_CLOCK,
	MODEL_WORD,
	MODEL_WORD_AGAIN,
	MODEL_EXCHANGE,
	MODEL_TOLD,
	MODEL_TOLD_COMM,
	MODEL_TOLD_COMM_STORE,
	MODEL_TOLD_STORE,
	MODEL_COMMIT,
	MODEL_COMMIT_CHECK,
	MODEL_COMMIT_ADD,
	MODEL_LONG,
	MODEL_LONG_STORE,
	MODEL_DATA,
	MODEL_DATA_STORE,
	MODEL_DROP_ADD,
	MODEL_DROP,
};

uint64_t model_access(enum model_kind kind, uint64_t *at, uint64_t a, uint64_t b);

static inline uint64_t ring_clock_now(const struct ring *ring)
{
	(void)ring;
	return model_access(MODEL_CLOCK, NULL, 0, 0);
}

static inline uint64_t ring_word_load(struct ring_control *control)
{
	return model_access(MODEL_WORD, &control->reserve, 0, 0);
}

static inline uint64_t ring_word_load_again(struct ring_control *control)
{
	return model_access(MODEL_WORD_AGAIN, &control->reserve, 0, 0);
}

static inline bool ring_word_exchange(struct ring_control *control, uint64_t old, uint64_t new)
{
	return model_access(MODEL_EXCHANGE, &control->reserve, old, new);
}

static inline uint64_t ring_reported_load(struct ring_control *control)
{
	return model_access(MODEL_TOLD, &control->reported, 0, 0);
}

static inline uint64_t ring_reported_comm_load(struct ring_control *control, int word)
{
	return model_access(MODEL_TOLD_COMM, &control->reported_comm[word], 0, 0);
}

static inline void ring_reported_comm_store(struct ring_control *control, int word, uint64_t value)
{
	model_access(MODEL_TOLD_COMM_STORE, &control->reported_comm[word], value, 0);
}

static inline void ring_reported_store(struct ring_control *control, uint64_t reported)
{
	model_access(MODEL_TOLD_STORE, &control->reported, reported, 0);
}

static inline uint64_t ring_commit_load(struct ring_control *control, uint32_t slot)
{
	return model_access(MODEL_COMMIT, &control->commits[slot], 0, 0);
}

static inline uint64_t ring_commit_check(struct ring_control *control, uint32_t slot)
{
	return model_access(MODEL_COMMIT_CHECK, &control->commits[slot], 0, 0);
}

static inline void ring_commit_add(struct ring_control *control, uint32_t slot, uint64_t units)
{
	model_access(MODEL_COMMIT_ADD, &control->commits[slot], units, 0);
}

static inline uint64_t ring_long_load(uint64_t *half)
{
	return model_access(MODEL_LONG, half, 0, 0);
}

static inline void ring_long_store(uint64_t *half, uint64_t value)
{
	model_access(MODEL_LONG_STORE, half, value, 0);
}

static inline uint64_t ring_data_load(uint64_t *unit)
{
	return model_access(MODEL_DATA, unit, 0, 0);
}

static inline void ring_data_store(uint64_t *unit, uint64_t value)
{
	model_access(MODEL_DATA_STORE, unit, value, 0);
}

static inline void ring_drop_add(struct ring_control *control)
{
	model_access(MODEL_DROP_ADD, &control->dropped, 1, 0);
}

static inline uint64_t ring_drop_load(struct ring_control *control)
{
	return model_access(MODEL_DROP, &control->dropped, 0, 0);
}

static inline uint64_t ring_unread_load(struct ring_control *control)
{
	return model_access(MODEL_DROP, &control->unread, 0, 0);
}

#endif
