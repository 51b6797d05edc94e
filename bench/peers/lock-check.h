/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PEERS_LOCK_CHECK_H
#define PEERS_LOCK_CHECK_H

/* @kernel-locks as somebody writes it in C who knows what is asked and nothing else. */

#include <stdbool.h>
#include <stdint.h>

enum {
	LOCK_CHECK_LOCKS = 1 << 14,
	LOCK_CHECK_EDGES = 1 << 16,
	LOCK_CHECK_CPUS = 64,
	LOCK_CHECK_DEPTH = 4,
	LOCK_CHECK_CIRCLE = 5, /* so many locks has the longest one that is looked for */
};

enum lock_use { LOCK_FRESH, LOCK_WITH_INTERRUPTS, LOCK_IN_INTERRUPTS, LOCK_TOLD };

struct lock_entry {
	uint64_t lock, used_at, held_at;
	uint32_t owner, generation;
	uint8_t use;
	bool is_held, is_on_path;
	struct lock_edge *out; /* the edges of which it is the outer one */
	uint64_t search;       /* that met it last */
};

struct lock_edge {
	uint64_t outer, inner, outer_at, inner_at;
	uint32_t outer_generation, inner_generation;
	struct lock_entry *to;
	struct lock_edge *next; /* of the same outer lock */
};

struct lock_stack {
	uint32_t count, owner;
	uint64_t locks[LOCK_CHECK_DEPTH], places[LOCK_CHECK_DEPTH]; /* the newest first */
};

struct lock_check {
	struct lock_entry locks[LOCK_CHECK_LOCKS];
	struct lock_edge edges[LOCK_CHECK_EDGES];
	struct lock_stack stacks[LOCK_CHECK_CPUS];
	struct lock_entry *met[LOCK_CHECK_LOCKS]; /* by the search at work */
	uint64_t searches, warnings;
	void (*on_warning)(const char *what, uint64_t lock, uint64_t here, uint64_t there);
};

struct lock_taking {
	uint64_t lock, place;
	uint32_t cpu, tid;
	bool is_read, is_nested; /* nested: by subclass, or only tried */
	bool interrupts_off, in_interrupt;
};

void lock_check_acquire(struct lock_check *check, const struct lock_taking *taking);
void lock_check_release(struct lock_check *check, uint32_t cpu, uint64_t lock);
void lock_check_init(struct lock_check *check, uint64_t lock);
void lock_check_schedule(struct lock_check *check, uint32_t cpu, uint32_t previous);

#endif
