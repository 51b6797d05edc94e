// SPDX-License-Identifier: BSD-2-Clause
/* Computes how much room a batch has. */

#include "session/executor/batch.h"

#include "base/alloc.h"

#include <errno.h>

/* A batch that is not full yet may still get the time, the largest event and the time again. */
#define MARGIN (EVENT_RECORD_BYTES_MAX + 2 * sizeof(struct event_header))

int batch_init(struct batch *batch, uint32_t worker_count, size_t bytes)
{
	batch->items = alloc_zero(bytes + MARGIN, 1);
	batch->turns = alloc_zero(worker_count, sizeof *batch->turns);
	return batch->items && batch->turns ? 0 : -ENOMEM;
}

void batch_fini(struct batch *batch, uint32_t worker_count)
{
	for (uint32_t i = 0; batch->turns && i < worker_count; i++)
		found_fini(&batch->turns[i].found);
	alloc_free(batch->turns);
	alloc_free(batch->items);
}

void batch_empty(struct batch *batch, uint32_t worker_count)
{
	batch->used = 0;
	batch->count = 0;
	for (uint32_t i = 0; i < worker_count; i++)
		found_clear(&batch->turns[i].found);
}
