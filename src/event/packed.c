// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds where fields lie in a payload. The payload is outside data: its only length is the one that the caller knows to
 * be readable, and a string ends within it or the payload is wrong.
 */

#include "event/packed.h"

#include <errno.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "payloads are copied as they are");
_Static_assert(EVENT_RECORD_BYTES_MAX <= UINT16_MAX, "offsets in records have 16 bits");

uint32_t event_packed_width(enum event_value value)
{
	switch (value) {
	case EVENT_U8:
	case EVENT_I8:
	case EVENT_BOOL:
		return 1;
	case EVENT_U16:
	case EVENT_I16:
		return 2;
	case EVENT_U32:
	case EVENT_I32:
		return 4;
	case EVENT_STRING:
		return 0;
	default:
		return 8;
	}
}

static void add_packed_number(struct event_packed *layout, const struct event_field *field, uint32_t index)
{
	uint32_t width = event_packed_width(field->value);

	layout->numbers[layout->number_count++] = (struct event_packed_number){
		.payload_offset = (uint16_t)layout->fixed_bytes,
		.record_offset = (uint16_t)field->offset,
		.width = (uint8_t)width,
		.value = (uint8_t)field->value,
		.field = (uint16_t)index,
	};
	layout->fixed_bytes += width;
}

static void add_packed_string(struct event_packed *layout, const struct event_field *field, uint32_t index)
{
	layout->strings[layout->string_count++] = (struct event_packed_string){
		.record_offset = (uint16_t)field->offset,
		.capacity = (uint16_t)field->bytes,
		.field = (uint16_t)index,
	};
	layout->bytes_max += field->bytes;
}

void event_packed_init(struct event_packed *layout, const struct event_type *type, const bool *recorded)
{
	memset(layout, 0, sizeof *layout);
	for (uint32_t width = 8; width > 0; width /= 2) {
		for (uint32_t i = 0; i < type->field_count; i++) {
			if ((!recorded || recorded[i]) && event_packed_width(type->fields[i].value) == width)
				add_packed_number(layout, &type->fields[i], i);
		}
	}
	for (uint32_t i = 0; i < type->field_count; i++) {
		if ((!recorded || recorded[i]) && type->fields[i].value == EVENT_STRING)
			add_packed_string(layout, &type->fields[i], i);
	}
	layout->bytes_max = (uint32_t)event_packed_round(layout->bytes_max + layout->fixed_bytes);
}

void event_packed_drop(struct event_packed *layout, const bool *wanted)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < layout->number_count; i++) {
		if (wanted[layout->numbers[i].field])
			layout->numbers[kept++] = layout->numbers[i];
	}
	layout->number_count = kept;
	for (uint32_t i = 0; i < layout->string_count; i++) {
		if (!wanted[layout->strings[i].field])
			layout->strings[i].capacity = 0;
	}
}

int64_t event_packed_encode(const struct event_packed *layout, const struct event_header *record, void *payload,
			    size_t room)
{
	const char *from = (const char *)record;
	char *to = payload;
	size_t bytes = layout->fixed_bytes, padded;

	for (uint32_t i = 0; i < layout->string_count; i++)
		bytes += strnlen(from + layout->strings[i].record_offset, layout->strings[i].capacity - 1u) + 1;
	padded = event_packed_round(bytes);
	if (padded > room)
		return -ENOSPC;
	for (uint32_t i = 0; i < layout->number_count; i++) {
		const struct event_packed_number *number = &layout->numbers[i];

		memcpy(to + number->payload_offset, from + number->record_offset, number->width);
	}
	to += layout->fixed_bytes;
	for (uint32_t i = 0; i < layout->string_count; i++) {
		const char *text = from + layout->strings[i].record_offset;
		size_t length = strnlen(text, layout->strings[i].capacity - 1u);

		memcpy(to, text, length);
		to[length] = 0;
		to += length + 1;
	}
	memset(to, 0, padded - bytes);
	return (int64_t)padded;
}

int64_t event_packed_bytes(const struct event_packed *layout, const void *payload, size_t available)
{
	const char *at = payload, *end = at + available;

	if (available < layout->fixed_bytes)
		return -EINVAL;
	at += layout->fixed_bytes;
	for (uint32_t i = 0; i < layout->string_count; i++) {
		const char *nul = memchr(at, 0, (size_t)(end - at));

		if (!nul)
			return -EINVAL;
		at = nul + 1;
	}
	return at - (const char *)payload;
}

/* The string at *at goes to the record as far as it is wanted. */
static int decode_string(const struct event_packed_string *string, const char **at, const char *end, char *record)
{
	const char *nul = memchr(*at, 0, (size_t)(end - *at));
	size_t length, capacity = string->capacity;

	if (!nul)
		return -EINVAL;
	if (capacity) {
		length = (size_t)(nul - *at) < capacity ? (size_t)(nul - *at) : capacity - 1;
		memcpy(record + string->record_offset, *at, length);
		memset(record + string->record_offset + length, 0, capacity - length);
	}
	*at = nul + 1;
	return 0;
}

int64_t event_packed_decode(const struct event_packed *layout, const void *payload, size_t available,
			    struct event_header *record)
{
	const char *from = payload, *at = from + layout->fixed_bytes;
	char *to = (char *)record;

	if (available < layout->fixed_bytes)
		return -EINVAL;
	event_packed_decode_numbers(layout, payload, record);
	for (uint32_t i = 0; i < layout->string_count; i++) {
		if (decode_string(&layout->strings[i], &at, from + available, to))
			return -EINVAL;
	}
	return at - from;
}

void event_packed_set_unread(const struct event_packed *layout, uint64_t unread, struct event_header *record)
{
	for (uint32_t i = 0; i < layout->string_count; i++) {
		const struct event_packed_string *string = &layout->strings[i];

		if (string->capacity && unread & event_packed_unread_bit(i))
			event_string_set_unread(record, string->record_offset, string->capacity);
	}
}
