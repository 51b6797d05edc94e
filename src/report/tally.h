/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_TALLY_H
#define REPORT_TALLY_H

/*
 * What is counted by keys: items of the owner's that begin with their key, some words. They are found by a hash with a
 * seed, as those who are observed choose keys. There are no more than so many; what a further key would count is left
 * out, and counted. A tally that can add up two items of one key keeps only some of them in memory, and the rest in a
 * file: there may be any number, as long as that can be written. Where it cannot, there are again no more than so many.
 */

#include "base/hash-table.h"
#include "report/spill.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_tally {
	size_t words, item_bytes, most; /* of a key; of an item; of items */
	void *items;
	size_t count, capacity;
	struct hash_table table;
	uint64_t seed;
	uint64_t left_out; /* how often there was no room for a key */
	int failure;       /* -ENOMEM, or -errno of what is in the file */
	/* Set by the owner of one that spills: so many items are in memory, and what adds an item to another. */
	size_t held;
	void (*add)(void *to, const void *from);
	/* Some of the items, by keys; then, when they are in order, all of them. */
	struct spill spill;
	size_t runs_most; /* before they are made fewer */
	bool is_in_order;
	size_t next;
	int (*order)(const void *left, const void *right);
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

/* Puts items in order; keys are not found any more. Not for one that spills. */
void report_tally_sort(struct report_tally *tally, int (*order)(const void *left, const void *right));

/* The same for any, and begins at the first of them. Returns 0, -ENOMEM, or -errno of the file. */
int report_tally_begin(struct report_tally *tally, int (*order)(const void *left, const void *right));

/* The next item in order, good until the next call; NULL: there is none, or failure says why not. */
const void *report_tally_next(struct report_tally *tally);

void report_tally_fini(struct report_tally *tally);

#endif
