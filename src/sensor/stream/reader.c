// SPDX-License-Identifier: BSD-2-Clause
/* Reads elements from a ring, and says until when an empty ring lets others go on. */

#include "sensor/stream/reader.h"

#include "base/alloc.h"
#include "ring/order.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

enum { WORDS_MAX = EVENT_RECORD_BYTES_MAX / RING_UNIT_BYTES };

int stream_reader_init(struct stream_reader *reader, struct stream_reading *reading,
		       const struct stream_reader_options *options)
{
	*reader = (struct stream_reader){ .input.look = stream_reader_look };
	reader->reading = reading;
	reader->forms = options->forms;
	reader->pid = options->pid;
	ring_elements_init(&reader->elements, options->ring, options->units, options->ids);
	if (!options->is_new)
		ring_elements_oldest(&reader->elements);
	reader->record = alloc_zero(reading->record_bytes, 1);
	return reader->record ? 0 : -ENOMEM;
}

void stream_reader_fini(struct stream_reader *reader)
{
	alloc_free(reader->record);
	reader->record = NULL;
	reader->input.head = NULL;
}

static uint64_t element_time(const struct stream_reader *reader, uint64_t ts)
{
	uint64_t ns = reader->elements.ring.clock == RING_CLOCK_TSC ? stream_clock_ns(&reader->reading->clock, ts) : ts;

	return ns > reader->last_ns ? ns : reader->last_ns;
}

/* A number of the element, as records have them. */
static uint64_t element_number(const struct stream_field *field, const uint8_t *at)
{
	uint64_t word = 0;

	memcpy(&word, at, field->from_bytes); /* little end first, as on all machines that there are rings on */
	return event_value_narrow(field->value, word);
}

static void fill_field(uint8_t *record, const struct stream_field *field, const uint8_t *element)
{
	uint8_t *to = record + field->to;

	if (field->value == EVENT_STRING) {
		size_t room = field->to_bytes - 1, length = field->from_bytes < room ? field->from_bytes : room;

		length = strnlen((const char *)element + field->from, length);
		memcpy(to, element + field->from, length);
		memset(to + length, 0, field->to_bytes - length);
	} else {
		uint64_t number = element_number(field, element + field->from);

		memcpy(to, &number, sizeof number);
	}
}

static void fill_header(struct stream_reader *reader, const struct stream_form *form, uint64_t ts,
			const uint64_t *words)
{
	struct event_header *record = reader->record;
	const struct ring_context *who = &reader->elements.who;

	*record = (struct event_header){
		.ts = ts,
		.type = form->type,
		.cpu = EVENT_NO_CPU,
		.pid = reader->pid,
		.tid = who->tid,
	};
	memcpy(record->comm, who->comm, strnlen(who->comm, EVENT_COMM_BYTES - 1));
	for (uint32_t i = 0; i < form->field_count; i++)
		fill_field((uint8_t *)record, &form->fields[i], (const uint8_t *)words);
	reader->input.head = record;
	reader->input.key_ns = ts;
}

/* Returns whether there was an element; head may be NULL all the same, as nobody wants it. */
static bool take_stream_element(struct stream_reader *reader)
{
	struct ring_element element;
	uint64_t words[WORDS_MAX];
	uint64_t ts;

	if (ring_elements_look(&reader->elements, &element) != 1)
		return false;
	for (uint32_t i = 0; i < element.units && i < WORDS_MAX; i++)
		words[i] = ring_order_load(&element.payload[i]);
	if (!ring_elements_take(&reader->elements))
		return true; /* it was overwritten, and counts as lost */
	ts = element_time(reader, element.ts);
	reader->last_ns = ts;
	reader->since_ns = 0;
	reader->passed = reader->doubts = false;
	reader->is_over |= ts > reader->reading->end_ns;
	if (reader->forms[element.id].type == STREAM_NO_TYPE || ts < reader->reading->begin_ns || reader->is_over)
		return !reader->is_over;
	reader->reading->events++;
	fill_header(reader, &reader->forms[element.id], ts, words);
	return true;
}

static void raise_to(struct stream_reader *reader, uint64_t ns)
{
	if (ns > reader->input.floor_ns)
		reader->input.floor_ns = ns;
}

/* Somebody is in between. now was read before that was seen. */
static void hold_reader(struct stream_reader *reader, uint64_t now)
{
	struct stream_reading *reading = reader->reading;

	raise_to(reader, reader->last_ns);
	if (!reader->since_ns)
		reader->since_ns = now;
	if (now - reader->since_ns < reading->hold_ns)
		return;
	reading->held += !reader->passed;
	reader->passed = true;
	raise_to(reader, now - reading->visible_ns);
}

/* What made no sense may have done so for want of a type that is being told of. */
static bool may_make_sense(struct stream_reader *reader)
{
	const struct stream_reading *reading = reader->reading;
	uint64_t served = reading->served ? atomic_load_explicit(reading->served, memory_order_acquire) : 0;

	if (reader->doubts)
		return reading->served && served - reader->served < 2;
	reader->doubts = true;
	reader->served = served;
	return true;
}

/* Most rings are still as they were. */
static bool is_still_idle(struct stream_reader *reader)
{
	const struct stream_reading *reading = reader->reading;

	if (!reader->elements.was_idle || reader->is_closed)
		return false;
	/* As below: before the ring is looked at. */
	uint64_t now = reading->turn_ns ? reading->turn_ns : reading->now();

	if (!ring_elements_is_still_idle(&reader->elements))
		return false;
	raise_to(reader, now - reading->visible_ns);
	return true;
}

/* Elements that nobody wants are not gone through for longer than this many. */
enum { UNWANTED_MAX = 4096 };

/* Goes on to one that somebody wants. Returns whether there is no more that could be one. */
static bool go_on_to_wanted(struct stream_reader *reader)
{
	int passed = 0;

	while (!reader->input.head && !reader->is_over && passed++ < UNWANTED_MAX && take_stream_element(reader))
		;
	return !reader->input.head && passed <= UNWANTED_MAX;
}

void stream_reader_look(struct merge_input *input)
{
	struct stream_reader *reader = (struct stream_reader *)input;
	bool was_closed = reader->is_closed, is_through;
	uint64_t now;

	if (is_still_idle(reader) || (!go_on_to_wanted(reader) && input->head))
		return;
	now = reader->reading->now(); /* before the ring is looked at: what comes after that is not before */
	is_through = go_on_to_wanted(reader);
	if (input->head)
		return;
	if (reader->elements.failed && may_make_sense(reader)) {
		reader->elements.failed = 0;
		return;
	}
	if (reader->elements.failed || reader->is_over || (was_closed && is_through)) {
		input->floor_ns = MERGE_NEVER;
	} else if (ring_elements_is_idle(&reader->elements)) {
		reader->since_ns = 0;
		reader->passed = false;
		raise_to(reader, now - reader->reading->visible_ns);
	} else {
		hold_reader(reader, now);
	}
}

uint64_t stream_reader_lost(const struct stream_reader *reader)
{
	return reader->elements.lost;
}
