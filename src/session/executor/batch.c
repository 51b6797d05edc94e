// SPDX-License-Identifier: BSD-2-Clause
/* Decides how much room a batch has. */

#include "session/executor/batch.h"

#include "base/alloc.h"

#include <errno.h>

/* A batch that is not full yet may still get the time, the largest event and the time again. */
#define MARGIN (EVENT_RECORD_BYTES_MAX + 2 * sizeof(struct event_header))

int batch_init(struct batch *batch, const struct shard_split *split, size_t bytes)
{
	size_t room = bytes + MARGIN, count = room / sizeof(struct event_header) + 1;
	int result = 0;

	batch->items = alloc_zero(room, 1);
	batch->times = alloc_zero(count, sizeof *batch->times);
	batch->turns = alloc_zero(split->part_count, sizeof *batch->turns);
	if (!batch->items || !batch->times || !batch->turns)
		return -ENOMEM;
	for (uint32_t i = 0; i < split->part_count && !result; i++) {
		if (split->parts[i].shard_count == 1)
			continue;
		batch->turns[i].own = alloc_zero(count, sizeof *batch->turns[i].own);
		result = batch->turns[i].own ? 0 : -ENOMEM;
	}
	return result;
}

void batch_fini(struct batch *batch, uint32_t worker_count)
{
	for (uint32_t i = 0; batch->turns && i < worker_count; i++) {
		alloc_free(batch->turns[i].own);
		found_fini(&batch->turns[i].found);
		level_log_fini(&batch->turns[i].levels);
	}
	alloc_free(batch->turns);
	alloc_free(batch->times);
	alloc_free(batch->items);
}

void batch_empty(struct batch *batch, uint32_t worker_count)
{
	batch->used = 0;
	batch->count = 0;
	for (uint32_t i = 0; i < worker_count; i++) {
		found_clear(&batch->turns[i].found);
		batch->turns[i].own_count = 0;
	}
}
