// SPDX-License-Identifier: BSD-2-Clause
/* Keeps what is counted by keys. */

#include "report/tally.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

void report_tally_fini(struct report_tally *tally)
{
	alloc_free(tally->items);
	hash_table_fini(&tally->table);
}
