/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_TALLY_H
#define REPORT_TALLY_H

/*
 * What is counted by keys: items of the owner's that begin with their key, some words. They are found by a hash with a
 * seed, as those who are observed choose keys. There are no more than so many; what a further key would count is left
 * out, and counted.
 */

#include "base/hash-table.h"

#include <stddef.h>
#include <stdint.h>

struct report_tally {
	size_t words, item_bytes, most; /* of a key; of an item; of items */
	void *items;
	size_t count, capacity;
	struct hash_table table;
	uint64_t seed;
	uint64_t left_out; /* how often there was no room for a key */
	int failure;       /* -ENOMEM */
};

/* A tally of items of a type, whose first member is `uint64_t key[N]`. */
#define REPORT_TALLY(type, many) \
	((struct report_tally){  \
		.words = sizeof((type *)0)->key / sizeof(uint64_t), .item_bytes = sizeof(type), .most = (many) })

/* The item of that key, made of zeros where there is none; NULL: no room (left_out), or no memory (failure). Good until
 * the next one is made. */
void *report_tally_at(struct report_tally *tally, const uint64_t *key);

/* The item of that key, or NULL. */
void *report_tally_find(const struct report_tally *tally, const uint64_t *key);

/* Puts items in order; keys are not found any more. */
void report_tally_sort(struct report_tally *tally, int (*order)(const void *left, const void *right));

void report_tally_fini(struct report_tally *tally);

#endif
