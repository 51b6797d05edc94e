/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_STREAM_MERGE_H
#define SENSOR_STREAM_MERGE_H

/*
 * Events of several inputs as one stream in the order of their times, while they are being raised. Each input says
 * which event is its next, or, where none has come, up to when none will: its floor. An event is handed out when no
 * floor is before it. So the least floor is the watermark: everything before it has been handed out.
 *
 * An input that does not keep its word has late events: they are handed out at once, marked and counted. Where all do,
 * times never go back; events of one time come in any order.
 *
 * A merge belongs to one thread. Its inputs are its owner's, and outlive it or are removed.
 */

#include "event/type.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The floor of an input from which nothing will come. */
#define MERGE_NEVER UINT64_MAX

struct merge_input {
	/*
	 * Asked where head is NULL: sets head where an event has come, or else raises floor_ns as far as is known.
	 */
	void (*look)(struct merge_input *input);
	struct event_header *head; /* stays until it is handed out */
	uint64_t key_ns;           /* of head: where it belongs, its time or, of one that waited for something, later */
	uint64_t floor_ns;
};

struct merge {
	struct merge_input **inputs, **heap; /* heap: those that have a head, the earliest first */
	size_t input_count, input_capacity, heap_count, heap_capacity;
	uint64_t watermark_ns;
	uint64_t last_ns; /* where the last event handed out belongs */
	uint64_t late;    /* events */
	bool has_more;    /* the last turn has left something that was due */
};

/* Zeroed, a merge has no inputs. */
void merge_fini(struct merge *merge);

/* Returns 0 or -ENOMEM. */
int merge_add(struct merge *merge, struct merge_input *input);

/* An event that it has not handed out is its owner's again. */
void merge_remove(struct merge *merge, struct merge_input *input);

/* An event of input, until it returns; a late one's type has EVENT_LATE. Returns 0, or what ends the turn. */
typedef int merge_event_fn(void *context, struct merge_input *input, const struct event_header *record);

/*
 * Asks every input that has no event, and hands out what is due, limit events at most. Returns 0, or what on_event
 * returned, having taken its event.
 */
int merge_turn(struct merge *merge, uint32_t limit, merge_event_fn *on_event, void *context);

#endif
