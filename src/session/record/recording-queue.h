/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_RECORD_RECORDING_QUEUE_H
#define SESSION_RECORD_RECORDING_QUEUE_H

/*
 * Marks in a piece of memory of fixed size, in order, with copies of their texts: room is taken once, so that noting a
 * match allocates nothing. A queue belongs to one thread at a time.
 */

#include "session/record/recording.h"

struct recording_queue {
	char *bytes;
	size_t used, capacity;
};

/* The room that any one mark fits in: longer texts are cut to what a trace holds of them. */
enum { RECORDING_QUEUE_BYTES_MIN = 8192 };

/* Returns 0 or -ENOMEM. */
int recording_queue_init(struct recording_queue *queue, size_t bytes);
void recording_queue_fini(struct recording_queue *queue);

/* False: there is no room. */
bool recording_queue_put(struct recording_queue *queue, const struct recording_mark *mark);

/* The mark at *at (0: the first), which goes on to the next; NULL at the end. */
const struct recording_mark *recording_queue_next(const struct recording_queue *queue, size_t *at);

#endif
