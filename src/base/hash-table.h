/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_HASH_TABLE_H
#define BASE_HASH_TABLE_H

/*
 * A hash table of numbers: those by which its owner finds the items that the table is about, say indices of a vector.
 * The table knows neither items nor keys, it only narrows down the numbers that are worth a look:
 *
 *	for (size_t step = 0; (number = hash_table_next(&table, hash, &step)) != HASH_NONE;) {
 *		if (strcmp(names[number], name) == 0)
 *			return number;
 *	}
 *
 * Open addressing, at most half full; a hash stands beside its number, so items are only looked at where 32 bits of the
 * hashes agree, and never when the table grows. Finding and adding take constant expected time if the hashes are good
 * in all bits. Nothing can be taken out. A table of zeros is an empty one.
 */

#include <stddef.h>
#include <stdint.h>

struct arena;

#define HASH_NONE UINT32_MAX

struct hash_slot {
	uint32_t hash;
	uint32_t number; /* + 1; 0: free */
};

struct hash_table {
	struct hash_slot *slots;
	size_t mask; /* of indices of slots */
	size_t count;
};

/*
 * Makes room for count numbers in all. The slots are the arena's, if there is one, else the table's. Returns 0, or
 * -ENOMEM, which leaves the table as it was.
 */
int hash_table_reserve(struct hash_table *table, struct arena *arena, size_t count);

/* Adds a number, which is not HASH_NONE. There is room for it. */
void hash_table_add(struct hash_table *table, uint64_t hash, uint32_t number);

/* Frees the slots, unless they are an arena's. */
void hash_table_fini(struct hash_table *table);

static inline uint32_t hash_fold(uint64_t hash)
{
	return (uint32_t)(hash ^ hash >> 32);
}

/* The next number that was added with this hash, or HASH_NONE after the last one; *step is 0 at first. */
static inline uint32_t hash_table_next(const struct hash_table *table, uint64_t hash, size_t *step)
{
	uint32_t folded = hash_fold(hash);

	while (table->slots) {
		const struct hash_slot *slot = &table->slots[(folded + (*step)++) & table->mask];

		if (!slot->number || slot->hash == folded)
			return slot->number - 1; /* of a free one HASH_NONE */
	}
	return HASH_NONE;
}

#endif
