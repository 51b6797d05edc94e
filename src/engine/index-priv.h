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

/*
 * A key is read by parts from a record, or by the class's own from slots. Where one of them is a text, these two do
 * what the next two do.
 */
uint64_t engine_index_hash_texts(const struct engine_class *class, const struct engine_part *parts, const char *from);
bool engine_index_texts_agree(const struct engine_class *class, const struct engine_part *parts, const char *from,
			      const char *slots);

static inline uint32_t engine_index_hash(const struct engine_class *class, const struct engine_part *parts,
					 const char *from)
{
	const struct engine_part *part = parts, *end = parts + class->part_count;
	uint64_t hash = class->seed;

	if (class->has_text)
		hash = engine_index_hash_texts(class, parts, from);
	else
		for (; part < end; part++)
			hash = engine_index_mix(hash, engine_field_at(&part->field, from));
	return (uint32_t)(hash ^ hash >> 32);
}

/* Whether the key that is read has the values in slots. */
static inline bool engine_index_agrees(const struct engine_class *class, const struct engine_part *parts,
				       const char *from, const char *slots)
{
	const struct engine_part *part = parts, *end = parts + class->part_count;

	if (class->has_text)
		return engine_index_texts_agree(class, parts, from, slots);
	for (; part < end; part++) {
		if (engine_field_at(&part->field, from) != engine_word_at(slots + part->slot))
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

/* Where the first run of the chain with this key stands, or NULL. */
static inline __attribute__((always_inline)) struct engine_run **engine_index_find(const struct engine_rule *rule,
										   const struct engine_class *class,
										   const struct engine_part *parts,
										   const char *from, uint32_t hash)
{
	struct engine_run **link = engine_index_bucket_of(rule, hash);

	for (struct engine_run *run; (run = *link); link = &run->aside) {
		if (run->hash == hash && run->class == class->index &&
		    engine_index_agrees(class, parts, from, run->slots))
			return link;
	}
	return NULL;
}

/* The first of the runs that an event concerns, which follow in order, or NULL. */
static inline __attribute__((always_inline)) struct engine_run *engine_index_look(const struct engine_rule *rule,
										  const struct engine_key *key,
										  const char *record)
{
	uint32_t hash = engine_index_hash(key->class, key->parts, record);
	struct engine_run **link = engine_index_find(rule, key->class, key->parts, record, hash);

	if (!link)
		return NULL;
	return __builtin_expect((*link)->disordered, false) ? engine_index_sort(link) : *link;
}

/* As the first of a chain: there is none with this key, whose hash this is. */
static inline __attribute__((always_inline)) void engine_index_insert_first(struct engine_rule *rule,
									    const struct engine_class *class,
									    struct engine_run *run, uint32_t hash)
{
	struct engine_run **bucket = engine_index_bucket_of(rule, hash);

	run->hash = hash;
	run->class = class->index;
	run->next = NULL;
	run->prev = run;
	run->aside = *bucket;
	run->disordered = false;
	*bucket = run;
	if (class->counting)
		*engine_pending_of(&rule->runs, run) = 0;
}

/* By the run's state and slots. Neither may change while it is in. */
static inline __attribute__((always_inline)) void engine_index_insert(struct engine_rule *rule, struct engine_run *run)
{
	const struct engine_class *class = &rule->classes[rule->states[run->state].class];
	uint32_t hash = engine_index_hash(class, class->parts, run->slots);
	struct engine_run **first = engine_index_find(rule, class, class->parts, run->slots, hash);

	if (!first) {
		engine_index_insert_first(rule, class, run, hash);
		return;
	}
	run->hash = hash;
	run->class = class->index;
	run->next = NULL;
	engine_index_append(rule, class, *first, run);
}

static inline __attribute__((always_inline)) void engine_index_remove(struct engine_rule *rule, struct engine_run *run)
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
