/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_COMPARE_H
#define PROFILE_COMPARE_H

#include "profile/profile.h"

struct profile_pair {
	uint32_t a, b; /* functions of each; HASH_NONE: it has none */
	double cost_a, cost_b;
};

/* Costs of two profiles side by side; inclusive ones where both have them. Costs of a are multiplied by factor. */
struct profile_comparison {
	bool is_inclusive;
	double factor;              /* so that both have the same sum of self costs */
	double delta;               /* root of the sum of squares of differences, in the unit of b */
	double total;               /* of b */
	struct profile_pair *pairs; /* the farthest apart first; for alloc_free */
	size_t count;
};

/* 0 or -ENOMEM. */
int profile_compare(const struct profile *a, unsigned event_a, const struct profile *b, unsigned event_b,
		    struct profile_comparison *comparison);

#endif
