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

#include <stdint.h>
#include <string.h>

/* Types of items that are no events: seq is how many were lost, or ts the time that it is. */
enum { ITEM_LOSS = PROGRAM_NONE - 1, ITEM_TIME = PROGRAM_NONE - 2 };

/* What one worker gives. */
struct batch_turn {
	struct found_list found;
	int failed; /* 0 or a negative result */
};

struct batch {
	char *items; /* headers and as much of the records as is looked at */
	size_t used; /* bytes of items */
	uint32_t count;
	struct batch_turn *turns; /* per worker */
	uint32_t left;            /* workers that are not done with it */
};

/*
 * Room for items of so many bytes, and when it is not full yet for the time, an event and the time again beyond. Free
 * with batch_fini either way. Returns 0, -ENOMEM.
 */
int batch_init(struct batch *batch, uint32_t worker_count, size_t bytes);
void batch_fini(struct batch *batch, uint32_t worker_count);

/* Makes it ready to be filled again. */
void batch_empty(struct batch *batch, uint32_t worker_count);

/* Adds an item of bytes, a multiple of 8 and not less than a header. */
static inline struct event_header *batch_add(struct batch *batch, const struct event_header *item, size_t bytes)
{
	const char *from = (const char *)item;
	char *to = batch->items + batch->used;

	memcpy(to, from, sizeof *item);
	for (size_t at = sizeof *item; at < bytes; at += sizeof(uint64_t))
		memcpy(to + at, from + at, sizeof(uint64_t));
	batch->used += bytes;
	batch->count++;
	return (struct event_header *)to;
}

#endif
