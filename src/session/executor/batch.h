/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_EXECUTOR_BATCH_H
#define SESSION_EXECUTOR_BATCH_H

/*
 * The batches that go to and fro between the owner of a sharded executor and its workers. A batch's items belong to the
 * owner until it is published, and then are read only; what a worker finds in it belongs to that worker until the batch
 * is done, then to the owner. The executor sees to it that both changes of hands happen under its lock.
 */

#include "event/type.h"
#include "program/found.h"
#include "session/executor/level.h"
#include "session/executor/split.h"

#include <string.h>

/* Types of items that are no events: seq is how many were lost, or ts the time that it is. */
enum { ITEM_LOSS = PROGRAM_NONE - 1, ITEM_TIME = PROGRAM_NONE - 2 };

/* An item that concerns a share. */
struct batch_item {
	uint32_t offset; /* in items */
	uint32_t number;
};

/* What one worker gets and gives. */
struct batch_turn {
	struct batch_item *own; /* of a worker with a share: its items; the others see all of them */
	uint32_t own_count;
	struct found_list found;
	struct level_log levels;
	int failed; /* 0 or a negative result */
};

struct batch {
	char *items;     /* headers and as much of the records as is looked at */
	uint64_t *times; /* per item: the time at it */
	size_t used;     /* bytes of items */
	uint32_t count;
	struct batch_turn *turns; /* per worker */
	uint32_t left;            /* workers that are not done with it */
};

/*
 * Room for items of so many bytes, and when it is not full yet for the time, an event and the time again beyond. The
 * workers are those of split. Free with batch_fini either way. Returns 0, -ENOMEM.
 */
int batch_init(struct batch *batch, const struct shard_split *split, size_t bytes);
void batch_fini(struct batch *batch, uint32_t worker_count);

/* Makes it ready to be filled again. */
void batch_empty(struct batch *batch, uint32_t worker_count);

/* Adds an item of bytes, a multiple of 8 and not less than a header, at a time that does not go back. */
static inline struct batch_item batch_add(struct batch *batch, const struct event_header *item, size_t bytes,
					  uint64_t now)
{
	const struct batch_item added = { (uint32_t)batch->used, batch->count };
	const char *from = (const char *)item;
	char *to = batch->items + batch->used;

	memcpy(to, from, sizeof *item);
	for (size_t at = sizeof *item; at < bytes; at += sizeof(uint64_t))
		memcpy(to + at, from + at, sizeof(uint64_t));
	batch->used += bytes;
	batch->times[batch->count++] = now;
	return added;
}

/* Makes the item the last one of a worker's own. */
static inline void batch_give(struct batch *batch, uint32_t worker, struct batch_item item)
{
	struct batch_turn *turn = &batch->turns[worker];

	turn->own[turn->own_count++] = item;
}

#endif
