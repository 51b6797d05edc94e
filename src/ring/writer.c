// SPDX-License-Identifier: BSD-2-Clause
/* Writes events into the ring. Programs in the kernel do the same (src/ebpf/recorder/emit.c). */

#include "ring/atomic.h"
#include "ring/ring-priv.h"

#include <errno.h>
#include <string.h>

/* One event's place. */
struct place {
	uint64_t ts;
	uint64_t old;  /* the word before */
	uint32_t rest; /* units of the old sub-buffer that become padding; only where one is opened */
	uint32_t slot;
	uint32_t begin; /* position of the first unit, context included */
	uint32_t end;   /* position behind it */
	bool opens, reports;
};

static uint32_t offset_in_ring(const struct ring *ring, uint32_t position)
{
	return position & (ring->sub_units - 1);
}

static uint64_t comm_word(const struct ring_context *who, int word)
{
	uint64_t value;

	memcpy(&value, who->comm + word * RING_UNIT_BYTES, sizeof value);
	return value;
}

/* Whether the last event before position was by the same thread under the same name. */
static bool is_context_reported(struct ring_control *control, const struct ring_context *who, uint32_t position)
{
	return ring_reported_load(control) == (position | (uint64_t)who->tid << 32) &&
	       ring_reported_comm_load(control, 0) == comm_word(who, 0) &&
	       ring_reported_comm_load(control, 1) == comm_word(who, 1);
}

/* Whether the sub-buffer that is opened at position is complete as of the lap before. */
static bool is_settled(const struct ring *ring, uint32_t slot, uint32_t position)
{
	uint32_t lap = position & ~(ring->sub_units * ring->sub_count - 1);

	return (uint32_t)(ring_commit_check(ring->control, slot) * ring->sub_count) == lap;
}

/* Whether the sub-buffer that is written to is too old for an event at ts. */
static bool is_due(struct ring_control *control, uint64_t ts)
{
	return ts > ring_long_load(&control->due) - 1;
}

/* Returns 0, -EBUSY, -EAGAIN. units: of the event without a context. */
static int reserve_element(const struct ring *ring, const struct ring_context *who, uint32_t units, struct place *place)
{
	struct ring_control *control = ring->control;
	uint64_t old = ring_word_load(control);

	place->ts = ring_clock_now(ring);
	place->old = old;
	place->begin = ring_word_position(old);
	place->reports = !is_context_reported(control, who, place->begin);
	uint32_t offset = offset_in_ring(ring, place->begin), all = units + (place->reports ? RING_CONTEXT_UNITS : 0);

	place->opens = offset == 0 || offset + all >= ring->sub_units || is_due(control, place->ts);
	if (place->opens) {
		place->reports = true;
		all = units + RING_CONTEXT_UNITS;
		place->rest = offset ? ring->sub_units - offset : 0;
		place->begin += place->rest;
	}
	place->slot = ring_slot(ring, place->begin);
	if (place->opens) {
		/* Where the word is another by now, the sub-buffer has perhaps been opened already. */
		if (!is_settled(ring, place->slot, place->begin))
			return ring_word_load(control) == old ? -EBUSY : -EAGAIN;
		place->begin += RING_HEADER_UNITS;
	}
	place->end = place->begin + all;
	return ring_word_exchange(control, old, place->end | ((uint64_t)ring_word_events(old) + 1) << 32) ? 0 : -EAGAIN;
}

static void store_header(const struct ring *ring, uint32_t position, size_t unit, uint64_t value)
{
	ring_data_store(ring_unit(ring, position) + unit, value);
}

/* Closes the sub-buffer before the place, and writes the header of its own. */
static void open_sub_buffer(const struct ring *ring, const struct place *place)
{
	struct ring_control *control = ring->control;
	uint32_t start = place->begin - RING_HEADER_UNITS, before = start - ring->sub_units;
	uint64_t position = ring_lengthen(ring_long_load(&control->position), start);
	uint64_t events = ring_lengthen(ring_long_load(&control->events), ring_word_events(place->old));

	ring_long_store(&control->position, position);
	ring_long_store(&control->events, events);
	ring_long_store(&control->due, place->ts + RING_AGE_MAX);
	if (place->rest) {
		uint64_t content_bits = (uint64_t)(ring->sub_units - place->rest) * RING_UNIT_BYTES * 8;

		store_header(ring, before, RING_HEADER_UNIT(timestamp_end), place->ts);
		store_header(ring, before, RING_HEADER_UNIT(content_bits), content_bits);
		store_header(ring, before, RING_HEADER_UNIT(events_after), events);
		ring_commit_add(control, ring_slot(ring, before), place->rest);
	}
	store_header(ring, start, RING_HEADER_UNIT(timestamp_begin), place->ts);
	store_header(ring, start, RING_HEADER_UNIT(packet_seq_num), position / ring->sub_units);
	store_header(ring, start, RING_HEADER_UNIT(events_before), events);
}

static void report_context(const struct ring *ring, const struct place *place, const struct ring_context *who)
{
	uint64_t *unit = ring_unit(ring, place->begin);

	ring_data_store(&unit[0], ring_event_word(RING_ID_CONTEXT, place->ts));
	ring_data_store(&unit[1], who->tid | (uint64_t)who->pid << 32);
	for (int i = 0; i < 2; i++) {
		ring_data_store(&unit[2 + i], comm_word(who, i));
		ring_reported_comm_store(ring->control, i, comm_word(who, i));
	}
}

int ring_put(const struct ring *ring, const struct ring_context *who, uint16_t id, const uint64_t *payload,
	     uint32_t payload_units)
{
	struct place place;
	int result = -EAGAIN;

	if (payload_units >= ring->sub_units - RING_HEADER_UNITS - RING_CONTEXT_UNITS - 1)
		result = -EMSGSIZE;
	for (int i = 0; i < RING_ATTEMPTS && result == -EAGAIN; i++)
		result = reserve_element(ring, who, 1 + payload_units, &place);
	if (result) {
		ring_drop_add(ring->control);
		return result;
	}
	if (place.opens)
		open_sub_buffer(ring, &place);
	if (place.reports)
		report_context(ring, &place, who);
	ring_reported_store(ring->control, place.end | (uint64_t)who->tid << 32);

	uint64_t *unit = ring_unit(ring, place.begin + (place.reports ? RING_CONTEXT_UNITS : 0));

	ring_data_store(unit, ring_event_word(id, place.ts));
	for (uint32_t i = 0; i < payload_units; i++)
		ring_data_store(&unit[1 + i], payload[i]);
	ring_commit_add(ring->control, place.slot,
			place.end - place.begin + (place.opens ? (uint32_t)RING_HEADER_UNITS : 0));
	return 0;
}
