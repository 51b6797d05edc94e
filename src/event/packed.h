/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EVENT_PACKED_H
#define EVENT_PACKED_H

/*
 * The packed form of events, in rings and in traces. Little endian:
 *
 *   word     u64: bits 0-15 the event's id, bits 16-63 the low 48 bits of its time (CLOCK_MONOTONIC, ns)
 *   payload  the recorded fields: first all numbers, the wide before the narrow (8, 4, 2, 1 bytes; among equals in
 * field order), without gaps; then all strings in field order, each with its NUL and no more; then zeros up to the next
 * multiple of 8
 *
 * A layout tells where each recorded field lies in the payload and in the record (event/type.h). A decoder may
 * drop fields from a layout: the others stay where they are. Layouts hold no pointers and may be copied.
 */

#include "event/type.h"

#include <string.h>

enum {
	EVENT_PACKED_WORD_BYTES = 8,
	EVENT_PACKED_ALIGN = 8,
	EVENT_PACKED_ID_BITS = 16,
	EVENT_PACKED_TIME_BITS = 48,
	EVENT_PACKED_ID_CONTEXT = 0, /* who raises the events that follow; see struct event_packed_context */
	EVENT_PACKED_ID_FIRST = 1,
	EVENT_PACKED_ID_MAX = UINT16_MAX,
	EVENT_PACKED_ID_LATE = EVENT_PACKED_ID_MAX - 4, /* about the event that follows; struct event_packed_late */
};

/* The payload of EVENT_PACKED_ID_CONTEXT. comm is NUL-filled. */
struct event_packed_context {
	uint32_t tid;
	uint32_t pid;
	char comm[EVENT_COMM_BYTES];
};

_Static_assert(sizeof(struct event_packed_context) == 24, "the context is a fixed layout");

/* The payload of EVENT_PACKED_ID_LATE: what else is to be known of the event directly behind it. */
struct event_packed_late {
	uint64_t entered; /* the event is late, and this is its time (CLOCK_MONOTONIC, ns); 0: it is not */
	uint64_t unread;  /* which strings are unread (event_packed_unread_bit), and stand there as empty ones */
};

_Static_assert(sizeof(struct event_packed_late) == 16, "late events are a fixed layout");

/* The bit for string number index of a payload; the last one is for all that have none of their own. */
static inline uint64_t event_packed_unread_bit(uint32_t index)
{
	return UINT64_C(1) << (index < 63 ? index : 63);
}

struct event_packed_number {
	uint16_t payload_offset;
	uint16_t record_offset;
	uint8_t width; /* in the payload: 8, 4, 2 or 1 */
	uint8_t value; /* enum event_value */
	uint16_t field;
};

struct event_packed_string {
	uint16_t record_offset;
	uint16_t capacity; /* in the record; 0: the string is there but not wanted */
	uint16_t field;
};

struct event_packed {
	uint32_t number_count, string_count;
	uint32_t fixed_bytes; /* all recorded numbers, those dropped included */
	uint32_t bytes_max;   /* of a payload that event_packed_encode makes, its padding included */
	struct event_packed_number numbers[EVENT_FIELDS_MAX];
	struct event_packed_string strings[EVENT_FIELDS_MAX];
};

/* Bytes that a number of this value takes in a payload; 0 for strings. */
uint32_t event_packed_width(enum event_value value);

static inline uint64_t event_packed_word(uint32_t id, uint64_t ts)
{
	return (ts << EVENT_PACKED_ID_BITS) | (uint16_t)id;
}

static inline uint32_t event_packed_word_id(uint64_t word)
{
	return (uint16_t)word;
}

/* The time of word, which is not before earlier and less than 2^48 ns (78 hours) after it. */
static inline uint64_t event_packed_word_ts(uint64_t word, uint64_t earlier)
{
	return earlier + (((word >> EVENT_PACKED_ID_BITS) - earlier) & ((UINT64_C(1) << EVENT_PACKED_TIME_BITS) - 1));
}

static inline size_t event_packed_round(size_t bytes)
{
	return (bytes + EVENT_PACKED_ALIGN - 1) & ~(size_t)(EVENT_PACKED_ALIGN - 1);
}

/* The layout of type's fields, of those only for which recorded says so (one bool per field; NULL: all). */
void event_packed_init(struct event_packed *layout, const struct event_type *type, const bool *recorded);

/* From here on decoding leaves alone what wanted (one bool per field of the type) denies. Not for encoding. */
void event_packed_drop(struct event_packed *layout, const bool *wanted);

/*
 * Writes the payload of record, padded. Returns its bytes, or -ENOSPC when it takes more than room, and then nothing
 * is written.
 */
int64_t event_packed_encode(const struct event_packed *layout, const struct event_header *record, void *payload,
			    size_t room);

/*
 * The bytes of the payload that begins at payload, without its padding, found without decoding it. Nothing behind
 * available is read. Returns -EINVAL when it does not end there.
 */
int64_t event_packed_bytes(const struct event_packed *layout, const void *payload, size_t available);

/*
 * Decodes the payload into those fields of record that the layout has; the others are left alone. Whatever the bytes
 * are, the fields keep the promises of event/type.h: longer strings are cut, a bool is 0 or 1. Returns as
 * event_packed_bytes.
 */
int64_t event_packed_decode(const struct event_packed *layout, const void *payload, size_t available,
			    struct event_header *record);

/* Makes those strings of record unread that the layout has and unread says. */
void event_packed_set_unread(const struct event_packed *layout, uint64_t unread, struct event_header *record);

/* The number of less than 8 bytes as 8 bytes of a record: extended by its sign, bool 0 or 1. */
static inline uint64_t event_packed_widen(const struct event_packed_number *number, const char *from)
{
	uint64_t word = 0;

	switch (number->width) {
	case 4:
		memcpy(&word, from, 4);
		return number->value == EVENT_I32 ? (uint64_t)(int32_t)word : word;
	case 2:
		memcpy(&word, from, 2);
		return number->value == EVENT_I16 ? (uint64_t)(int16_t)word : word;
	default:
		memcpy(&word, from, 1);
		if (number->value == EVENT_BOOL)
			return word != 0;
		return number->value == EVENT_I8 ? (uint64_t)(int8_t)word : word;
	}
}

/* Decodes the numbers alone, of a payload of which at least fixed_bytes may be read. */
static inline void event_packed_decode_numbers(const struct event_packed *layout, const void *payload,
					       struct event_header *record)
{
	const struct event_packed_number *number = layout->numbers, *end = number + layout->number_count;

	for (; number < end; number++) {
		const char *from = (const char *)payload + number->payload_offset;
		uint64_t word;

		if (number->width == sizeof word)
			memcpy(&word, from, sizeof word);
		else
			word = event_packed_widen(number, from);
		memcpy((char *)record + number->record_offset, &word, sizeof word);
	}
}

#endif
