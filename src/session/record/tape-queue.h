/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_RECORD_TAPE_QUEUE_H
#define SESSION_RECORD_TAPE_QUEUE_H

/*
 * Marks in a piece of memory of fixed size, in order, with copies of their texts: room is taken once, so that noting a
 * match allocates nothing. A queue belongs to one thread at a time.
 */

#include "session/record/tape.h"

struct tape_queue {
	char *bytes;
	size_t used, capacity;
};

/* The room that any one mark fits in: longer texts are cut to what a trace holds of them. */
enum { TAPE_QUEUE_BYTES_MIN = 8192 };

/* Returns 0 or -ENOMEM. */
int tape_queue_init(struct tape_queue *queue, size_t bytes);
void tape_queue_fini(struct tape_queue *queue);

/* False: there is no room. */
bool tape_queue_put(struct tape_queue *queue, const struct tape_mark *mark);

/* The mark at *at (0: the first), which goes on to the next; NULL at the end. */
const struct tape_mark *tape_queue_next(const struct tape_queue *queue, size_t *at);

#endif
