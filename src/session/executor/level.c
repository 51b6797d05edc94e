// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides how the levels of shares are added up. The shares reach their peaks at different items, so the sum of the
 * peaks only bounds the peak of the sum: where even this bound is nothing new, the items need not be looked at. An item
 * opens runs in one share at most; in the others time passes at it, and that happens before.
 */

#include "session/executor/level.h"

#include "base/alloc.h"

#include <errno.h>

void level_log_begin(struct level_log *log, uint32_t live)
{
	log->count = 0;
	log->block_count = 0;
	log->highest = 0;
	log->live = live;
}

/* Ends blocks until there are count. */
static int end_blocks(struct level_log *log, size_t count)
{
	while (log->block_count < count) {
		if (alloc_grow(&log->blocks, &log->block_room, log->block_count, sizeof *log->blocks))
			return -ENOMEM;
		log->blocks[log->block_count++] = (struct level_block){ (uint32_t)log->count, log->highest };
		log->highest = 0;
	}
	return 0;
}

int level_log_add(struct level_log *log, uint32_t item, struct engine_level level)
{
	if (level.live == log->live && !level.peak)
		return 0;
	if (end_blocks(log, item / LEVEL_BLOCK_ITEMS))
		return -ENOMEM;
	if (log->count == log->room && alloc_grow(&log->changes, &log->room, log->count, sizeof *log->changes))
		return -ENOMEM;
	log->changes[log->count++] = (struct level_change){ item, (uint32_t)level.live, (uint32_t)level.peak };
	log->live = (uint32_t)level.live;
	if (level.peak > log->highest)
		log->highest = (uint32_t)level.peak;
	return 0;
}

int level_log_end(struct level_log *log, uint32_t item_count)
{
	return end_blocks(log, item_count / LEVEL_BLOCK_ITEMS + 1);
}

void level_log_fini(struct level_log *log)
{
	alloc_free(log->changes);
	alloc_free(log->blocks);
	*log = (struct level_log){ 0 };
}

int level_sum_init(struct level_sum *sum, uint32_t shard_count)
{
	*sum = (struct level_sum){
		.shard_count = shard_count,
		.live = alloc_zero(shard_count, sizeof *sum->live),
		.at = alloc_zero(shard_count, sizeof *sum->at),
	};
	return sum->live && sum->at ? 0 : -ENOMEM;
}

void level_sum_fini(struct level_sum *sum)
{
	alloc_free(sum->live);
	alloc_free(sum->at);
	*sum = (struct level_sum){ 0 };
}

static bool may_rise(const struct level_sum *sum, const struct level_log *const *logs, size_t block)
{
	uint64_t bound = 0;

	for (uint32_t i = 0; i < sum->shard_count; i++) {
		uint32_t highest = logs[i]->blocks[block].highest;

		bound += highest > sum->live[i] ? highest : sum->live[i];
	}
	return bound > sum->max;
}

/* The share's next change in the block, or NULL. */
static const struct level_change *next_of(const struct level_sum *sum, const struct level_log *log, uint32_t shard,
					  size_t block)
{
	return sum->at[shard] < log->blocks[block].end ? &log->changes[sum->at[shard]] : NULL;
}

/* Adds what happened at item in all shares. */
static void add_item(struct level_sum *sum, const struct level_log *const *logs, size_t block, uint32_t item)
{
	uint64_t above = 0;

	for (uint32_t i = 0; i < sum->shard_count; i++) {
		const struct level_change *change = next_of(sum, logs[i], i, block);

		if (!change || change->item != item)
			continue;
		sum->total = sum->total - sum->live[i] + change->live;
		sum->live[i] = change->live;
		sum->at[i]++;
		if (change->peak > change->live)
			above = change->peak - change->live;
	}
	if (sum->total + above > sum->max)
		sum->max = sum->total + above;
}

static void add_items(struct level_sum *sum, const struct level_log *const *logs, size_t block)
{
	for (;;) {
		uint32_t item = UINT32_MAX;

		for (uint32_t i = 0; i < sum->shard_count; i++) {
			const struct level_change *change = next_of(sum, logs[i], i, block);

			if (change && change->item < item)
				item = change->item;
		}
		if (item == UINT32_MAX)
			return;
		add_item(sum, logs, block, item);
	}
}

/* Goes to the end of the block. */
static void pass_block(struct level_sum *sum, const struct level_log *const *logs, size_t block)
{
	for (uint32_t i = 0; i < sum->shard_count; i++) {
		uint32_t end = logs[i]->blocks[block].end;

		if (end == sum->at[i])
			continue;
		sum->total = sum->total - sum->live[i] + logs[i]->changes[end - 1].live;
		sum->live[i] = logs[i]->changes[end - 1].live;
		sum->at[i] = end;
	}
}

void level_sum_add(struct level_sum *sum, const struct level_log *const *logs)
{
	for (uint32_t i = 0; i < sum->shard_count; i++)
		sum->at[i] = 0;
	for (size_t block = 0; block < logs[0]->block_count; block++) {
		if (may_rise(sum, logs, block))
			add_items(sum, logs, block);
		else
			pass_block(sum, logs, block);
	}
}
