// SPDX-License-Identifier: BSD-2-Clause
/*
 * Orders records that ask for others of their type: those that are asked for first. A cycle of them has no such order
 * and is an error that names it.
 */

#include "desl/run-priv.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/text.h"

#include <errno.h>

enum { CIRCLE_SHOWN = 12 };

/* Records with the same key. */
struct key {
	union desl_cell cell;
	uint32_t first, last; /* combinations, chained */
	uint32_t at;          /* the one that is followed; while visiting */
	uint32_t parent;
	uint32_t start, count; /* records, once done */
	bool is_visiting, is_done;
};

struct following {
	struct desl_making *making;
	struct key *keys;
	size_t count, capacity;
	uint32_t *next; /* combination of the same key */
	struct hash_table known;
};

static const uint32_t *following_row(const struct desl_making *making, size_t index)
{
	return making->rows + index * making->type->source_count;
}

static uint32_t find_key(const struct following *following, enum desl_kind kind, union desl_cell cell)
{
	uint64_t hash = desl_hash(following->making->program->texts.seed, kind, cell);
	uint32_t found;

	if (desl_is_absent(kind, cell))
		return HASH_NONE;
	for (size_t step = 0; (found = hash_table_next(&following->known, hash, &step)) != HASH_NONE;) {
		if (desl_is_equal(kind, following->keys[found].cell, cell))
			return found;
	}
	return HASH_NONE;
}

static int add_combination(struct following *following, uint32_t index)
{
	struct desl_making *making = following->making;
	struct desl_at at = { .making = making, .row = following_row(making, index) };
	const struct desl_expr *key = making->type->record_key;
	union desl_cell cell = desl_value(making->type->fields[key->column].filter, &at);
	uint32_t found = find_key(following, key->kind, cell);

	following->next[index] = HASH_NONE;
	if (found != HASH_NONE) {
		following->next[following->keys[found].last] = index;
		following->keys[found].last = index;
		return 0;
	}
	if (alloc_grow(&following->keys, &following->capacity, following->count, sizeof *following->keys) ||
	    hash_table_reserve(&following->known, NULL, following->count + 1))
		return -ENOMEM;
	following->keys[following->count] = (struct key){ .cell = cell, .first = index, .last = index, .at = index };
	if (!desl_is_absent(key->kind, cell))
		hash_table_add(&following->known, desl_hash(following->making->program->texts.seed, key->kind, cell),
			       (uint32_t)following->count);
	following->count++;
	return 0;
}

/* The key of the records that a combination asks for, or HASH_NONE. */
static uint32_t asked_by(const struct following *following, uint32_t index)
{
	const struct desl_making *making = following->making;
	struct desl_at at = { .making = making, .row = following_row(making, index) };
	const struct desl_expr *asked = making->type->earlier_key;

	return find_key(following, asked->kind, desl_value(asked, &at));
}

static void append_cell(const struct desl_making *making, struct text_buffer *text, union desl_cell cell)
{
	if (making->type->record_key->kind == DESL_NUMBER)
		text_printf(text, "%g", cell.number);
	else
		text_append_as(text, making->program->texts.texts[cell.text].bytes, TEXT_WORDS);
}

/* The cycle ends at the key, and goes on from there through parents. */
static int circle(struct following *following, uint32_t from, uint32_t to)
{
	struct desl_making *making = following->making;
	struct text_buffer text = { 0 };
	unsigned shown = 0;
	char *names;

	append_cell(making, &text, following->keys[to].cell);
	for (uint32_t at = from; at != to && shown < CIRCLE_SHOWN; at = following->keys[at].parent, shown++) {
		text_append(&text, " <- ");
		append_cell(making, &text, following->keys[at].cell);
	}
	text_append(&text, shown == CIRCLE_SHOWN ? " <- ... <- " : " <- ");
	append_cell(making, &text, following->keys[to].cell);
	if (text_take(&text, &names))
		return -ENOMEM;
	diag_add(making->diag, ASTERISM_ERROR, &making->type->fields[making->type->self_field].name.location,
		 "exclude the record that closes the cycle, with constraint(not(...)), or merge its members into one",
		 "records of '%s' depend on each other in a cycle: %s", making->type->name.text, names);
	alloc_free(names);
	return -EINVAL;
}

/* All that its records ask for is done. */
static int put_records(struct following *following, uint32_t number)
{
	struct key *key = &following->keys[number];
	struct desl_making *making = following->making;
	int result = 0;

	key->start = (uint32_t)making->type->table.rows;
	for (uint32_t i = key->first; i != HASH_NONE && !result; i = following->next[i]) {
		uint32_t asked = asked_by(following, i);
		struct desl_at at = { .making = making, .row = following_row(making, i), .earlier = HASH_NONE };

		if (asked != HASH_NONE) {
			at.earlier_first = following->keys[asked].start;
			at.earlier_count = following->keys[asked].count;
			at.earlier = at.earlier_count ? at.earlier_first : HASH_NONE;
		}
		result = desl_add_record(making, &at);
	}
	key->count = (uint32_t)making->type->table.rows - key->start;
	key->is_done = true;
	return result;
}

/* Depth first, without recursion. */
static int visit_row(struct following *following, uint32_t number)
{
	int result = 0;

	following->keys[number].parent = HASH_NONE;
	following->keys[number].is_visiting = true;
	while (number != HASH_NONE && !result) {
		struct key *key = &following->keys[number];
		uint32_t asked = HASH_NONE;

		while (key->at != HASH_NONE && (asked == HASH_NONE || following->keys[asked].is_done)) {
			asked = asked_by(following, key->at);
			key->at = following->next[key->at];
		}
		if (asked == HASH_NONE || following->keys[asked].is_done) {
			result = put_records(following, number);
			number = key->parent;
		} else if (following->keys[asked].is_visiting) {
			result = circle(following, number, asked);
		} else {
			following->keys[asked].parent = number;
			following->keys[asked].is_visiting = true;
			number = asked;
		}
	}
	return result;
}

int desl_follow(struct desl_making *making)
{
	struct following following = { .making = making };
	int result = 0;

	following.next = alloc_zero(making->count + 1, sizeof *following.next);
	if (!following.next)
		return -ENOMEM;
	for (uint32_t i = 0; i < making->count && !result; i++)
		result = add_combination(&following, i);
	for (uint32_t i = 0; i < following.count && !result; i++) {
		if (!following.keys[i].is_done)
			result = visit_row(&following, i);
	}
	alloc_free(following.next);
	alloc_free(following.keys);
	hash_table_fini(&following.known);
	return result;
}
