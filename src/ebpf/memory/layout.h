/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_MEMORY_LAYOUT_H
#define EBPF_MEMORY_LAYOUT_H

/*
 * Where everything lies that generated code and this process share: runs, buckets and counters of all rules, tallies,
 * stacks and the lists of the sweep. As few array maps as possible hold it, whose only value is addressed directly; all
 * are mapped into this process. What lies there is told in memory.h; what is needed, in the plan.
 */

#include "base/diag.h"
#include "ebpf/kernel/array.h"
#include "ebpf/memory/memory.h"
#include "ebpf/plan/plan.h"

#include <stddef.h>

enum { MEMORY_MAPS_MAX = 48 };

/* A piece of the value of a map. */
struct memory_region {
	uint32_t map; /* index in maps */
	uint32_t off;
};

/* stack-ring.h */
struct memory_ring {
	struct memory_region at;
	uint32_t entries; /* a power of two; 0: there is none */
	uint32_t entry_bytes;
};

/*
 * The sums of one rule, with as many halves, and indexes of keys and buckets, as the plan says. Lanes are for CPUs, so
 * that these do not meet at the sums of a key that many matches have.
 */
struct memory_sums {
	uint32_t lanes;               /* of a half; a power of two */
	uint32_t hash_bits;           /* 2^this chains of keys */
	struct memory_region heads;   /* struct matcher_sums, per half */
	struct memory_region chains;  /* uint32_t: the first key's number; per index */
	struct memory_region keys;    /* struct matcher_sums_key and the key, from number 0 on; per index */
	struct memory_region rows;    /* words, per half, lane and number of a key */
	struct memory_region names;   /* uint64_t: which bucket of which key has the place; 0: it is free; per index */
	struct memory_region buckets; /* uint64_t: how many values; per half, lane and place */
};

/* What is one rule's. */
struct memory_rule {
	uint32_t stride; /* bytes of a run */
	uint32_t places; /* for runs: the pool and, where the rule replaces, one more for each CPU */
	/* ages.c: of 2^segment_bits places each: uint64_t, a time before which none of its runs was made; 0: it has had
	 * none
	 */
	struct memory_region segments;
	struct memory_region opened; /* PER PROCESS: u64 for each of PROGRAM_OPENERS, how many runs it opened */
	uint32_t segment_bits, segment_count;
	bool keeps_one; /* each CPU keeps a free place for itself: memory/pool.c */
	struct memory_region control, cpus, runs, buckets, scratch;
	struct memory_region
		log; /* of the events of its runs, if the plan says so: struct matcher_entry and the record */
	struct memory_region why; /* what becomes of runs, for every CPU why_stride bytes */
	uint32_t why_stride;
	struct memory_sums sums;
};

struct memory {
	const struct plan *plan;
	uint32_t cpu_count;
	struct memory_rule *rules;               /* per rule of the program */
	struct ebpf_array maps[MEMORY_MAPS_MAX]; /* of those that are not made yet, bytes alone */
	uint32_t map_count;
	bool asked_large_values, large_values;
	int ring_fd; /* of matches */
	int *queues; /* maps of raised events, one for each program and part in it */
	size_t queue_count, queue_capacity;
	struct memory_region patterns; /* struct ebpf_pattern, as the nodes of the plan number them */
	struct memory_region zero;     /* bytes that stay 0: memory/frame.c */
	struct memory_region work;     /* the list of the sweep */
	struct memory_region feed;     /* the record of a test run */
	struct memory_ring stacks;     /* stack-table.h */
	struct memory_ring copies;     /* stack-copy.h */
	struct memory_region tallies; /* for every CPU tally_stride bytes, in them those of a statement at its offset */
	uint32_t tally_stride, *tally_offsets;
	struct memory_region seen; /* events per type of the program, for every CPU seen_stride bytes */
	uint32_t seen_stride;
	uint64_t multiplier; /* of the hashes of keys of runs: memory/hash.c */
	uint64_t sums_seed;  /* of the hashes of keys: observed processes choose them */
};

/* Settles where everything is, then makes the maps that hold it, and the ring. memory is zeroed before. Returns 0 or an
 * -errno with a message; memory_fini in any case. */
int memory_init(struct memory *memory, const struct plan *plan, uint32_t ring_bytes, struct asterism_diag *diag);
void memory_fini(struct memory *memory);

uint64_t memory_draw_multiplier(void);

/* Room for the raised events of one program: the descriptor of its map, which memory keeps, or -errno. */
int memory_make_queue(struct memory *memory, uint64_t bytes);

/* Adds what statement (of the program), a Count or Histogram, has counted to buckets (REACT_BUCKETS of them). */
void memory_tally(const struct memory *memory, uint32_t statement, uint64_t *buckets);

/* Adds what became of rule's runs (program/why/why.h) to counts. */
void memory_count_why(const struct memory *memory, uint32_t rule, uint64_t *counts);

/* Bytes of kernel memory that rule's pool, index and log take. */
uint64_t ebpf_pool_bytes(const struct program *program, uint32_t rule);

/* How many events all runs of rule together keep for RETURN SEQUENCE at most; 0: as many as they need. */
uint32_t ebpf_kept_events(const struct program *program, uint32_t rule);

static inline void *memory_at(const struct memory *memory, const struct memory_region *region)
{
	return (uint8_t *)memory->maps[region->map].memory + region->off;
}

#endif
