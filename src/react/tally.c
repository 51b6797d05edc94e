// SPDX-License-Identifier: BSD-2-Clause
/* Keeps counters and histograms by name. */

#include "react/tally.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>

uint32_t react_bucket(int64_t value)
{
	return value <= 0 ? 0 : 64 - (uint32_t)__builtin_clzll((uint64_t)value);
}

struct react_tally *react_tallies_get(struct react_tallies *tallies, const char *name, bool is_histogram)
{
	for (size_t i = 0; i < tallies->count; i++) {
		struct react_tally *tally = &tallies->items[i];

		if (tally->is_histogram == is_histogram && strcmp(tally->name, name) == 0)
			return tally;
	}
	char *copy = alloc_text(name);

	if (!copy || alloc_grow(&tallies->items, &tallies->capacity, tallies->count, sizeof *tallies->items)) {
		alloc_free(copy);
		return NULL;
	}
	struct react_tally *tally = &tallies->items[tallies->count++];

	*tally = (struct react_tally){ .name = copy, .is_histogram = is_histogram };
	return tally;
}

int react_tallies_add(struct react_tallies *tallies, const struct react_tally *from)
{
	struct react_tally *to = react_tallies_get(tallies, from->name, from->is_histogram);

	if (!to)
		return -ENOMEM;
	to->count += from->count;
	for (uint32_t i = 0; i < REACT_BUCKETS; i++)
		to->buckets[i] += from->buckets[i];
	return 0;
}

void react_tallies_fini(struct react_tallies *tallies)
{
	for (size_t i = 0; i < tallies->count; i++)
		alloc_free((void *)tallies->items[i].name);
	alloc_free(tallies->items);
	*tallies = (struct react_tallies){ 0 };
}
