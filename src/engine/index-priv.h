/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ENGINE_INDEX_PRIV_H
#define ENGINE_INDEX_PRIV_H

/*
 * The index as steps use it: what happens for almost every event is here, so that it becomes part of the step; what is
 * rare is in index.c, which says how the index works.
 */

#include "engine/engine-priv.h"

static inline uint64_t engine_index_mix(uint64_t hash, uint64_t value)
{
	unsigned __int128 product = (unsigned __int128)(hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The same with a text. */
uint64_t engine_index_mix_text(uint64_t hash, const char *text);

static inline uint32_t engine_index_hash_of_record(const struct engine_key *key, const char *record)
{
	const struct engine_part *part = key->parts, *end = part + key->class->part_count;
	uint64_t hash = key->class->seed;

	for (; part < end; part++)
		hash = part->field.mask ? engine_index_mix(hash, engine_field_at(&part->field, record))
					: engine_index_mix_text(hash, record + part->field.offset);
	return (uint32_t)(hash ^ hash >> 32);
}

static inline uint32_t engine_index_hash_of_slots(const struct engine_class *class, const char *slots)
{
	const struct engine_part *part = class->parts, *end = part + class->part_count;
	uint64_t hash = class->seed;

	for (; part < end; part++)
		hash = part->field.mask ? engine_index_mix(hash, engine_word_at(slots + part->slot))
					: engine_index_mix_text(hash, slots + part->slot);
	return (uint32_t)(hash ^ hash >> 32);
}

static inline bool engine_index_record_agrees(const struct engine_key *key, const char *record, const char *slots)
{
	const struct engine_part *part = key->parts, *end = part + key->class->part_count;

	for (; part < end; part++) {
		if (part->field.mask ? engine_field_at(&part->field, record) != engine_word_at(slots + part->slot)
				     : strcmp(record + part->field.offset, slots + part->slot) != 0)
			return false;
	}
	return true;
}

static inline bool engine_index_slots_agree(const struct engine_class *class, const char *a, const char *b)
{
	const struct engine_part *part = class->parts, *end = part + class->part_count;

	for (; part < end; part++) {
		if (part->field.mask ? engine_word_at(a + part->slot) != engine_word_at(b + part->slot)
				     : strcmp(a + part->slot, b + part->slot) != 0)
			return false;
	}
	return true;
}

static inline struct engine_run **engine_index_bucket_of(const struct engine_rule *rule, uint32_t hash)
{
	return &rule->by_key.buckets[hash & rule->by_key.mask];
}

/* Restores the opening order of the chain whose first run stands at *link. Returns its new first run. */
struct engine_run *engine_index_sort(struct engine_run **link);
/* Puts a run at the end of the chain of class that begins with first. */
void engine_index_append(struct engine_rule *rule, const struct engine_class *class, struct engine_run *first,
			 struct engine_run *run);
/* Of a counted class: the run's count becomes what it should be; what is pending stays with the chain. */
void engine_index_leave_count(struct engine_rule *rule, const struct engine_class *class, struct engine_run *run);
/* Takes out a run that is not the first of its chain. */
void engine_index_remove_later(struct engine_rule *rule, struct engine_run *run);

/* The first of the runs that an event concerns, which follow in order, or NULL. */
static inline struct engine_run *engine_index_find(struct engine_rule *rule, const struct engine_key *key,
						   const char *record)
{
	uint32_t hash = engine_index_hash_of_record(key, record);

	for (struct engine_run *run, **link = engine_index_bucket_of(rule, hash); (run = *link); link = &run->aside) {
		if (run->hash == hash && run->class == key->class->index &&
		    engine_index_record_agrees(key, record, run->slots))
			return __builtin_expect(run->disordered, false) ? engine_index_sort(link) : run;
	}
	return NULL;
}

/* The first of the runs of class, in any order, whose key is that of slots, or NULL. */
static inline struct engine_run *engine_index_look(const struct engine_rule *rule, const struct engine_class *class,
						   const char *slots, uint32_t hash)
{
	struct engine_run *run = *engine_index_bucket_of(rule, hash);

	while (run &&
	       !(run->hash == hash && run->class == class->index && engine_index_slots_agree(class, run->slots, slots)))
		run = run->aside;
	return run;
}

/* By the run's state and slots. Neither may change while it is in. */
static inline void engine_index_insert(struct engine_rule *rule, struct engine_run *run)
{
	const struct engine_class *class = &rule->classes[rule->states[run->state].class];
	uint32_t hash = engine_index_hash_of_slots(class, run->slots);
	struct engine_run **bucket = engine_index_bucket_of(rule, hash);
	struct engine_run *first = engine_index_look(rule, class, run->slots, hash);

	run->hash = hash;
	run->class = class->index;
	run->next = NULL;
	if (first) {
		engine_index_append(rule, class, first, run);
		return;
	}
	run->prev = run;
	run->aside = *bucket;
	run->disordered = false;
	*bucket = run;
	if (class->counting)
		*engine_pending_of(&rule->runs, run) = 0;
}

static inline void engine_index_remove(struct engine_rule *rule, struct engine_run *run)
{
	const struct engine_class *class = &rule->classes[run->class];
	struct engine_run **link = engine_index_bucket_of(rule, run->hash), *second = run->next;

	if (class->counting)
		engine_index_leave_count(rule, class, run);
	if (run->prev->next) {
		engine_index_remove_later(rule, run);
		return;
	}
	/* The first run gives its place to the second, if there is one. */
	while (*link != run)
		link = &(*link)->aside;
	*link = run->aside;
	if (second) {
		second->prev = run->prev;
		second->aside = run->aside;
		second->disordered = run->disordered;
		*link = second;
	}
}

#endif
