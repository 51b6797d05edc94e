// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides how an event finds its runs: one hash table per rule from (class, key values) to the chain of the runs that
 * wait there. A bucket is a list of the chains' first runs, so no more than the runs themselves is looked at, and
 * finding, inserting and removing take constant expected time however many runs are open. Hashes are seeded: who
 * chooses the keys cannot choose the collisions.
 *
 * A chain is in opening order. Only a run that moves can arrive behind younger ones; it is appended all the same and
 * the chain is sorted when an event next walks it, which visits all of it anyway.
 */

#include "engine/engine-priv.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum { FIRST_BUCKETS = 16 };

static uint64_t mix(uint64_t hash, uint64_t value)
{
	unsigned __int128 product = (unsigned __int128)(hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = mix(hash, (unsigned char)*text);
	return mix(hash, 256);
}

static inline uint64_t field_at(const char *record, const struct engine_part *part)
{
	return engine_word_at(record + part->field) & part->mask;
}

static inline uint32_t hash_of_record(const struct engine_key *key, const char *record)
{
	const struct engine_part *part = key->parts, *end = part + key->class->part_count;
	uint64_t hash = key->class->seed;

	for (; part < end; part++)
		hash = part->mask ? mix(hash, field_at(record, part)) : mix_text(hash, record + part->field);
	return (uint32_t)(hash ^ hash >> 32);
}

static inline uint32_t hash_of_slots(const struct engine_class *class, const char *slots)
{
	const struct engine_part *part = class->parts, *end = part + class->part_count;
	uint64_t hash = class->seed;

	for (; part < end; part++)
		hash = part->mask ? mix(hash, engine_word_at(slots + part->slot)) : mix_text(hash, slots + part->slot);
	return (uint32_t)(hash ^ hash >> 32);
}

static inline bool record_agrees(const struct engine_key *key, const char *record, const char *slots)
{
	const struct engine_part *part = key->parts, *end = part + key->class->part_count;

	for (; part < end; part++) {
		if (part->mask ? field_at(record, part) != engine_word_at(slots + part->slot)
			       : strcmp(record + part->field, slots + part->slot) != 0)
			return false;
	}
	return true;
}

static inline bool slots_agree(const struct engine_class *class, const char *a, const char *b)
{
	const struct engine_part *part = class->parts, *end = part + class->part_count;

	for (; part < end; part++) {
		if (part->mask ? engine_word_at(a + part->slot) != engine_word_at(b + part->slot)
			       : strcmp(a + part->slot, b + part->slot) != 0)
			return false;
	}
	return true;
}

static inline struct engine_run **bucket_of(const struct engine_rule *rule, uint32_t hash)
{
	return &rule->by_key.buckets[hash & rule->by_key.mask];
}

/* Restores opening order, which only moves disturb. The chain's first run stands at *link. */
static struct engine_run *sort(struct engine_run **link)
{
	struct engine_run *aside = (*link)->aside;
	struct engine_run *first = engine_runs_sort(*link, offsetof(struct engine_run, next)), *run = first;

	for (; run->next; run = run->next)
		run->next->prev = run;
	first->prev = run;
	first->aside = aside;
	first->disordered = false;
	*link = first;
	return first;
}

struct engine_run *engine_index_find(struct engine_rule *rule, const struct engine_key *key,
				     const struct event_header *record)
{
	uint32_t hash = hash_of_record(key, (const char *)record);

	for (struct engine_run *run, **link = bucket_of(rule, hash); (run = *link); link = &run->aside) {
		if (run->hash == hash && run->class == key->class->index &&
		    record_agrees(key, (const char *)record, run->slots))
			return run->disordered ? sort(link) : run;
	}
	return NULL;
}

struct engine_run *engine_index_find_slots(struct engine_rule *rule, const struct engine_class *class,
					   const char *slots)
{
	uint32_t hash = hash_of_slots(class, slots);
	struct engine_run *run = *bucket_of(rule, hash);

	while (run && !(run->hash == hash && run->class == class->index && slots_agree(class, run->slots, slots)))
		run = run->aside;
	return run;
}

int engine_index_grow(struct engine_rule *rule)
{
	struct engine_index *index = &rule->by_key;
	size_t size = index->buckets ? index->mask + 1 : 0, wanted = size ? size * 2 : FIRST_BUCKETS;
	struct engine_run **buckets = alloc_zero(wanted, sizeof *buckets), *aside;

	if (!buckets)
		return -ENOMEM;
	for (size_t i = 0; i < size; i++) {
		for (struct engine_run *run = index->buckets[i]; run; run = aside) {
			struct engine_run **bucket = &buckets[run->hash & (wanted - 1)];

			aside = run->aside;
			run->aside = *bucket;
			*bucket = run;
		}
	}
	alloc_free(index->buckets);
	index->buckets = buckets;
	index->mask = wanted - 1;
	return 0;
}

static void add_to_count(struct engine_run *run, const struct engine_counting *counting, uint64_t increment)
{
	uint64_t count = engine_word_at(run->slots + counting->slot_offset) + increment;

	memcpy(run->slots + counting->slot_offset, &count, sizeof count);
}

void engine_index_spread(struct engine_rule *rule, const struct engine_counting *counting, struct engine_run *first)
{
	uint64_t *pending = engine_pending_of(&rule->runs, first);

	if (!*pending)
		return;
	for (struct engine_run *run = first; run; run = run->next)
		add_to_count(run, counting, *pending);
	*pending = 0;
}

static void append(struct engine_rule *rule, const struct engine_class *class, struct engine_run *first,
		   struct engine_run *run)
{
	struct engine_run *last = first->prev;

	if (class->counting)
		add_to_count(run, class->counting, 0 - *engine_pending_of(&rule->runs, first));
	if (last->ordinal > run->ordinal)
		first->disordered = true;
	last->next = run;
	run->prev = last;
	first->prev = run;
}

void engine_index_insert(struct engine_rule *rule, struct engine_run *run)
{
	const struct engine_class *class = &rule->classes[rule->states[run->state].class];
	struct engine_run **bucket, *first;

	run->hash = hash_of_slots(class, run->slots);
	run->class = class->index;
	run->next = NULL;
	bucket = bucket_of(rule, run->hash);
	for (first = *bucket; first; first = first->aside) {
		if (first->hash == run->hash && first->class == run->class &&
		    slots_agree(class, first->slots, run->slots)) {
			append(rule, class, first, run);
			return;
		}
	}
	run->prev = run;
	run->aside = *bucket;
	run->disordered = false;
	*bucket = run;
	if (class->counting)
		*engine_pending_of(&rule->runs, run) = 0;
}

/* The run's count becomes what it should be; what is pending stays with the chain. */
static void leave_count(struct engine_rule *rule, const struct engine_counting *counting, struct engine_run *first,
			struct engine_run *run)
{
	uint64_t pending = *engine_pending_of(&rule->runs, first);

	add_to_count(run, counting, pending);
	if (run == first && run->next)
		*engine_pending_of(&rule->runs, run->next) = pending;
}

/* The first run of a chain gives its place to the second, if there is one. */
static inline void remove_first(struct engine_rule *rule, struct engine_run *run)
{
	struct engine_run **link = bucket_of(rule, run->hash), *second = run->next;

	while (*link != run)
		link = &(*link)->aside;
	if (second) {
		second->prev = run->prev;
		second->aside = run->aside;
		second->disordered = run->disordered;
	}
	*link = second ? second : run->aside;
}

/* The first run of the chain that the run, which is not the first itself, is the last one of. */
static struct engine_run *first_of(const struct engine_rule *rule, const struct engine_run *last)
{
	struct engine_run *run = *bucket_of(rule, last->hash);

	while (run->prev != last)
		run = run->aside;
	return run;
}

static struct engine_run *first_with_key(struct engine_rule *rule, const struct engine_class *class,
					 const struct engine_run *run)
{
	struct engine_run *first = *bucket_of(rule, run->hash);

	while (!(first->hash == run->hash && first->class == run->class &&
		 slots_agree(class, first->slots, run->slots)))
		first = first->aside;
	return first;
}

void engine_index_remove(struct engine_rule *rule, struct engine_run *run)
{
	const struct engine_class *class = &rule->classes[run->class];
	bool is_first = !run->prev->next;

	if (class->counting)
		leave_count(rule, class->counting, is_first ? run : first_with_key(rule, class, run), run);
	if (is_first) {
		remove_first(rule, run);
		return;
	}
	if (run->next)
		run->next->prev = run->prev;
	else
		first_of(rule, run)->prev = run->prev;
	run->prev->next = run->next;
}
