// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides how events look. Long traces are written through here, so numbers do not go through printf, but for those
 * with a fraction.
 */

#include "cmd/event-text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_unsigned(struct text_buffer *text, uint64_t number)
{
	char digits[20];
	size_t at = sizeof digits;

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	text_append_bytes(text, digits + at, sizeof digits - at);
}

static void put_signed(struct text_buffer *text, int64_t number)
{
	if (number < 0)
		text_append_bytes(text, "-", 1);
	put_unsigned(text, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

/* The shortest digits that read back as real; null for what JSON has no number for. */
static void put_real(struct text_buffer *text, double real)
{
	char digits[40] = "null";

	for (int precision = 15; isfinite(real) && precision <= 17; precision++) {
		snprintf(digits, sizeof digits, "%.*g", precision, real);
		if (strtod(digits, NULL) == real)
			break;
	}
	text_append(text, digits);
}

static bool is_plain(const char *string, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)string[i];

		if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
			return false;
	}
	return true;
}

/* In quotes. Most texts need no escape. */
static void put_string(struct text_buffer *text, const char *string, bool is_json)
{
	size_t length = strlen(string);

	if (is_plain(string, length)) {
		text_append_bytes(text, "\"", 1);
		text_append_bytes(text, string, length);
		text_append_bytes(text, "\"", 1);
	} else if (is_json) {
		text_json(text, string);
	} else {
		text_quote(text, string);
	}
}

static void put_value(struct text_buffer *text, const struct event_field *field, const struct event_header *record,
		      bool is_json)
{
	const char *at = (const char *)record + field->offset;
	uint64_t word;
	double real;

	if (field->value == EVENT_STRING)
		return put_string(text, at, is_json);
	memcpy(&word, at, sizeof word);
	switch (field->value) {
	case EVENT_BOOL:
		text_append(text, word ? "true" : "false");
		break;
	case EVENT_F64:
		memcpy(&real, at, sizeof real);
		put_real(text, real);
		break;
	case EVENT_ADDR:
		if (is_json)
			put_unsigned(text, word);
		else
			text_printf(text, "0x%llx", (unsigned long long)word);
		break;
	case EVENT_I8:
	case EVENT_I16:
	case EVENT_I32:
	case EVENT_I64:
	case EVENT_TIME:
		put_signed(text, (int64_t)word);
		break;
	default:
		put_unsigned(text, word);
		break;
	}
}

static void put_member(struct text_buffer *text, const char *name, uint64_t number)
{
	text_append(text, name);
	put_unsigned(text, number);
}

void event_text_json(struct text_buffer *text, const struct trace_event *event)
{
	const struct event_header *header = event->record;

	text_append(text, "{\"event\":");
	put_string(text, event->type->name, true);
	put_member(text, ",\"ts\":", header->ts);
	put_member(text, ",\"cpu\":", header->cpu);
	put_member(text, ",\"pid\":", header->pid);
	put_member(text, ",\"tid\":", header->tid);
	text_append(text, ",\"comm\":");
	put_string(text, header->comm, true);
	for (uint32_t i = 0; i < event->type->field_count; i++) {
		const struct event_field *field = &event->type->fields[i];

		text_append(text, ",");
		put_string(text, field->name, true);
		text_append(text, ":");
		put_value(text, field, header, true);
	}
	text_append(text, "}\n");
}

/* A name from the kernel, which may hold anything, in a column of its own. */
static void put_comm(struct text_buffer *text, const char *comm)
{
	char column[EVENT_COMM_BYTES];
	size_t length = strnlen(comm, sizeof column - 1);

	memset(column, ' ', sizeof column);
	for (size_t i = 0; i < length; i++)
		column[i] = (unsigned char)comm[i] < 0x20 || comm[i] == 0x7f ? '?' : comm[i];
	text_append_bytes(text, column, sizeof column);
}

static void put_right(struct text_buffer *text, uint32_t number, unsigned width)
{
	unsigned digits = 1;

	for (uint32_t rest = number; rest >= 10; rest /= 10)
		digits++;
	if (digits < width)
		text_append_bytes(text, "          ", width - digits);
	put_unsigned(text, number);
}

void event_text_line(struct text_buffer *text, const struct trace_event *event, const char *time)
{
	const struct event_header *header = event->record;

	text_append(text, time);
	text_append(text, " [");
	put_right(text, header->cpu, 3);
	text_append(text, "] ");
	put_comm(text, header->comm);
	put_right(text, header->pid, 7);
	text_append(text, "/");
	put_unsigned(text, header->tid);
	text_append(text, " ");
	text_append(text, event->type->name);
	for (uint32_t i = 0; i < event->type->field_count; i++) {
		text_append(text, " ");
		text_append(text, event->type->fields[i].name);
		text_append(text, "=");
		put_value(text, &event->type->fields[i], header, false);
	}
	text_append(text, "\n");
}
