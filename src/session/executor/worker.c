// SPDX-License-Identifier: BSD-2-Clause
/* A worker thread, and what it does with an item. */

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

void worker_do(struct worker *worker, const struct batch *batch)
{
	worker->turn = &batch->turns[worker->index];
	worker->turn->failed = do_all(worker, batch);
}
