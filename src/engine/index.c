// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides how an event finds its runs: one hash table per rule from (class, key values) to the chain of the runs that
 * wait there. Linear probing with backward shift, at most half full, so finding, inserting and removing take constant
 * expected time however many runs are open. Hashes are seeded: who chooses the keys cannot choose the collisions.
 *
 * A chain is in opening order. Only a run that moves can arrive behind younger ones; it is appended all the same and
 * the chain is sorted when an event next walks it, which visits all of it anyway.
 */

#include "engine/engine-priv.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum { FIRST_CHAINS = 16 };

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

static inline uint64_t word_at(const char *from)
{
	uint64_t word;

	memcpy(&word, from, sizeof word);
	return word;
}

static inline uint64_t field_at(const char *record, const struct engine_part *part)
{
	uint32_t half;

	if (part->field_bytes == sizeof(uint64_t))
		return word_at(record + part->field);
	memcpy(&half, record + part->field, sizeof half);
	return half;
}

static uint32_t hash_of_record(const struct engine_key *key, const char *record)
{
	uint64_t hash = key->class->seed;

	for (uint32_t i = 0; i < key->class->part_count; i++) {
		const struct engine_part *part = &key->parts[i];

		if (part->field_bytes)
			hash = mix(hash, field_at(record, part));
		else
			hash = mix_text(hash, record + part->field);
	}
	return (uint32_t)(hash ^ hash >> 32);
}

static uint32_t hash_of_slots(const struct engine_class *class, const char *slots)
{
	uint64_t hash = class->seed;

	for (uint32_t i = 0; i < class->part_count; i++) {
		const struct engine_part *part = &class->parts[i];

		if (part->field_bytes)
			hash = mix(hash, word_at(slots + part->slot));
		else
			hash = mix_text(hash, slots + part->slot);
	}
	return (uint32_t)(hash ^ hash >> 32);
}

static bool record_agrees(const struct engine_key *key, const char *record, const char *slots)
{
	for (uint32_t i = 0; i < key->class->part_count; i++) {
		const struct engine_part *part = &key->parts[i];

		if (part->field_bytes ? field_at(record, part) != word_at(slots + part->slot)
				      : strcmp(record + part->field, slots + part->slot) != 0)
			return false;
	}
	return true;
}

static bool slots_agree(const struct engine_class *class, const char *a, const char *b)
{
	for (uint32_t i = 0; i < class->part_count; i++) {
		const struct engine_part *part = &class->parts[i];

		if (part->field_bytes ? word_at(a + part->slot) != word_at(b + part->slot)
				      : strcmp(a + part->slot, b + part->slot) != 0)
			return false;
	}
	return true;
}

/* Restores opening order, which only moves disturb. */
static struct engine_chain *in_order(struct engine_chain *chain)
{
	if (!chain->disordered)
		return chain;
	struct engine_run *run = engine_runs_sort(chain->head, offsetof(struct engine_run, next));
	chain->head = run;
	for (; run->next; run = run->next)
		run->next->prev = run;
	chain->head->prev = run;
	chain->disordered = false;
	return chain;
}

struct engine_chain *engine_index_find(struct engine_rule *rule, const struct engine_key *key,
				       const struct event_header *record)
{
	const struct engine_index *index = &rule->by_key;
	struct engine_class *class = key->class;

	if (!class->part_count)
		return class->all.head ? in_order(&class->all) : NULL;
	uint32_t hash = hash_of_record(key, (const char *)record);
	for (size_t i = hash & index->mask; index->chains[i].head; i = (i + 1) & index->mask) {
		struct engine_chain *chain = &index->chains[i];

		if (chain->hash == hash && chain->class == class->index &&
		    record_agrees(key, (const char *)record, chain->head->slots))
			return in_order(chain);
	}
	return NULL;
}

/* The chain of the key in slots, or the empty entry where it would be. */
static struct engine_chain *chain_of(struct engine_rule *rule, struct engine_class *class, const char *slots,
				     uint32_t hash)
{
	const struct engine_index *index = &rule->by_key;
	struct engine_chain *chain;

	if (!class->part_count)
		return &class->all;
	for (size_t i = hash & index->mask;; i = (i + 1) & index->mask) {
		chain = &index->chains[i];
		if (!chain->head || (chain->hash == hash && chain->class == class->index &&
				     slots_agree(class, chain->head->slots, slots)))
			return chain;
	}
}

struct engine_chain *engine_index_find_slots(struct engine_rule *rule, struct engine_class *class, const char *slots)
{
	struct engine_chain *chain = chain_of(rule, class, slots, hash_of_slots(class, slots));

	return chain->head ? chain : NULL;
}

/* Chains are at most as many as live runs, and a run in motion is not counted twice: it leaves before it arrives. */
int engine_index_reserve(struct engine_rule *rule)
{
	struct engine_index *index = &rule->by_key;
	size_t size = index->chains ? index->mask + 1 : 0, wanted = size ? size * 2 : FIRST_CHAINS;
	struct engine_chain *chains;

	if (2 * (rule->live + 1) <= size)
		return 0;
	chains = alloc_zero(wanted, sizeof *chains);
	if (!chains)
		return -ENOMEM;
	for (size_t i = 0; i < size; i++) {
		size_t at = index->chains[i].hash & (wanted - 1);

		if (!index->chains[i].head)
			continue;
		while (chains[at].head)
			at = (at + 1) & (wanted - 1);
		chains[at] = index->chains[i];
	}
	alloc_free(index->chains);
	index->chains = chains;
	index->mask = wanted - 1;
	return 0;
}

static void add_to_count(struct engine_run *run, const struct engine_counting *counting, uint64_t increment)
{
	uint64_t count = word_at(run->slots + counting->slot_offset) + increment;

	memcpy(run->slots + counting->slot_offset, &count, sizeof count);
}

void engine_index_spread(struct engine_rule *rule, const struct engine_counting *counting, struct engine_chain *chain)
{
	uint64_t *pending = engine_pending_of(&rule->runs, chain->head);

	if (!*pending)
		return;
	for (struct engine_run *run = chain->head; run; run = run->next)
		add_to_count(run, counting, *pending);
	*pending = 0;
}

void engine_index_insert(struct engine_rule *rule, struct engine_run *run)
{
	struct engine_class *class = &rule->classes[rule->states[run->state].class];
	struct engine_chain *chain;

	run->hash = hash_of_slots(class, run->slots);
	run->next = NULL;
	chain = chain_of(rule, class, run->slots, run->hash);
	if (!chain->head) {
		*chain = (struct engine_chain){ .hash = run->hash, .class = class->index, .head = run };
		run->prev = run;
		if (class->counting)
			*engine_pending_of(&rule->runs, run) = 0;
		return;
	}
	if (class->counting)
		add_to_count(run, class->counting, 0 - *engine_pending_of(&rule->runs, chain->head));
	struct engine_run *tail = chain->head->prev;
	if (tail->ordinal > run->ordinal)
		chain->disordered = true;
	tail->next = run;
	run->prev = tail;
	chain->head->prev = run;
}

/* Empties entry hole and closes the gap: what could stand nearer to its own place moves up. */
static void remove_entry(struct engine_index *index, size_t hole)
{
	for (size_t i = hole;;) {
		i = (i + 1) & index->mask;
		struct engine_chain *chain = &index->chains[i];
		if (!chain->head)
			break;
		if (((i - chain->hash) & index->mask) >= ((i - hole) & index->mask)) {
			index->chains[hole] = *chain;
			hole = i;
		}
	}
	index->chains[hole].head = NULL;
}

/* The run's count becomes what it should be; what is pending stays with the chain. */
static void leave_count(struct engine_rule *rule, const struct engine_counting *counting, struct engine_chain *chain,
			struct engine_run *run)
{
	uint64_t pending = *engine_pending_of(&rule->runs, chain->head);

	add_to_count(run, counting, pending);
	if (run == chain->head && run->next)
		*engine_pending_of(&rule->runs, run->next) = pending;
}

void engine_index_remove(struct engine_rule *rule, struct engine_run *run)
{
	struct engine_class *class = &rule->classes[rule->states[run->state].class];
	bool is_head = !run->prev->next;

	if (!is_head && run->next && !class->counting) {
		run->prev->next = run->next;
		run->next->prev = run->prev;
		return;
	}
	struct engine_chain *chain = chain_of(rule, class, run->slots, run->hash);
	if (class->counting)
		leave_count(rule, class->counting, chain, run);
	if (!is_head && run->next) {
		run->prev->next = run->next;
		run->next->prev = run->prev;
	} else if (!is_head) {
		run->prev->next = NULL;
		chain->head->prev = run->prev;
	} else if (run->next) {
		run->next->prev = run->prev;
		chain->head = run->next;
	} else if (class->part_count) {
		remove_entry(&rule->by_key, (size_t)(chain - rule->by_key.chains));
	} else {
		class->all.head = NULL;
		class->all.disordered = false;
	}
}
