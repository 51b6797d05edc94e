// SPDX-License-Identifier: BSD-2-Clause
/* Decides whether the shares of a rule together are what one engine is. */

#include "session/executor/divided.h"

#include "base/alloc.h"

#include <errno.h>

int divided_init(struct divided *divided, const struct shard_split *split, uint32_t part)
{
	const struct shard_part *first = &split->parts[part];

	divided->rule = first->rule;
	divided->key = first->key;
	divided->shard_count = first->shard_count;
	divided->workers = alloc_zero(first->shard_count, sizeof *divided->workers);
	divided->logs = alloc_zero(first->shard_count, sizeof(const struct level_log *));
	if (!divided->workers || !divided->logs)
		return -ENOMEM;
	for (uint32_t i = 0; i < split->part_count; i++) {
		const struct shard_part *other = &split->parts[i];

		if (other->shard_count > 1 && other->rule == first->rule)
			divided->workers[other->shard] = i;
	}
	return level_sum_init(&divided->sum, first->shard_count);
}

void divided_fini(struct divided *divided)
{
	alloc_free(divided->workers);
	alloc_free(divided->logs);
	level_sum_fini(&divided->sum);
}

bool divided_add(struct divided *divided, const struct batch *batch, uint64_t pool)
{
	bool has_refused = false;
	double memory_share = 0;

	for (uint32_t i = 0; i < divided->shard_count; i++) {
		const struct level_log *log = &batch->turns[divided->workers[i]].levels;

		divided->logs[i] = log;
		has_refused |= log->has_refused;
		memory_share += log->memory_share;
	}
	level_sum_add(&divided->sum, divided->logs);
	return !has_refused && memory_share <= 1 && divided->sum.max <= pool;
}
