// SPDX-License-Identifier: BSD-2-Clause
/* Keeps what is counted by keys. */

#include "report/tally.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 64 }; /* at most, as long as few items are new in each */

/* Multiplies and folds each word, as in wyhash's mum. */
static uint64_t key_hash(const struct report_tally *tally, const uint64_t *key)
{
	uint64_t hash = tally->seed;

	for (size_t i = 0; i < tally->words; i++) {
		unsigned __int128 product = (unsigned __int128)(hash ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);

		hash = (uint64_t)product ^ (uint64_t)(product >> 64);
	}
	return hash;
}

static void *tally_item(const struct report_tally *tally, size_t number)
{
	return (char *)tally->items + number * tally->item_bytes;
}

static void *find_tally_row(const struct report_tally *tally, const uint64_t *key, uint64_t hash)
{
	size_t step = 0;
	uint32_t number;

	while ((number = hash_table_next(&tally->table, hash, &step)) != HASH_NONE) {
		if (memcmp(tally_item(tally, number), key, tally->words * sizeof *key) == 0)
			return tally_item(tally, number);
	}
	return NULL;
}

void *report_tally_find(const struct report_tally *tally, const uint64_t *key)
{
	return find_tally_row(tally, key, key_hash(tally, key));
}

static int by_words(const void *left, const void *right, void *tally)
{
	return memcmp(left, right, ((const struct report_tally *)tally)->words * sizeof(uint64_t));
}

static int by_order(const void *left, const void *right, void *tally)
{
	return ((const struct report_tally *)tally)->order(left, right);
}

static struct spill spill_of(struct report_tally *tally, spill_order order)
{
	return (struct spill){ .item_bytes = tally->item_bytes, .order = order, .context = tally };
}

static void forget_items(struct report_tally *tally)
{
	hash_table_fini(&tally->table);
	tally->table = (struct hash_table){ 0 };
	tally->count = 0;
}

/* The next item of those that are in order of their keys, with all others of its key; NULL: there is none. */
static const void *next_sum(struct report_tally *tally, const void **ahead, void *sum)
{
	if (!*ahead)
		return NULL;
	memcpy(sum, *ahead, tally->item_bytes);
	while ((*ahead = spill_next(&tally->spill)) && by_words(*ahead, sum, tally) == 0)
		tally->add(sum, *ahead);
	return sum;
}

/* Writes sums to another spill in its order, as many at a time as there is room for. */
static int move_sums(struct report_tally *tally, struct spill *to, void *sum)
{
	const void *ahead;
	int code = spill_begin(&tally->spill);

	if (code != 0)
		return code;
	ahead = spill_next(&tally->spill);
	while (code == 0 && next_sum(tally, &ahead, sum)) {
		memcpy(tally_item(tally, tally->count++), sum, tally->item_bytes);
		if (tally->count < tally->capacity)
			continue;
		code = spill_put(to, tally->items, tally->count);
		tally->count = 0;
	}
	if (code == 0)
		code = tally->spill.failure;
	if (code == 0)
		code = spill_put(to, tally->items, tally->count);
	tally->count = 0;
	return code;
}

/* All that is in the file, and nothing is in memory, goes to a new file in that order. */
static int remake_spill(struct report_tally *tally, spill_order order)
{
	struct spill to = spill_of(tally, order);
	void *sum = alloc_zero(1, tally->item_bytes);
	int code = sum ? move_sums(tally, &to, sum) : -ENOMEM;

	alloc_free(sum);
	if (code != 0) {
		spill_fini(&to);
		return code;
	}
	spill_fini(&tally->spill);
	tally->spill = to;
	return 0;
}

static void rehash(struct report_tally *tally)
{
	size_t count = tally->count;

	forget_items(tally);
	tally->count = count;
	if (hash_table_reserve(&tally->table, NULL, count) != 0) {
		tally->failure = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < count; i++)
		hash_table_add(&tally->table, key_hash(tally, tally_item(tally, i)), (uint32_t)i);
}

/* Where nothing can be written, what is in memory grows until there are too many. */
static void spill_items(struct report_tally *tally)
{
	if (tally->spill.item_bytes == 0)
		tally->spill = spill_of(tally, by_words);
	tally->runs_most = tally->runs_most != 0 ? tally->runs_most : RUNS;
	if (spill_put(&tally->spill, tally->items, tally->count) != 0) {
		tally->held = tally->most;
		rehash(tally);
		return;
	}
	forget_items(tally);
	if (tally->spill.run_count < tally->runs_most)
		return;
	remake_spill(tally, by_words);
	tally->runs_most = 2 * tally->spill.run_count > RUNS ? 2 * tally->spill.run_count : RUNS;
}

void *report_tally_at(struct report_tally *tally, const uint64_t *key)
{
	uint64_t hash;
	void *found;

	if (!tally->seed)
		tally->seed = hash_seed(tally);
	hash = key_hash(tally, key);
	found = find_tally_row(tally, key, hash);
	if (found)
		return found;
	if (tally->add && tally->count >= tally->held)
		spill_items(tally);
	if (tally->count == tally->most) {
		tally->left_out++;
		return NULL;
	}
	if (alloc_grow(&tally->items, &tally->capacity, tally->count, tally->item_bytes) ||
	    hash_table_reserve(&tally->table, NULL, tally->count + 1)) {
		tally->failure = -ENOMEM;
		return NULL;
	}
	found = tally_item(tally, tally->count);
	memset(found, 0, tally->item_bytes);
	memcpy(found, key, tally->words * sizeof *key);
	hash_table_add(&tally->table, hash, (uint32_t)tally->count++);
	return found;
}

void report_tally_sort(struct report_tally *tally, int (*order)(const void *left, const void *right))
{
	hash_table_fini(&tally->table);
	tally->table = (struct hash_table){ 0 };
	if (tally->count)
		qsort(tally->items, tally->count, tally->item_bytes, order);
}

static int add_sum(struct report_tally *tally, const void *sum)
{
	void *found = find_tally_row(tally, sum, key_hash(tally, sum));

	if (found) {
		tally->add(found, sum);
		return 0;
	}
	if (tally->count == tally->most) {
		tally->left_out++;
		return 0;
	}
	if (alloc_grow(&tally->items, &tally->capacity, tally->count, tally->item_bytes))
		return -ENOMEM;
	memcpy(tally_item(tally, tally->count++), sum, tally->item_bytes);
	return 0;
}

/* Where no more can be written: what is in the file joins what is in memory, as far as there may be so many. */
static int take_back(struct report_tally *tally)
{
	void *sum = alloc_zero(1, tally->item_bytes);
	const void *ahead;
	int code = sum ? spill_begin(&tally->spill) : -ENOMEM;

	rehash(tally);
	if (code == 0)
		code = tally->failure;
	ahead = code == 0 ? spill_next(&tally->spill) : NULL;
	while (code == 0 && next_sum(tally, &ahead, sum))
		code = add_sum(tally, sum);
	if (code == 0)
		code = tally->spill.failure;
	alloc_free(sum);
	if (code == 0)
		spill_fini(&tally->spill);
	return code;
}

/* All that there is goes to a file in that order. */
static int write_in_order(struct report_tally *tally)
{
	int code = spill_put(&tally->spill, tally->items, tally->count);

	if (code != 0)
		return code;
	forget_items(tally);
	return remake_spill(tally, by_order);
}

int report_tally_begin(struct report_tally *tally, int (*order)(const void *left, const void *right))
{
	int code;

	tally->order = order;
	tally->next = 0;
	if (tally->spill.run_count == 0) {
		report_tally_sort(tally, order);
		return 0;
	}
	if (!tally->is_in_order) {
		code = write_in_order(tally);
		if (code != 0) {
			code = take_back(tally);
			if (code == 0)
				report_tally_sort(tally, order);
			return code;
		}
		tally->is_in_order = true;
	}
	return spill_begin(&tally->spill);
}

const void *report_tally_next(struct report_tally *tally)
{
	const void *item;

	if (tally->spill.run_count == 0)
		return tally->next < tally->count ? tally_item(tally, tally->next++) : NULL;
	item = spill_next(&tally->spill);
	if (!item)
		tally->failure = tally->spill.failure;
	return item;
}

void report_tally_fini(struct report_tally *tally)
{
	spill_fini(&tally->spill);
	alloc_free(tally->items);
	hash_table_fini(&tally->table);
}
