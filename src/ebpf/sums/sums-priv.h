/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_SUMS_SUMS_PRIV_H
#define EBPF_SUMS_SUMS_PRIV_H

/*
 * Inside the sums: the function that adds up one match. r6 = the room with its key and values, r7 = the half, r8 = the
 * number of its key, r9 = the key, later its row. It calls nothing.
 */

#include "ebpf/sums/sums.h"

enum { SUMS_TRIES = 64 }; /* of exchanges that other CPUs may spoil */

/* The name of a bucket: the key's number, the aggregate and the bucket, which may be negative. */
enum { SUMS_NAME_BUCKET_BITS = 10, SUMS_NAME_ZERO = 1 << 9, SUMS_NAME_AGGREGATE_BITS = 5 };

_Static_assert((int)AGGREGATE_BUCKETS <= (int)SUMS_NAME_ZERO, "either sign has room");
_Static_assert((int)PROGRAM_AGGREGATES_MAX <= 1 << SUMS_NAME_AGGREGATE_BITS, "each has a number");

/* The code of the function, under way. */
struct sums_code {
	struct emit *emit;
	struct ebpf_asm *as;
	const struct plan_sums *plan;
	const struct memory_sums *at;
	const struct program_aggregation *row;
	uint32_t deliver; /* leaves with the match not added */
	int16_t lane;     /* on the stack: which lane of which half */
};

/* The multiplier of memory/hash.c's hashes. */
static const uint64_t SUMS_MULTIPLIER = 0x9e3779b97f4a7c15;

/*
 * The room: the key as aggregate_table has it; a word with a bit for each aggregate that the match has a value for;
 * their values.
 */
static inline int32_t sums_room_there(const struct plan_sums *plan)
{
	return (int32_t)plan->key_bytes;
}

static inline int32_t sums_room_value(const struct plan_sums *plan, uint32_t aggregate)
{
	return (int32_t)(plan->key_bytes + 8 + aggregate * 8);
}

/* sums: the function (CPU, time) that adds up the match in the CPU's room: 0, or 1 where it is to be delivered. */
uint32_t sums_function(struct emit *emit);

/* address: bytes of one CPU's room in the map; whether a value of the rule may be missing. */
uint32_t sums_room_bytes(const struct plan *plan);
bool sums_may_lack(const struct emit *emit, const struct program_aggregate *row);
/* dst = the address of byte 0 of the region. */
void sums_load_region(const struct sums_code *code, uint8_t dst, const struct memory_region *region);
/* dst, a number, becomes the address of that row of 1 << shift bytes; each half that is indexed has 1 << bits of them.
 * Overwrites r0. */
void sums_load_row(const struct sums_code *code, uint8_t dst, const struct memory_region *region, uint32_t bits,
		   int32_t shift);
/* dst = the head of the half in r7; of_index: of the half whose index it goes by. */
void sums_load_head(const struct sums_code *code, uint8_t dst, bool of_index);
/* Leaves for absent where the match has no value for the aggregate. Overwrites r0. */
void sums_emit_if_there(const struct sums_code *code, uint32_t aggregate, uint32_t absent);

/* key: r8 = the number of the key, a new one where there is room. Overwrites r0-r5, r9. */
void sums_emit_key(const struct sums_code *code);

/*
 * bucket: the value of the aggregate in the room becomes the place of its bucket; leaves for deliver where there is
 * none. Overwrites r0-r5. And adds one to that place.
 */
void sums_emit_place(const struct sums_code *code, uint32_t aggregate);
void sums_emit_bucket(const struct sums_code *code, uint32_t aggregate);

#endif
