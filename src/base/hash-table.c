// SPDX-License-Identifier: BSD-2-Clause
/* A hash table: how it is filled and grows. */

#include "base/hash-table.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <assert.h>
#include <errno.h>
#include <sys/random.h>

enum { SLOTS_FIRST = 8 };

_Static_assert((uint32_t)0 - 1 == HASH_NONE, "what a free slot holds, less 1");

static void put_hash_slot(struct hash_table *table, struct hash_slot added)
{
	size_t at = added.hash & table->mask;

	while (table->slots[at].number)
		at = (at + 1) & table->mask;
	table->slots[at] = added;
}

int hash_table_reserve(struct hash_table *table, struct arena *arena, size_t count)
{
	size_t old = table->slots ? table->mask + 1 : 0, room = old ? old : SLOTS_FIRST;
	struct hash_table larger = { .count = table->count };

	while (room / 2 < count)
		room *= 2;
	if (room == old)
		return 0;
	larger.slots = arena ? arena_zero(arena, room, sizeof *larger.slots) : alloc_zero(room, sizeof *larger.slots);
	larger.mask = room - 1;
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < old; i++) {
		if (table->slots[i].number)
			put_hash_slot(&larger, table->slots[i]);
	}
	if (!arena)
		alloc_free(table->slots);
	*table = larger;
	return 0;
}

void hash_table_add(struct hash_table *table, uint64_t hash, uint32_t number)
{
	assert(table->slots && table->count <= table->mask / 2 && number != HASH_NONE);
	put_hash_slot(table, (struct hash_slot){ hash_fold(hash), number + 1 });
	table->count++;
}

void hash_table_fini(struct hash_table *table)
{
	alloc_free(table->slots);
	*table = (struct hash_table){ 0 };
}

uint64_t hash_seed(const void *owner)
{
	uint64_t seed;

	return getrandom(&seed, sizeof seed, GRND_NONBLOCK) == sizeof seed ? seed : (uintptr_t)owner;
}
