// SPDX-License-Identifier: BSD-2-Clause
/* Computes how far two profiles are apart. */

#include "profile/compare.h"

#include "profile/attach.h"

#include "base/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int compare_pairs(const void *left, const void *right)
{
	const struct profile_pair *a = left, *b = right;
	double off_a = fabs(a->cost_a - a->cost_b), off_b = fabs(b->cost_a - b->cost_b);

	if (off_a != off_b)
		return off_a < off_b ? 1 : -1;
	if (a->b != b->b)
		return a->b < b->b ? -1 : 1;
	return a->a < b->a ? -1 : a->a > b->a;
}

static double cost_of(const struct profile *profile, uint32_t function, unsigned event, bool is_inclusive)
{
	return is_inclusive ? profile_inclusive(profile, function)[event] : profile_self(profile, function)[event];
}

static void pair_up(const struct profile *a, unsigned event_a, const uint32_t *to,
		    struct profile_comparison *comparison)
{
	for (uint32_t i = 0; i < a->function_count; i++) {
		double cost = comparison->factor * cost_of(a, i, event_a, comparison->is_inclusive);
		struct profile_pair *pair = &comparison->pairs[to[i] == HASH_NONE ? comparison->count++ : to[i]];

		if (to[i] == HASH_NONE)
			*pair = (struct profile_pair){ .a = i, .b = HASH_NONE };
		else if (pair->a == HASH_NONE)
			pair->a = i;
		pair->cost_a += cost;
	}
}

int profile_compare(const struct profile *a, unsigned event_a, const struct profile *b, unsigned event_b,
		    struct profile_comparison *comparison)
{
	uint32_t *to = alloc_zero(a->function_count + 1, sizeof *to);
	double total_a = profile_total(a, event_a), sum = 0;
	int result;

	*comparison = (struct profile_comparison){
		.is_inclusive = a->is_completed && b->is_completed,
		.total = profile_total(b, event_b),
		.pairs = alloc_zero(a->function_count + b->function_count + 1, sizeof *comparison->pairs),
		.count = b->function_count,
	};
	comparison->factor = total_a > 0 ? comparison->total / total_a : 1;
	result = to && comparison->pairs ? profile_attach(a, b, to) : -ENOMEM;
	for (uint32_t i = 0; !result && i < b->function_count; i++)
		comparison->pairs[i] = (struct profile_pair){
			.a = HASH_NONE, .b = i, .cost_b = cost_of(b, i, event_b, comparison->is_inclusive)
		};
	if (!result) {
		pair_up(a, event_a, to, comparison);
		for (size_t i = 0; i < comparison->count; i++)
			sum += pow(comparison->pairs[i].cost_a - comparison->pairs[i].cost_b, 2);
		comparison->delta = sqrt(sum);
		qsort(comparison->pairs, comparison->count, sizeof *comparison->pairs, compare_pairs);
	}
	alloc_free(to);
	return result;
}
