// SPDX-License-Identifier: BSD-2-Clause
/*
 * The index by which an event finds its runs: one hash table per rule from (class, key values) to the chain of the runs
 * that wait there. A bucket is a list of the chains' first runs, so no more than the runs themselves is looked at, and
 * finding, inserting and removing take constant expected time however many runs are open. Hashes are seeded: who
 * chooses the keys cannot choose the collisions.
 *
 * A chain is in opening order. Only a run that moves can arrive behind younger ones; it is appended all the same and
 * the chain is sorted when an event next walks it, which visits all of it anyway.
 */

#include "engine/index-priv.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum { FIRST_BUCKETS = 16 };

struct engine_run *engine_index_sort(struct engine_run **link)
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

static uint64_t mix_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = engine_index_mix(hash, (unsigned char)*text);
	return engine_index_mix(hash, 256);
}

uint64_t engine_index_hash_texts(const struct engine_class *class, const struct engine_part *parts, const char *from)
{
	uint64_t hash = class->seed;

	for (uint32_t i = 0; i < class->part_count; i++) {
		const struct engine_field *field = &parts[i].field;

		hash = field->mask ? engine_index_mix(hash, engine_field_at(field, from))
				   : mix_text(hash, from + field->offset);
	}
	return hash;
}

bool engine_index_texts_agree(const struct engine_class *class, const struct engine_part *parts, const char *from,
			      const char *slots)
{
	for (uint32_t i = 0; i < class->part_count; i++) {
		const struct engine_field *field = &parts[i].field;
		const char *slot = slots + parts[i].slot;

		if (field->mask ? engine_field_at(field, from) != engine_word_at(slot)
				: strcmp(from + field->offset, slot) != 0)
			return false;
	}
	return true;
}

int engine_index_widen(struct engine_index *index, size_t aside_offset, size_t hash_offset)
{
	size_t size = index->buckets ? index->mask + 1 : 0, wanted = size ? size * 2 : FIRST_BUCKETS;
	struct engine_run **buckets = alloc_zero(wanted, sizeof *buckets), *next;

	if (!buckets)
		return -ENOMEM;
	for (size_t i = 0; i < size; i++) {
		for (struct engine_run *run = index->buckets[i]; run; run = next) {
			struct engine_run **aside = (struct engine_run **)((char *)run + aside_offset);
			uint32_t hash = *(uint32_t *)((char *)run + hash_offset);

			next = *aside;
			*aside = buckets[hash & (wanted - 1)];
			buckets[hash & (wanted - 1)] = run;
		}
	}
	alloc_free(index->buckets);
	index->buckets = buckets;
	index->mask = wanted - 1;
	return 0;
}

int engine_index_grow(struct engine_rule *rule)
{
	return engine_index_widen(&rule->by_key, offsetof(struct engine_run, aside), offsetof(struct engine_run, hash));
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

void engine_index_append(struct engine_rule *rule, const struct engine_class *class, struct engine_run *first,
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

/* The first of the chain that the run is in. */
static struct engine_run *first_of_chain(const struct engine_rule *rule, const struct engine_class *class,
					 struct engine_run *run)
{
	return run->prev->next ? *engine_index_find(rule, class, class->parts, run->slots, run->hash) : run;
}

void engine_index_leave_count(struct engine_rule *rule, const struct engine_class *class, struct engine_run *run)
{
	struct engine_run *first = first_of_chain(rule, class, run);
	uint64_t pending = *engine_pending_of(&rule->runs, first);

	add_to_count(run, class->counting, pending);
	if (run == first && run->next)
		*engine_pending_of(&rule->runs, run->next) = pending;
}

void engine_index_remove_later(struct engine_rule *rule, struct engine_run *run)
{
	if (run->next)
		run->next->prev = run->prev;
	else
		first_of_chain(rule, &rule->classes[run->class], run)->prev = run->prev;
	run->prev->next = run->next;
}
