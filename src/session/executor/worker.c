// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides what a worker does with an item. One with whole rules sees all items. One with a share of a rule sees its
 * own; the others only let time pass, and matter only if that ends a run: then the item is looked up, so that it can be
 * told how many runs there were at every item.
 */

#include "session/executor/worker.h"

int worker_match(void *context, const struct program_match *match)
{
	struct worker *worker = context;
	const struct found_place place = { worker->item, engine_turn(worker->engine) };

	return found_add(&worker->turn->found, worker->program, place, match);
}

static int do_item(struct worker *worker, const struct event_header *item)
{
	switch (item->type) {
	case ITEM_LOSS:
		engine_lose(worker->engine, item->seq);
		return 0;
	case ITEM_TIME:
		return engine_advance(worker->engine, item->ts);
	default:
		return engine_feed(worker->engine, item);
	}
}

static int do_all(struct worker *worker, const struct batch *batch)
{
	const char *at = batch->items;
	int result = 0;

	for (worker->item = 0; worker->item < batch->count && !result; worker->item++) {
		const struct event_header *item = (const struct event_header *)at;

		result = do_item(worker, item);
		at += event_type_of(item) < worker->program->type_count ? worker->item_bytes[event_type_of(item)]
									: sizeof *item;
	}
	return result;
}

static int note_level(struct worker *worker)
{
	return level_log_add(&worker->levels, worker->item, engine_take_level(worker->engine, worker->part->rule));
}

/* The first item from first on, and before end, at which the time is after ns. The last one before end is. */
static uint32_t first_after(const struct batch *batch, uint32_t first, uint32_t end, uint64_t ns)
{
	while (end - first > 1) {
		uint32_t middle = first + (end - first - 1) / 2;

		if (batch->times[middle] > ns)
			end = middle + 1;
		else
			first = middle + 1;
	}
	return first;
}

/* Lets time pass at other shares' items: those from first on, and before end. */
static int pass_time(struct worker *worker, const struct batch *batch, uint32_t first, uint32_t end)
{
	int result = 0;

	while (worker->expires && first < end && !result) {
		uint64_t deadline = engine_deadline(worker->engine);

		if (batch->times[end - 1] <= deadline)
			break;
		worker->item = first_after(batch, first, end, deadline);
		first = worker->item + 1;
		result = engine_advance(worker->engine, batch->times[worker->item]);
		if (!result)
			result = note_level(worker);
	}
	return result;
}

static int do_own(struct worker *worker, const struct batch *batch)
{
	const struct batch_turn *turn = worker->turn;
	uint32_t next = 0;
	int result = 0;

	for (uint32_t i = 0; i < turn->own_count && !result; i++) {
		const struct event_header *item = (const struct event_header *)(batch->items + turn->own[i].offset);

		result = pass_time(worker, batch, next, turn->own[i].number);
		if (result)
			break;
		worker->item = turn->own[i].number;
		next = worker->item + 1;
		result = do_item(worker, item);
		if (!result)
			result = note_level(worker);
	}
	if (!result)
		result = pass_time(worker, batch, next, batch->count);
	return result ? result : level_log_end(&worker->levels, batch->count);
}

/* What the shares of a rule must not exceed together. */
static void note_limits(struct worker *worker)
{
	struct program_rule_stats stats;

	engine_stats(worker->engine, worker->part->rule, &stats);
	worker->levels.has_refused = stats.pool_exhausted || stats.crowded;
	worker->levels.memory_share = engine_memory_share(worker->engine, worker->part->rule);
}

void worker_do(struct worker *worker, const struct batch *batch)
{
	uint32_t live = worker->levels.live;

	worker->turn = &batch->turns[worker->index];
	if (worker->part->shard_count == 1) {
		worker->turn->failed = do_all(worker, batch);
		return;
	}
	worker->levels = worker->turn->levels;
	level_log_begin(&worker->levels, live);
	worker->turn->failed = do_own(worker, batch);
	note_limits(worker);
	worker->turn->levels = worker->levels;
}
