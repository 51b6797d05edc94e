// SPDX-License-Identifier: BSD-2-Clause
/*
 * How an event that says `*` for parts of a machine's key finds the instances that agree in the other parts: by an
 * index of just those parts, which holds every instance from its opening to its end. It is built like the index of runs
 * (index.c): buckets of chains, of which the first instance stands for all. So what such an event costs does not depend
 * on the instances that it does not concern. Chains are in opening order because instances only join at the end, when
 * they are opened.
 */

#include "engine/machine-priv.h"

#include "engine/index-priv.h"

#include <stddef.h>

static struct engine_run **any_bucket_of(const struct engine_any *any, uint32_t hash)
{
	return &any->index.buckets[hash & any->index.mask];
}

/* Where the first instance of the chain with this key stands, or NULL. */
static struct engine_run **find_instance(const struct engine_any *any, const struct engine_part *parts,
					 const char *from, uint32_t hash)
{
	struct engine_run **link = any_bucket_of(any, hash);

	for (struct engine_run *run; (run = *link); link = &engine_any_link_of(any, run)->aside) {
		if (engine_any_link_of(any, run)->hash == hash &&
		    engine_index_agrees(&any->class, parts, from, run->slots))
			return link;
	}
	return NULL;
}

int engine_any_grow(struct engine_machine *machine, size_t wanted)
{
	int result = 0;

	for (uint32_t i = 0; i < machine->any_count && !result; i++) {
		struct engine_index *index = &machine->any[i].index;
		size_t link = machine->any[i].link_offset;

		while (!result && (!index->buckets || index->mask + 1 < wanted))
			result = engine_index_widen(index, link + offsetof(struct engine_any_link, aside),
						    link + offsetof(struct engine_any_link, hash));
	}
	return result;
}

void engine_any_insert(struct engine_any *any, struct engine_run *run)
{
	struct engine_any_link *link = engine_any_link_of(any, run);
	uint32_t hash = engine_index_hash(&any->class, any->class.parts, run->slots);
	struct engine_run **first = find_instance(any, any->class.parts, run->slots, hash),
			  **bucket = any_bucket_of(any, hash);

	*link = (struct engine_any_link){ .prev = run, .hash = hash, .is_first = !first };
	if (first) {
		struct engine_any_link *head = engine_any_link_of(any, *first);

		link->prev = head->prev;
		engine_any_link_of(any, head->prev)->next = run;
		head->prev = run;
	} else {
		link->aside = *bucket;
		*bucket = run;
	}
}

static void remove_first(struct engine_any *any, struct engine_run *run)
{
	struct engine_any_link *link = engine_any_link_of(any, run);
	struct engine_run **at = any_bucket_of(any, link->hash);

	while (*at != run)
		at = &engine_any_link_of(any, *at)->aside;
	*at = link->aside;
	if (link->next) {
		struct engine_any_link *second = engine_any_link_of(any, link->next);

		second->is_first = true;
		second->prev = link->prev;
		second->aside = link->aside;
		*at = link->next;
	}
}

void engine_any_remove(struct engine_any *any, struct engine_run *run)
{
	struct engine_any_link *link = engine_any_link_of(any, run);

	if (link->is_first) {
		remove_first(any, run);
		return;
	}
	if (link->next)
		engine_any_link_of(any, link->next)->prev = link->prev;
	else
		engine_any_link_of(any, *find_instance(any, any->class.parts, run->slots, link->hash))->prev =
			link->prev;
	engine_any_link_of(any, link->prev)->next = link->next;
}

struct engine_run *engine_any_look(const struct engine_any *any, const struct engine_part *parts, const char *record)
{
	struct engine_run **first = find_instance(any, parts, record, engine_index_hash(&any->class, parts, record));

	return first ? *first : NULL;
}
