// SPDX-License-Identifier: BSD-2-Clause
#include "record-check.h"

#include <stdlib.h>
#include <string.h>

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static bool fits(const struct event_field *field, uint64_t word)
{
	switch (field->value) {
	case EVENT_U8:
		return word <= UINT8_MAX;
	case EVENT_U16:
		return word <= UINT16_MAX;
	case EVENT_U32:
		return word <= UINT32_MAX;
	case EVENT_I8:
		return (int64_t)word == (int8_t)word;
	case EVENT_I16:
		return (int64_t)word == (int16_t)word;
	case EVENT_I32:
		return (int64_t)word == (int32_t)word;
	case EVENT_BOOL:
		return word <= 1;
	default:
		return true;
	}
}

/* A text ends within its capacity and nothing but NULs follow. */
static bool is_text(const char *text, size_t capacity)
{
	size_t length = strnlen(text, capacity);

	for (size_t i = length; i < capacity; i++) {
		if (text[i])
			return false;
	}
	return length < capacity;
}

void record_check(const struct event *event)
{
	const char *record = (const char *)event->record;

	expect(is_text(event->record->comm, EVENT_COMM_BYTES));
	for (uint32_t i = 0; i < event->type->field_count; i++) {
		const struct event_field *field = &event->type->fields[i];
		uint64_t word;

		if (field->value == EVENT_STRING) {
			expect(is_text(record + field->offset, field->bytes));
			continue;
		}
		memcpy(&word, record + field->offset, sizeof word);
		expect(fits(field, word));
	}
}
