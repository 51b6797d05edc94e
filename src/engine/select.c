// SPDX-License-Identifier: BSD-2-Clause
/*
 * A filter that finds, among many rules, those in which an event can open a run, without asking each. Where a rule does
 * nothing with a type but open runs, and its guard asks `field == constant` before anything that may fail, its entry
 * stands under that constant: a hundred rules for a hundred system calls cost little more than one. This is a filter
 * only: what it lets through is judged by the guard itself, so two constants may well fall together.
 */

#include "base/hash-table.h"
#include "base/hash.h"
#include "engine/engine-priv.h"
#include "program/order/order.h"

#include <errno.h>
#include <string.h>

/* With fewer rules than this, asking each is as quick. */
enum { ENTRIES_MIN = 4 };

/* The entries under one constant, in image order. */
struct bucket {
	uint64_t word;
	struct engine_entry *entries;
	uint32_t count;
};

/* The entries that ask for a constant in one field. */
struct engine_selector {
	struct engine_guard guard; /* word unused */
	struct bucket *buckets;
	struct hash_table by_word; /* their indices */
};

/* The entries that open no runs. */
struct engine_waiting {
	const struct engine_entry *entries; /* in image order */
	uint64_t *bits;                     /* their rules */
	uint32_t *before;                   /* per word of bits: how many entries stand before its first */
	uint32_t word_count;
};

/* Entries still to be stepped, in image order. */
struct queue {
	const struct engine_entry *next, *end;
};

static uint64_t word_of_record(const struct engine_guard *guard, const char *record)
{
	uint64_t word;
	uint32_t half;

	if (!guard->field_bytes)
		return hash_text(record + guard->field);
	if (guard->field_bytes == sizeof word) {
		memcpy(&word, record + guard->field, sizeof word);
		return word;
	}
	memcpy(&half, record + guard->field, sizeof half);
	return half;
}

/* Fills guard if node is `field == constant`. */
static bool is_guard(const struct program *program, const struct program_node *node, struct engine_guard *guard)
{
	const struct program_node *nodes = program->nodes;

	if (node->op != PROGRAM_OP_EQ)
		return false;
	const struct program_node *a = &nodes[node->a], *b = &nodes[node->b];
	const struct program_node *field = a->op == PROGRAM_OP_FIELD ? a : b, *constant = field == a ? b : a;
	if (field->op != PROGRAM_OP_FIELD || field->kind != constant->kind || field->kind == PROGRAM_F64)
		return false;
	if (constant->op != (field->kind == PROGRAM_STRING ? PROGRAM_OP_TEXT : PROGRAM_OP_CONST))
		return false;
	guard->field = program->fields[field->a].offset;
	guard->field_bytes = field->kind == PROGRAM_STRING ? 0 : program->fields[field->a].bytes;
	guard->word = field->kind == PROGRAM_STRING ? hash_text(program_text(program, constant->a)) : constant->imm;
	return true;
}

bool engine_guard_find(const struct program *program, uint32_t index, struct engine_guard *guard)
{
	if (index == PROGRAM_NONE)
		return false;
	const struct program_node *node = &program->nodes[index];

	if (node->op != PROGRAM_OP_LAND)
		return is_guard(program, node, guard);
	return engine_guard_find(program, node->a, guard) ||
	       (!program_may_fail(program, node->a) && engine_guard_find(program, node->b, guard));
}

static uint64_t hash_word(uint64_t word)
{
	return word * UINT64_C(0x9e3779b97f4a7c15);
}

/* NULL: no rule asks for the word. */
static struct bucket *selector_bucket_of(const struct engine_selector *selector, uint64_t word)
{
	uint64_t hash = hash_word(word);
	uint32_t index;

	for (size_t step = 0; (index = hash_table_next(&selector->by_word, hash, &step)) != HASH_NONE;) {
		if (selector->buckets[index].word == word)
			return &selector->buckets[index];
	}
	return NULL;
}

static bool is_on(const struct engine_entry *entry, const struct engine_guard *guard)
{
	return entry->guarded && entry->guard.field == guard->field && entry->guard.field_bytes == guard->field_bytes;
}

static uint32_t count_on(const struct engine_entry *entries, uint32_t count, const struct engine_guard *guard)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < count; i++)
		found += is_on(&entries[i], guard);
	return found;
}

/* The bucket of word, made if there is none; there is room. */
static struct bucket *make_bucket(struct engine_selector *selector, uint64_t word)
{
	struct bucket *bucket = selector_bucket_of(selector, word);
	uint32_t index = (uint32_t)selector->by_word.count;

	if (bucket)
		return bucket;
	hash_table_add(&selector->by_word, hash_word(word), index);
	selector->buckets[index].word = word;
	return &selector->buckets[index];
}

/* Fills the buckets of the selector with the entries on its field: first the sizes, then the entries, in order. */
static int fill_selector(struct arena *arena, struct engine_selector *selector, const struct engine_entry *entries,
			 uint32_t count)
{
	uint32_t total = count_on(entries, count, &selector->guard);
	struct engine_entry *sorted = arena_zero(arena, total, sizeof *sorted);

	selector->buckets = arena_zero(arena, total, sizeof *selector->buckets);
	if (!sorted || !selector->buckets || hash_table_reserve(&selector->by_word, arena, total))
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		if (is_on(&entries[i], &selector->guard))
			make_bucket(selector, entries[i].guard.word)->count++;
	}
	for (size_t i = 0; i < selector->by_word.count; i++) {
		selector->buckets[i].entries = sorted;
		sorted += selector->buckets[i].count;
	}
	/* Each bucket's entries pointer runs to its end, then goes back. */
	for (uint32_t i = 0; i < count; i++) {
		if (is_on(&entries[i], &selector->guard)) {
			struct bucket *bucket = selector_bucket_of(selector, entries[i].guard.word);

			*bucket->entries++ = entries[i];
		}
	}
	for (size_t i = 0; i < selector->by_word.count; i++)
		selector->buckets[i].entries -= selector->buckets[i].count;
	return 0;
}

static bool only_waits(const struct engine_entry *entry)
{
	return !entry->start.count;
}

/* Keeps only the entries that have not been taken over. */
static void keep_others(struct engine_dispatch *row)
{
	struct engine_entry *entries = row->entries;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < row->count; i++) {
		bool taken = row->waiting && only_waits(&entries[i]);

		for (uint32_t j = 0; j < row->selector_count; j++)
			taken |= is_on(&entries[i], &row->selectors[j].guard);
		if (!taken)
			entries[kept++] = entries[i];
	}
	row->count = kept;
}

static int build_waiting(struct arena *arena, struct engine_dispatch *row, uint32_t rule_count)
{
	uint32_t total = 0, words = rule_count / 64 + 1;

	for (uint32_t i = 0; i < row->count; i++)
		total += only_waits(&row->entries[i]);
	if (total < ENTRIES_MIN)
		return 0;
	struct engine_waiting *waiting = arena_zero(arena, 1, sizeof *waiting);
	struct engine_entry *entries = arena_zero(arena, total, sizeof *entries);
	uint64_t *bits = arena_zero(arena, words, sizeof *bits);
	uint32_t *before = arena_zero(arena, words, sizeof *before);

	if (!waiting || !entries || !bits || !before)
		return -ENOMEM;
	*waiting = (struct engine_waiting){ entries, bits, before, words };
	for (uint32_t i = 0; i < row->count; i++) {
		uint32_t rule = row->entries[i].rule->index;

		if (!only_waits(&row->entries[i]))
			continue;
		*entries++ = row->entries[i];
		bits[rule / 64] |= UINT64_C(1) << rule % 64;
	}
	for (uint32_t i = 1; i < words; i++)
		before[i] = before[i - 1] + (uint32_t)__builtin_popcountll(bits[i - 1]);
	row->waiting = waiting;
	return 0;
}

/* The first entry whose rule has runs and an index of at least from, or NULL. */
static const struct engine_entry *next_waiting(const struct engine *engine, const struct engine_waiting *waiting,
					       uint32_t from)
{
	uint64_t left = UINT64_MAX << from % 64;

	for (uint32_t i = from / 64; i < waiting->word_count; i++, left = UINT64_MAX) {
		uint64_t found = waiting->bits[i] & engine->live[i] & left;

		if (!found)
			continue;
		uint64_t lower = (found & -found) - 1; /* the bits below the first one found */
		return &waiting->entries[waiting->before[i] + (uint32_t)__builtin_popcountll(waiting->bits[i] & lower)];
	}
	return NULL;
}

static int build_selectors(struct arena *arena, struct engine_dispatch *row)
{
	struct engine_selector selectors[ENGINE_SELECTORS_MAX] = { 0 };
	uint32_t count = 0;
	int result = 0;

	for (uint32_t i = 0; i < row->count && count < ENGINE_SELECTORS_MAX && !result; i++) {
		const struct engine_guard *guard = &row->entries[i].guard;
		bool known = !row->entries[i].guarded;

		for (uint32_t j = 0; j < count; j++)
			known |= is_on(&row->entries[i], &selectors[j].guard);
		if (known || count_on(row->entries, row->count, guard) < ENTRIES_MIN)
			continue;
		selectors[count].guard = *guard;
		result = fill_selector(arena, &selectors[count++], row->entries, row->count);
	}
	if (result || !count)
		return result;
	row->selectors = arena_zero(arena, count, sizeof *row->selectors);
	if (!row->selectors)
		return -ENOMEM;
	memcpy(row->selectors, selectors, count * sizeof *selectors);
	row->selector_count = count;
	return 0;
}

int engine_select_build(struct arena *arena, struct engine_dispatch *row, uint32_t rule_count)
{
	int result = build_selectors(arena, row);

	if (!result)
		result = build_waiting(arena, row, rule_count);
	if (!result)
		keep_others(row);
	row->selects = row->selector_count || row->waiting;
	return result;
}

/* The queues that the event has, entries that were not taken over first. Returns how many. */
static uint32_t fill_queues(const struct engine_dispatch *row, const struct engine_event *event, struct queue *queues)
{
	uint32_t count = 0;

	if (row->count)
		queues[count++] = (struct queue){ row->entries, row->entries + row->count };
	for (uint32_t i = 0; i < row->selector_count; i++) {
		const struct engine_selector *selector = &row->selectors[i];
		const struct bucket *bucket =
			selector_bucket_of(selector, word_of_record(&selector->guard, (const char *)event->record));

		if (bucket)
			queues[count++] = (struct queue){ bucket->entries, bucket->entries + bucket->count };
	}
	return count;
}

/* Which rules have runs is looked at anew after every step, since what a step emits may open some. */
void engine_select_pass(struct engine *engine, const struct engine_dispatch *row, const struct engine_event *event)
{
	struct queue queues[1 + ENGINE_SELECTORS_MAX];
	uint32_t count = fill_queues(row, event, queues), from = 0;

	while (!engine->failed) {
		const struct engine_entry *next = row->waiting ? next_waiting(engine, row->waiting, from) : NULL;
		struct queue *first = NULL;

		for (uint32_t i = 0; i < count; i++) {
			if (!next || queues[i].next->rule < next->rule) { /* rules stand in image order */
				first = &queues[i];
				next = first->next;
			}
		}
		if (!next)
			return;
		engine_pass_one(engine, next, event);
		from = next->rule->index + 1;
		if (first && ++first->next == first->end)
			*first = queues[--count];
	}
}
