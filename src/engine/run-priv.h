/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ENGINE_RUN_PRIV_H
#define ENGINE_RUN_PRIV_H

/*
 * Runs and what holds them: their memory, the chains and the index they wait in, the timers. A run is laid out by what
 * its rule needs: the struct, the slots, then a timer where the rule has a limit, a history where it returns one and a
 * number of pending increments where it counts; so a run of a small rule is one cache line.
 *
 * Order is told by ordinals: every run gets the next one of the engine when it is opened or copied, so "in the order
 * they were opened" is ascending ordinals, across rules too.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine_history_node;

/*
 * A run. It is parked (in the index, in the timers if the rule has a limit, counted as live) or in the hands of the
 * step that opened, copied or ended it.
 */
struct engine_run {
	struct engine_run *prev; /* chain of its key: the first one's prev is the last one */
	struct engine_run *next; /* chain, free list, list of matched runs; the last one's is NULL */
	uint64_t ordinal;
	uint64_t epoch; /* the rule's loss epoch at the opening */
	uint32_t state;
	uint32_t hash; /* of its key, while in the index */
	char slots[];
};

/* Where a parked run stands among those of its rule, by first_ts. */
struct engine_timer {
	struct engine_run *later, *earlier;
	uint64_t first_ts;
};

/* The runs of one class that wait under one key, in opening order unless disordered. */
struct engine_chain {
	uint32_t hash;
	uint32_t class : 31; /* of the rule */
	uint32_t disordered : 1;
	struct engine_run *head; /* NULL: an empty entry of the table */
};

enum { ENGINE_CHUNKS_MAX = 32, ENGINE_CACHE_LINE = 64 };

/* The memory of a rule's runs: chunks of doubling size, a free list, and what no run has used yet. */
struct engine_runs {
	void *chunks[ENGINE_CHUNKS_MAX];
	uint32_t chunk_count;
	size_t run_bytes;
	size_t timer_offset, history_offset, pending_offset; /* in a run; 0: it has none */
	struct engine_run *free;
	char *fresh;
	size_t fresh_count;
};

/* Open addressing by the hash of class and key; never more than half full. */
struct engine_index {
	struct engine_chain *chains;
	size_t mask; /* size - 1; the size is a power of two */
};

/* Parked runs by first_ts. Copies join behind their originals, so equal ones may be out of opening order. */
struct engine_timers {
	struct engine_run *first, *last;
	bool in_heap;
	bool sorted; /* the runs with first_ts == sorted_ts at the front are in opening order */
	uint64_t sorted_ts;
};

static inline struct engine_timer *engine_timer_of(const struct engine_runs *runs, struct engine_run *run)
{
	return (struct engine_timer *)((char *)run + runs->timer_offset);
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
