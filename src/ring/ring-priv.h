/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RING_RING_PRIV_H
#define RING_RING_PRIV_H

/* Arithmetic of positions that both sides share. */

#include "ring/ring.h"

/* The full value nearest to about whose low half is low. */
static inline uint64_t ring_lengthen(uint64_t about, uint32_t low)
{
	return about + (uint64_t)(int64_t)(int32_t)(low - (uint32_t)about);
}

static inline uint32_t ring_word_position(uint64_t word)
{
	return (uint32_t)word;
}

static inline uint32_t ring_word_events(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

static inline uint32_t ring_slot(const struct ring *ring, uint64_t position)
{
	return (uint32_t)(position / ring->sub_units) & (ring->sub_count - 1);
}

static inline uint64_t *ring_unit(const struct ring *ring, uint64_t position)
{
	return &ring->data[position & ((uint64_t)ring->sub_units * ring->sub_count - 1)];
}

/* Whether the sub-buffer has been opened again: data read before the call may be of another lap. */
bool ring_is_overwritten(const struct ring *ring, uint64_t sequence);

/*
 * Whether no writer was between reservation and commit at some moment of this call; false where it was not seen. Stores
 * the position at which they were then, and the reserve word, which changes with the next reservation.
 */
bool ring_is_at_rest(const struct ring *ring, uint64_t *position, uint64_t *word);

#endif
