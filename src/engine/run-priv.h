/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ENGINE_RUN_PRIV_H
#define ENGINE_RUN_PRIV_H

/*
 * Runs and what holds them: their memory, the chains and the index they wait in, the timers. A run is laid out by what
 * its rule needs: the struct, the slots, then a timer where the rule has a limit, a history where it returns one and a
 * number of pending increments where it counts; so a run of a small rule is one cache line.
 *
 * Order is told by ordinals: every run gets the next one of the engine when it is opened or copied, so "in the order
 * they were opened" is ascending ordinals, across rules too. An instance of a machine gets another one whenever its
 * timer is armed anew: it stands alone under its key, so only timers ask for its place.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine_history_node;

/*
 * A run. It is parked (in the index, in the timers if the rule has a limit, counted as live) or in the hands of the
 * step that opened, copied or ended it. Parked runs of one class that wait under one key are a chain, in opening order
 * unless disordered.
 */
struct engine_run {
	struct engine_run *next; /* chain, free list, list of matched runs; the last one's is NULL */
	struct engine_run *prev; /* chain: the first one's prev is the last one */
	uint64_t ordinal;
	uint64_t epoch;           /* the rule's loss epoch at the opening */
	struct engine_run *aside; /* the first of a chain: that of the next chain in its bucket */
	uint32_t hash;            /* of class and key, while in the index */
	uint32_t class;           /* of the rule, while in the index */
	uint32_t state;
	bool disordered; /* the first of a chain: it has to be sorted */
	char slots[] __attribute__((aligned(8)));
};

_Static_assert(sizeof(struct engine_run) == 56, "a run with one slot takes one cache line");

/*
 * Of an instance of a machine, which stands alone in its chain, this is what an event looks at that finds it, with its
 * first slots, which are the key; so here a cache line begins.
 */
enum { ENGINE_INSTANCE_LEAD = offsetof(struct engine_run, aside) };

/* Rules begin with the epoch after this one. */
enum { ENGINE_EPOCH_MARKED };

/* Where a parked run stands among those of its rule, by first_ts. */
struct engine_timer {
	struct engine_run *later, *earlier;
	uint64_t first_ts;
};

/* Where a parked run stands among those of its rule, by when they were opened or copied. */
struct engine_age {
	struct engine_run *older, *younger;
};

enum { ENGINE_CHUNKS_MAX = 32, ENGINE_CACHE_LINE = 64 };

/* The memory of a rule's runs: chunks of doubling size, a free list, and what no run has used yet. */
struct engine_runs {
	void *chunks[ENGINE_CHUNKS_MAX];
	uint32_t chunk_count;
	size_t run_bytes;
	size_t lead;                                         /* how far into a run a cache line begins */
	size_t timer_offset, history_offset, pending_offset; /* in a run; 0: it has none */
	size_t age_offset;                                   /* likewise: struct engine_age */
	size_t who_offset;                                   /* likewise: who opened it */
	struct engine_run *free;
	char *fresh;
	size_t fresh_count;
};

/* A hash table: per bucket, the chains whose hashes end alike. It has at least twice as many buckets as there are runs.
 */
struct engine_index {
	struct engine_run **buckets;
	size_t mask; /* size - 1; the size is a power of two */
};

/* Parked runs by first_ts. Copies join behind their originals, so equal ones may be out of opening order. */
struct engine_timers {
	struct engine_run *first, *last;
	bool in_heap;   /* the engine's, of rules; */
	uint32_t place; /* and where */
	bool sorted;    /* the runs with first_ts == sorted_ts at the front are in opening order */
	uint64_t sorted_ts;
};

static inline struct engine_timer *engine_timer_of(const struct engine_runs *runs, struct engine_run *run)
{
	return (struct engine_timer *)((char *)run + runs->timer_offset);
}

/* Only where the rule keeps ages. */
static inline struct engine_age *engine_age_of(const struct engine_runs *runs, struct engine_run *run)
{
	return (struct engine_age *)((char *)run + runs->age_offset);
}

/* The place of the run's youngest event. Only where the rule keeps histories. */
static inline struct engine_history_node **engine_history_of(const struct engine_runs *runs, struct engine_run *run)
{
	return (struct engine_history_node **)((char *)run + runs->history_offset);
}

/* The pending increments of the chain that the run heads. Only where the rule has counted classes. */
static inline uint64_t *engine_pending_of(const struct engine_runs *runs, struct engine_run *run)
{
	return (uint64_t *)((char *)run + runs->pending_offset);
}

#endif
