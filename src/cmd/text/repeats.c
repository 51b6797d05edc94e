// SPDX-License-Identifier: BSD-2-Clause
/* Counts repeated matches, and reports their number in place of those that are too many. */

#include "cmd/text/repeats.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/text.h"
#include "program/query.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 32, COLUMN_WIDTH_MAX = 40, TABLE_ROWS_MAX = 40 };

/* 5,620 */
static const char *grouped(uint64_t number, char text[NUMBER_BYTES])
{
	char digits[NUMBER_BYTES], *to = text;
	int length = snprintf(digits, sizeof digits, "%" PRIu64, number);

	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = 0;
	return text;
}

static bool is_same_pair(const struct repeats_pair *pair, const struct repeats_pair *wanted)
{
	return pair->rule == wanted->rule && pair->is_rest == wanted->is_rest && strcmp(pair->comm, wanted->comm) == 0;
}

static uint64_t pair_hash(const struct repeats_pair *pair)
{
	const uint32_t rest[2] = { pair->rule, pair->is_rest };

	return hash_bytes(hash_text(pair->comm), rest, sizeof rest);
}

static struct repeats_pair *find_pair(const struct repeats *repeats, const struct repeats_pair *wanted, uint64_t hash)
{
	uint32_t number;

	for (size_t step = 0; (number = hash_table_next(&repeats->numbers, hash, &step)) != HASH_NONE;)
		if (is_same_pair(&repeats->pairs[number], wanted))
			return &repeats->pairs[number];
	return NULL;
}

/* The pair, made where it is new; NULL: memory is short. */
static struct repeats_pair *get(struct repeats *repeats, const struct repeats_pair *wanted)
{
	uint64_t hash = pair_hash(wanted);
	struct repeats_pair *pair = find_pair(repeats, wanted, hash);

	if (pair)
		return pair;
	if (alloc_grow(&repeats->pairs, &repeats->capacity, repeats->count, sizeof *repeats->pairs) ||
	    hash_table_reserve(&repeats->numbers, NULL, repeats->count + 1))
		return NULL;
	pair = &repeats->pairs[repeats->count];
	*pair = *wanted;
	hash_table_add(&repeats->numbers, hash, (uint32_t)repeats->count++);
	return pair;
}

bool repeats_take(struct repeats *repeats, const struct program_match *match, bool *is_first)
{
	struct repeats_pair wanted = { .rule = match->rule };
	struct repeats_pair *pair;

	snprintf(wanted.comm, sizeof wanted.comm, "%s", match->comm ? match->comm : "");
	pair = find_pair(repeats, &wanted, pair_hash(&wanted));
	if (!pair && repeats->count >= REPEATS_PAIRS_MAX)
		wanted = (struct repeats_pair){ .rule = match->rule, .is_rest = true };
	if (!pair)
		pair = get(repeats, &wanted);
	*is_first = false;
	if (!pair)
		return true;
	*is_first = pair->count++ == repeats->limit;
	return pair->count <= repeats->limit;
}

static uint64_t hidden(const struct repeats *repeats, const struct repeats_pair *pair)
{
	return pair->count > repeats->limit ? pair->count - repeats->limit : 0;
}

uint64_t repeats_hidden(const struct repeats *repeats, uint32_t rule)
{
	uint64_t count = 0;

	for (size_t i = 0; i < repeats->count; i++)
		if (repeats->pairs[i].rule == rule)
			count += hidden(repeats, &repeats->pairs[i]);
	return count;
}

uint64_t repeats_all_hidden(const struct repeats *repeats)
{
	uint64_t count = 0;

	for (size_t i = 0; i < repeats->count; i++)
		count += hidden(repeats, &repeats->pairs[i]);
	return count;
}

/* Returns the characters written. */
static int put_program(FILE *stream, const struct repeats_pair *pair)
{
	if (pair->is_rest)
		return fprintf(stream, "(other programs)");
	return *pair->comm ? text_write(stream, pair->comm, TEXT_VALUE) : fprintf(stream, "-");
}

void repeats_put_hidden(FILE *stream, const struct repeats *repeats, const struct program *program)
{
	char number[NUMBER_BYTES];

	for (size_t i = 0; i < repeats->count; i++) {
		const struct repeats_pair *pair = &repeats->pairs[i];

		if (!hidden(repeats, pair))
			continue;
		fprintf(stream, "+%s more of %s in ", grouped(hidden(repeats, pair), number),
			program_text(program, program->rules[pair->rule].name));
		put_program(stream, pair);
		putc('\n', stream);
	}
}

static int by_pair_count(const void *a, const void *b)
{
	const struct repeats_pair *first = a, *second = b;

	if (first->count != second->count)
		return first->count > second->count ? -1 : 1;
	if (first->rule != second->rule)
		return first->rule < second->rule ? -1 : 1;
	return strcmp(first->comm, second->comm);
}

static int repeats_width(const struct repeats *repeats, const struct program *program)
{
	size_t width = 4;

	for (size_t i = 0; i < repeats->count; i++) {
		size_t length = strlen(program_text(program, program->rules[repeats->pairs[i].rule].name));

		width = length > width ? length : width;
	}
	return (int)(width > COLUMN_WIDTH_MAX ? COLUMN_WIDTH_MAX : width);
}

void repeats_put_table(FILE *stream, const struct repeats *repeats, const struct program *program)
{
	int width = repeats_width(repeats, program);
	char number[NUMBER_BYTES];
	uint64_t rest = 0;

	/* The numbers that find pairs are of no use from here on. */
	qsort(repeats->pairs, repeats->count, sizeof *repeats->pairs, by_pair_count);
	fprintf(stream, "%-*s  %-16s  %12s\n", width, "rule", "program", "matches");
	for (size_t i = 0; i < repeats->count && i < TABLE_ROWS_MAX; i++) {
		const struct repeats_pair *pair = &repeats->pairs[i];
		int written;

		fprintf(stream, "%-*s  ", width, program_text(program, program->rules[pair->rule].name));
		written = put_program(stream, pair);
		fprintf(stream, "%*s  %12s\n", written < 16 ? 16 - written : 0, "", grouped(pair->count, number));
	}
	for (size_t i = TABLE_ROWS_MAX; i < repeats->count; i++)
		rest += repeats->pairs[i].count;
	if (rest)
		fprintf(stream, "%-*s  %-16s  %12s\n", width, "(others)", "", grouped(rest, number));
}

void repeats_fini(struct repeats *repeats)
{
	alloc_free(repeats->pairs);
	hash_table_fini(&repeats->numbers);
	*repeats = (struct repeats){ 0 };
}
