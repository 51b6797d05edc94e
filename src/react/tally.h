/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REACT_TALLY_H
#define REACT_TALLY_H

/*
 * Counters and histograms by name: aggregation at the source instead of an event each. A histogram's bucket 0 holds
 * values of 0 and less, bucket k values from 2^(k-1) to 2^k - 1.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REACT_BUCKETS = 64 };

struct react_tally {
	const char *name; /* the owner's */
	bool is_histogram;
	uint64_t count;
	uint64_t buckets[REACT_BUCKETS];
};

struct react_tallies {
	struct react_tally *items;
	size_t count, capacity;
};

/* The bucket of a value. */
uint32_t react_bucket(int64_t value);

/* The tally of this name and kind, made if need be (the name is copied); NULL: memory is short. */
struct react_tally *react_tallies_get(struct react_tallies *tallies, const char *name, bool is_histogram);
/* Adds what from has counted to the tally of its name and kind. Returns 0 or -ENOMEM. */
int react_tallies_add(struct react_tallies *tallies, const struct react_tally *from);
void react_tallies_fini(struct react_tallies *tallies);

#endif
