/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ENGINE_MACHINE_PRIV_H
#define ENGINE_MACHINE_PRIV_H

/*
 * What a machine has beyond a rule. Its runs are instances, at most one per key. An instance is laid out as a run, then
 * its place in the heap of timers where the machine has any, then a link for each index of parts of the key.
 */

#include "engine/engine-priv.h"

/* Where an instance is in an index of some parts of the key. */
struct engine_any_link {
	struct engine_run *next, *prev; /* as a run's in its chain */
	struct engine_run *aside;
	uint32_t hash;
	bool is_first; /* of its chain: so that taking it out need not look at others */
};

/* Finds the instances that agree in some parts of the key: what events say `*` for the rest. */
struct engine_any {
	struct engine_class class; /* the parts, as slots carry them */
	uint32_t mask;             /* bit i: slot i of the machine's class is one of them */
	size_t link_offset;        /* in an instance */
	struct engine_index index;
};

/* An instance whose timer is set, for this time or a later one; at one time the one that was armed first comes first.
 */
struct engine_due {
	uint64_t at, ordinal;
	struct engine_run *run;
};

struct engine_machine {
	struct engine_any *any; /* one per set of parts that some event type has */
	uint32_t any_count;
	uint32_t notice_offset, timer_offset; /* of these slots in the slot area */
	uint32_t context_offsets[4];          /* cpu, pid, tid, comm */
	bool has_timer;
	size_t place_offset;    /* in an instance: its place in due from 1 on, 0 if it is not there */
	struct engine_due *due; /* a heap, four children each; has room for every instance */
	size_t due_room, due_count;
};

static inline struct engine_any_link *engine_any_link_of(const struct engine_any *any, struct engine_run *run)
{
	return (struct engine_any_link *)((char *)run + any->link_offset);
}

static inline size_t *engine_due_place_of(const struct engine_machine *machine, struct engine_run *run)
{
	return (size_t *)((char *)run + machine->place_offset);
}

/* any.c */
/* Sees to it that all indices have as many buckets as wanted. Returns 0, -ENOMEM. */
int engine_any_grow(struct engine_machine *machine, size_t wanted);
void engine_any_insert(struct engine_any *any, struct engine_run *run);
void engine_any_remove(struct engine_any *any, struct engine_run *run);
/* The first of the instances, in opening order, that agree with the record's parts; or NULL. */
struct engine_run *engine_any_look(const struct engine_any *any, const struct engine_part *parts, const char *record);

/* due.c */
/* Makes room for one more than count instances. Returns 0, -ENOMEM. */
int engine_due_reserve(struct engine_machine *machine, size_t count);
/* The instance that is due first, or NULL. */
struct engine_run *engine_due_first(struct engine_machine *machine);
/* at, which is in its timer slot, 0: the instance has no timer. */
void engine_due_set(struct engine_machine *machine, struct engine_run *run, uint64_t at);

#endif
