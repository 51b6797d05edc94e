/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_STREAM_QUEUE_H
#define SENSOR_STREAM_QUEUE_H

/*
 * Events that are handed over, as an input of a merge: the kernel's. They come nearly in the order of their times; they
 * wait here until their owner says that none will come any more that is before them.
 */

#include "sensor/stream/merge.h"

struct queue_item {
	uint64_t key_ns, order;
	uint32_t slot;
};

struct queue {
	struct merge_input input; /* first */
	uint8_t *records;         /* slots of stride bytes */
	uint32_t stride, slots, free_count;
	uint32_t *free;           /* slots */
	struct queue_item *items; /* a heap */
	size_t count;
	uint64_t floor_ns; /* of what is to come */
	uint64_t last_ns;  /* the latest key so far */
	uint64_t order;
	uint32_t given; /* slot of the input's head */
};

/* record_bytes: of the largest. Returns 0 or -ENOMEM; queue_fini is in place either way. */
int queue_init(struct queue *queue, uint32_t record_bytes);
void queue_fini(struct queue *queue);

/* Whether there is no room for another one. */
bool queue_is_full(const struct queue *queue);

/* Takes a copy of the first bytes of record, for which there must be room. */
void queue_put(struct queue *queue, const struct event_header *record, uint32_t bytes);

/* No event before floor_ns will come, but for those that are marked as late. */
void queue_settle(struct queue *queue, uint64_t floor_ns);

/* Makes room: the oldest has to go, whatever may still come. */
void queue_push_on(struct queue *queue);

#endif
