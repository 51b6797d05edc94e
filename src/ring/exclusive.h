/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RING_EXCLUSIVE_H
#define RING_EXCLUSIVE_H

/*
 * The exclusive writer: one thread at a time writes to a ring, with plain loads and stores. C11 and C++11; needs
 *nothing but these headers. What it writes, every reader of rings reads.
 *
 *	uint64_t *payload = ring_exclusive_reserve(&writer, 2);
 *
 *	if (payload) {
 *		... fill it ...
 *		ring_exclusive_commit(&writer, ID, now());
 *	}
 *
 * Guarantees, beside those of ring/ring.h: both steps are wait-free and make no system call. The counter of a
 * sub-buffer is a prefix: everything below it is written. While the reserve word is ahead of it, an event is in flight.
 * An event that is reserved and never committed is not in the ring, and the next one takes its place. The event's time
 * is that of its commit.
 *
 * Order, each barrier with its partner in a reader:
 *   (a) reserve word, release fence, data      - data, acquire fence, reserve word: who has read data of the next lap
 *                                                sees that its sub-buffer was opened again
 *   (b) data, commit (release)                 - look at the counter (acquire), data
 *   (c) opening: reserve word, release fence, then the end of the sub-buffer before, then the header of the new one
 *
 * A sub-buffer's header and its context wait for the time of its first event: they are dated when that is committed,
 * and until then nothing of the sub-buffer is (writer.due is 0).
 */

#include "ring/layout.h"
#include "ring/order.h"

#include <string.h>

#define RING_COLD __attribute__((cold, noinline, unused))

/* Private to the writing thread, never in shared memory. */
struct ring_exclusive {
	/* In units since the ring's beginning. */
	uint64_t position; /* of the next event's word; before it everything is committed, or will be with that event */
	uint64_t end;      /* of the event reserved */
	uint64_t limit;    /* where the sub-buffer ends; 0: the next event needs another, or another context */
	uint64_t base;     /* what the counter is behind the position */
	uint64_t events;   /* committed */
	uint64_t due;      /* the time from which on an event needs another sub-buffer; 0: this one has no event yet */
	uint64_t last_ts;
	uint64_t told;    /* where the context of a borrower ends that no event has followed yet, or may have */
	uint64_t *commit; /* the sub-buffer's counter */
	uint64_t *data;
	uint64_t mask; /* of positions in data */
	struct ring_control *control;
	uint32_t sub_units, sub_count;
	struct ring_context who;
};

/* A writer to a ring of valid shape that nobody has written to: zeros, but for the form. */
static inline void ring_exclusive_init(struct ring_exclusive *writer, struct ring_control *control, uint64_t *data,
				       uint32_t sub_units, uint32_t sub_count)
{
	memset(writer, 0, sizeof *writer);
	writer->control = control;
	writer->data = data;
	writer->sub_units = sub_units;
	writer->sub_count = sub_count;
	writer->mask = (uint64_t)sub_units * sub_count - 1;
}

/* Events from here on are by who, and begin a sub-buffer. For another thread, too, once the last one is done with it.
 */
static inline void ring_exclusive_own(struct ring_exclusive *writer, const struct ring_context *who)
{
	if (writer->told && writer->told == writer->position) /* an event that never came was to follow */
		writer->position -= RING_CONTEXT_UNITS;
	writer->told = 0;
	writer->who = *who;
	writer->limit = 0;
}

static inline uint64_t *ring_exclusive_unit(const struct ring_exclusive *writer, uint64_t position)
{
	return &writer->data[position & writer->mask];
}

/* One event more, up to end, is in flight. */
static inline void ring_exclusive_announce(struct ring_exclusive *writer, uint64_t end)
{
	writer->end = end;
	ring_order_store(&writer->control->reserve, (uint32_t)end | (writer->events + 1) << 32);
	ring_order_fence_release();
}

/* The sub-buffer that position is in ends there. */
static inline void ring_exclusive_close(struct ring_exclusive *writer, uint64_t position)
{
	uint64_t used = position & (writer->sub_units - 1);
	uint64_t *header = ring_exclusive_unit(writer, position - used);

	ring_order_store(&header[RING_HEADER_UNIT(timestamp_end)], writer->last_ts);
	ring_order_store(&header[RING_HEADER_UNIT(content_bits)], used * RING_UNIT_BYTES * 8);
	ring_order_store(&header[RING_HEADER_UNIT(events_after)], writer->events);
	ring_order_store_release(writer->commit, position - used + writer->sub_units - writer->base);
}

/* What of a new sub-buffer needs no time, from its start on. */
static inline void ring_exclusive_begin(struct ring_exclusive *writer, uint64_t start)
{
	uint64_t *header = ring_exclusive_unit(writer, start), *context = header + RING_HEADER_UNITS;
	uint64_t sequence = start / writer->sub_units, words[2];

	ring_order_store(&writer->control->position, start);
	ring_order_store(&writer->control->events, writer->events);
	ring_order_store(&header[RING_HEADER_UNIT(packet_seq_num)], sequence);
	ring_order_store(&header[RING_HEADER_UNIT(events_before)], writer->events);
	memcpy(words, writer->who.comm, sizeof words);
	ring_order_store(&context[1], writer->who.tid | (uint64_t)writer->who.pid << 32);
	ring_order_store(&context[2], words[0]);
	ring_order_store(&context[3], words[1]);
	writer->commit = ring_commit_counter(writer->control, (uint32_t)sequence & (writer->sub_count - 1));
	writer->base = start - sequence / writer->sub_count * writer->sub_units;
}

/* Reserves at the beginning of the next sub-buffer. False: no sub-buffer can hold the event, which counts as dropped.
 */
RING_COLD static int ring_exclusive_open(struct ring_exclusive *writer, uint32_t payload_units)
{
	const uint32_t before = RING_HEADER_UNITS + RING_CONTEXT_UNITS;
	uint64_t start = (writer->position + writer->sub_units - 1) & ~(uint64_t)(writer->sub_units - 1);
	uint64_t last = writer->position;
	int is_new = !last || writer->due;

	if (payload_units >= writer->sub_units - before - 1) {
		ring_order_store(&writer->control->dropped, ring_order_load(&writer->control->dropped) + 1);
		return 0;
	}
	if (!is_new) /* it was opened for an event that never came */
		start = last - before;
	ring_exclusive_announce(writer, start + before + 1 + payload_units);
	if (start != last && is_new)
		ring_exclusive_close(writer, last);
	ring_exclusive_begin(writer, start);
	writer->position = start + before;
	writer->limit = start + writer->sub_units;
	writer->due = 0;
	return 1;
}

/*
 * Reserves an event of payload_units. Returns its payload, to be filled before the commit, or NULL: no sub-buffer can
 * hold it.
 */
static inline uint64_t *ring_exclusive_reserve(struct ring_exclusive *writer, uint32_t payload_units)
{
	uint64_t end = writer->position + 1 + payload_units;

	if (__builtin_expect(end < writer->limit, 1))
		ring_exclusive_announce(writer, end);
	else if (!ring_exclusive_open(writer, payload_units))
		return NULL;
	return ring_exclusive_unit(writer, writer->position) + 1;
}

/* The event reserved is the first of its sub-buffer, or must become that. */
RING_COLD static void ring_exclusive_date(struct ring_exclusive *writer, uint64_t ts)
{
	if (writer->due) {
		uint32_t units = (uint32_t)(writer->end - writer->position - 1);
		const uint64_t *from = ring_exclusive_unit(writer, writer->position) + 1;

		ring_exclusive_open(writer, units);
		uint64_t *to = ring_exclusive_unit(writer, writer->position) + 1;

		for (uint32_t i = 0; i < units; i++)
			ring_order_store(&to[i], ring_order_load(&from[i]));
	}
	uint64_t *context = ring_exclusive_unit(writer, writer->position - RING_CONTEXT_UNITS);
	uint64_t *header = context - RING_HEADER_UNITS;

	ring_order_store(&header[RING_HEADER_UNIT(timestamp_begin)], ts);
	ring_order_store(&context[0], ring_event_word(RING_ID_CONTEXT, ts));
	writer->due = ts + RING_AGE_MAX;
}

/* What was reserved is an event with this id (not 0), which happened at ts: now, by the ring's clock. */
static inline void ring_exclusive_commit(struct ring_exclusive *writer, uint16_t id, uint64_t ts)
{
	if (__builtin_expect(ts < writer->last_ts, 0))
		ts = writer->last_ts;
	if (__builtin_expect(ts >= writer->due, 0))
		ring_exclusive_date(writer, ts);
	uint64_t *word = ring_exclusive_unit(writer, writer->position), *commit = writer->commit;
	uint64_t end = writer->end, counter = end - writer->base;

	writer->last_ts = ts;
	writer->events++;
	writer->position = end;
	ring_order_store(word, ring_event_word(id, ts));
	ring_order_store_release(commit, counter);
}

/* Who borrows a ring for an event. */
struct ring_borrower {
	struct ring_context who;
	uint64_t now; /* by the ring's clock, when it does */
};

/*
 * Reserves an event for somebody who may not be the writer's owner; it and what follows are by who. Their context
 * stands before the event where the sub-buffer has room for it, so that many may borrow a ring in turn.
 */
static inline uint64_t *ring_exclusive_borrow(struct ring_exclusive *writer, const struct ring_borrower *by,
					      uint32_t payload_units)
{
	const uint64_t soon =
		RING_AGE_MAX / 64; /* before the sub-buffer is too old for an event that is held for long */
	uint64_t context, words[2];

	if (writer->told && writer->told == writer->position) /* an event that never came was to follow */
		writer->position -= RING_CONTEXT_UNITS;
	context = writer->position;
	if (!writer->limit || !writer->due || by->now >= writer->due - soon ||
	    context + RING_CONTEXT_UNITS + 1 + payload_units >= writer->limit) {
		ring_exclusive_own(writer, &by->who);
		return ring_exclusive_reserve(writer, payload_units);
	}
	if (!memcmp(&writer->who, &by->who, sizeof by->who) && writer->told != context + RING_CONTEXT_UNITS)
		return ring_exclusive_reserve(writer, payload_units);
	writer->who = by->who;
	writer->told = context + RING_CONTEXT_UNITS;
	ring_exclusive_announce(writer, context + RING_CONTEXT_UNITS + 1 + payload_units);
	memcpy(words, by->who.comm, sizeof words);
	ring_order_store(ring_exclusive_unit(writer, context), ring_event_word(RING_ID_CONTEXT, writer->last_ts));
	ring_order_store(ring_exclusive_unit(writer, context + 1), by->who.tid | (uint64_t)by->who.pid << 32);
	ring_order_store(ring_exclusive_unit(writer, context + 2), words[0]);
	ring_order_store(ring_exclusive_unit(writer, context + 3), words[1]);
	writer->position = writer->told;
	return ring_exclusive_unit(writer, writer->position) + 1;
}

/* Commits it. Held for hours, it keeps the last time that its sub-buffer can tell. */
static inline void ring_exclusive_return(struct ring_exclusive *writer, uint16_t id, uint64_t ts)
{
	ring_exclusive_commit(writer, id, writer->due && ts >= writer->due ? writer->due - 1 : ts);
}

#endif
