// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes events as text. Long traces are written through here, so room is made once per event, for the longest line
 * that its type can give, and what is written into it is not checked again.
 */

#include "trace/sink/event-text.h"

#include "meaning/meaning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NUMBER_BYTES = 32,   /* the longest number, with what parts it from the next */
	ESCAPED_BYTES = 6,   /* of one byte of a string: \u001f, \377 */
	HEADER_BYTES = 1024, /* all that is not the type's: names, header fields */
};

/* Where the next byte goes. */
struct pen {
	char *at;
};

static void put_pen_bytes(struct pen *pen, const char *bytes, size_t length)
{
	memcpy(pen->at, bytes, length);
	pen->at += length;
}

static void put_pen_text(struct pen *pen, const char *text)
{
	pen->at = stpcpy(pen->at, text);
}

static void put_unsigned(struct pen *pen, uint64_t number)
{
	char digits[20];
	size_t at = sizeof digits;

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	put_pen_bytes(pen, digits + at, sizeof digits - at);
}

static void put_signed(struct pen *pen, int64_t number)
{
	if (number < 0)
		*pen->at++ = '-';
	put_unsigned(pen, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

/* The shortest digits that read back as real; null for what JSON has no number for. */
static void put_pen_real(struct pen *pen, double real)
{
	char digits[40] = "null";

	for (int precision = 15; isfinite(real) && precision <= 17; precision++) {
		snprintf(digits, sizeof digits, "%.*g", precision, real);
		if (strtod(digits, NULL) == real)
			break;
	}
	put_pen_text(pen, digits);
}

/* Room for it was made. */
static void put_escaped(struct pen *pen, const char *string, enum text_form form)
{
	struct text_buffer escaped;

	text_init_fixed(&escaped, pen->at, strlen(string) * ESCAPED_BYTES + 1);
	text_append_as(&escaped, string, form);
	pen->at += escaped.length;
}

static void put_pen_string(struct pen *pen, const char *string, bool is_json)
{
	*pen->at++ = '"';
	put_escaped(pen, string, is_json ? TEXT_JSON : TEXT_VALUE);
	*pen->at++ = '"';
}

static bool is_signed(enum event_value value)
{
	return value >= EVENT_I8 && value != EVENT_ADDR;
}

/* For people; room for it was made. */
static void put_meaning(struct pen *pen, const struct event_field *field, uint64_t word)
{
	struct text_buffer shown;

	text_init_fixed(&shown, pen->at, MEANING_TEXT_BYTES);
	meaning_show(&shown, field->meaning, (struct meaning_number){ word, is_signed(field->value) });
	pen->at += shown.length;
}

static void put_field_value(struct pen *pen, const struct event_field *field, const struct event_header *record,
			    bool is_json)
{
	const char *at = (const char *)record + field->offset;
	uint64_t word;
	double real;

	if (field->value == EVENT_STRING && event_string_is_unread(record, field->offset, field->bytes))
		return put_pen_text(pen, is_json ? "null" : "(unread)");
	if (field->value == EVENT_STRING)
		return put_pen_string(pen, at, is_json);
	memcpy(&word, at, sizeof word);
	if (field->meaning && !is_json)
		return put_meaning(pen, field, word);
	switch (field->value) {
	case EVENT_BOOL:
		put_pen_text(pen, word ? "true" : "false");
		break;
	case EVENT_F64:
		memcpy(&real, at, sizeof real);
		put_pen_real(pen, real);
		break;
	case EVENT_I8:
	case EVENT_I16:
	case EVENT_I32:
	case EVENT_I64:
	case EVENT_TIME:
		put_signed(pen, (int64_t)word);
		break;
	default:
		put_unsigned(pen, word);
		break;
	}
}

/* Makes room for the event's line in text, which grows. Returns false where there is none. */
static bool begin_event_line(struct text_buffer *text, const struct event *event, struct pen *pen)
{
	const struct event_type *type = event->type;
	size_t bytes = HEADER_BYTES + strlen(type->name) * ESCAPED_BYTES;

	for (uint32_t i = 0; i < type->field_count; i++)
		bytes += strlen(type->fields[i].name) * ESCAPED_BYTES + NUMBER_BYTES +
			 (type->fields[i].meaning ? MEANING_TEXT_BYTES : 0) +
			 (type->fields[i].value == EVENT_STRING ? type->fields[i].bytes * ESCAPED_BYTES : 0);
	if (text->failure || !text_reserve(text, bytes))
		return false;
	pen->at = text->bytes + text->length;
	return true;
}

static void end_event_line(struct text_buffer *text, const struct pen *pen)
{
	text->length = (size_t)(pen->at - text->bytes);
	text->bytes[text->length] = 0;
}

static void put_number_member(struct pen *pen, const char *name, uint64_t number)
{
	put_pen_text(pen, name);
	put_unsigned(pen, number);
}

void event_text_json(struct text_buffer *text, const struct event *event)
{
	const struct event_header *header = event->record;
	struct pen pen;

	if (!begin_event_line(text, event, &pen))
		return;
	put_pen_text(&pen, "{\"event\":");
	put_pen_string(&pen, event->type->name, true);
	put_number_member(&pen, ",\"ts\":", header->ts);
	if (event->completed_ns)
		put_number_member(&pen, ",\"completed\":", event->completed_ns);
	if (header->cpu == EVENT_NO_CPU)
		put_pen_text(&pen, ",\"cpu\":null");
	else
		put_number_member(&pen, ",\"cpu\":", header->cpu);
	put_number_member(&pen, ",\"pid\":", header->pid);
	put_number_member(&pen, ",\"tid\":", header->tid);
	put_pen_text(&pen, ",\"comm\":");
	put_pen_string(&pen, header->comm, true);
	for (uint32_t i = 0; i < event->type->field_count; i++) {
		const struct event_field *field = &event->type->fields[i];

		*pen.at++ = ',';
		put_pen_string(&pen, field->name, true);
		*pen.at++ = ':';
		put_field_value(&pen, field, header, true);
	}
	put_pen_text(&pen, "}\n");
	end_event_line(text, &pen);
}

/* A name from the kernel, which may hold anything, in a column of its own. */
static void put_comm(struct pen *pen, const char *comm)
{
	char name[EVENT_COMM_BYTES];
	const char *start = pen->at;
	size_t width = 0;

	snprintf(name, sizeof name, "%s", comm);
	put_escaped(pen, name, TEXT_VALUE);
	for (const char *at = start; at < pen->at; at++)
		width += ((unsigned char)*at & 0xc0) != 0x80; /* not the rest of a character */
	for (; width < EVENT_COMM_BYTES; width++)
		*pen->at++ = ' ';
}

static void put_right(struct pen *pen, uint32_t number, unsigned width)
{
	unsigned digits = 1;

	for (uint32_t rest = number; rest >= 10; rest /= 10)
		digits++;
	for (; digits < width; digits++)
		*pen->at++ = ' ';
	put_unsigned(pen, number);
}

void event_text_line(struct text_buffer *text, const struct event *event, const char *time)
{
	const struct event_header *header = event->record;
	struct pen pen;

	if (!begin_event_line(text, event, &pen))
		return;
	put_pen_text(&pen, time);
	put_pen_text(&pen, " [");
	if (header->cpu == EVENT_NO_CPU)
		put_pen_text(&pen, "  -");
	else
		put_right(&pen, header->cpu, 3);
	put_pen_text(&pen, "] ");
	put_comm(&pen, header->comm);
	put_right(&pen, header->pid, 7);
	*pen.at++ = '/';
	put_unsigned(&pen, header->tid);
	*pen.at++ = ' ';
	put_escaped(&pen, event->type->name, TEXT_VALUE);
	for (uint32_t i = 0; i < event->type->field_count; i++) {
		*pen.at++ = ' ';
		put_escaped(&pen, event->type->fields[i].name, TEXT_VALUE);
		*pen.at++ = '=';
		put_field_value(&pen, &event->type->fields[i], header, false);
	}
	*pen.at++ = '\n';
	end_event_line(text, &pen);
}
