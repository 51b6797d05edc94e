// SPDX-License-Identifier: BSD-2-Clause
/* Gives an event of a trace to a program. */

#include "api/trace-priv.h"

#include "api/sized.h"
#include "meaning/meaning.h"
#include "trace/sink/event-text.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static const struct event *event_of(const struct asterism_trace *trace)
{
	return trace->item == ASTERISM_TRACE_EVENT ? &trace->event : NULL;
}

static const struct event_field *trace_field(const struct asterism_trace *trace, size_t field)
{
	const struct event *event = event_of(trace);

	return event && field < event->type->field_count ? &event->type->fields[field] : NULL;
}

int asterism_trace_event(const struct asterism_trace *trace, struct asterism_event *given)
{
	const struct event *event = event_of(trace);

	if (!event)
		return -EINVAL;

	const struct event_header *header = event->record;
	const struct asterism_event own = {
		.type = event->type->name,
		.seq = header->seq,
		.time_ns = header->ts,
		.cpu = header->cpu,
		.pid = header->pid,
		.tid = header->tid,
		.comm = header->comm,
		.field_count = event->type->field_count,
	};

	return sized_give(given, &own, sizeof own);
}

uint32_t asterism_trace_type(const struct asterism_trace *trace)
{
	const struct event *event = event_of(trace);

	return event ? event->record->type : UINT32_MAX;
}

int asterism_trace_field_index(const struct asterism_trace *trace, const char *name)
{
	const struct event *event = event_of(trace);

	if (!event)
		return -EINVAL;
	for (uint32_t i = 0; i < event->type->field_count; i++) {
		if (strcmp(event->type->fields[i].name, name) == 0)
			return (int)i;
	}
	return -ENOENT;
}

static enum asterism_kind public_kind(enum event_value value)
{
	switch (value) {
	case EVENT_F64:
		return ASTERISM_F64;
	case EVENT_BOOL:
		return ASTERISM_BOOL;
	case EVENT_STRING:
		return ASTERISM_STRING;
	case EVENT_I8:
	case EVENT_I16:
	case EVENT_I32:
	case EVENT_I64:
	case EVENT_TIME:
		return ASTERISM_I64;
	default:
		return ASTERISM_U64;
	}
}

/* A header's integers have 4 bytes. */
static uint64_t header_word(const struct event_header *record, const struct event_field *field)
{
	const char *at = (const char *)record + field->offset;
	uint64_t word = 0;

	memcpy(&word, at, field->bytes < sizeof word ? field->bytes : sizeof word);
	return word;
}

static int read_record_value(const struct event_header *record, const struct event_field *field,
			     struct asterism_value *value)
{
	uint64_t word = 0;

	value->name = field->name;
	value->kind = public_kind(field->value);
	if (value->kind == ASTERISM_STRING) {
		value->as.string = (const char *)record + field->offset;
		if (event_string_is_unread(record, field->offset, field->bytes)) {
			value->as.string = "";
			return -ENODATA;
		}
		return event_string_is_full(record, field->offset, field->bytes);
	}
	word = header_word(record, field);
	if (value->kind == ASTERISM_F64)
		memcpy(&value->as.f64, &word, sizeof word);
	else if (value->kind == ASTERISM_BOOL)
		value->as.boolean = word != 0;
	else
		value->as.u64 = word;
	return 0;
}

int asterism_trace_field(const struct asterism_trace *trace, size_t index, struct asterism_value *value)
{
	const struct event_field *field = trace_field(trace, index);

	return field ? read_record_value(trace->event.record, field, value) : -EINVAL;
}

int asterism_trace_field_find(const struct asterism_trace *trace, const char *name, struct asterism_value *value)
{
	const struct event *event = event_of(trace);
	const struct event_field *field = event ? event_field_find(event->type, name) : NULL;

	if (!field)
		return event ? -ENOENT : -EINVAL;
	return read_record_value(event->record, field, value);
}

/* As snprintf does. */
static int copy_event_text(const char *text, size_t length, char *buffer, size_t size)
{
	if (length > INT_MAX)
		return -ENOMEM;
	if (size) {
		size_t kept = length < size ? length : size - 1;

		memcpy(buffer, text, kept);
		buffer[kept] = 0;
	}
	return (int)length;
}

int asterism_trace_field_text(const struct asterism_trace *trace, size_t index, char *buffer, size_t size)
{
	const struct event_field *field = trace_field(trace, index);
	char bytes[MEANING_TEXT_BYTES];
	struct asterism_value value;
	struct text_buffer text;
	const struct meaning *meaning;
	int result = field ? read_record_value(trace->event.record, field, &value) : -EINVAL;

	if (result >= 0)
		result = trace_meaning((struct asterism_trace *)trace, field, &meaning);
	if (result < 0)
		return result;
	if (value.kind == ASTERISM_STRING)
		return copy_event_text(value.as.string, strlen(value.as.string), buffer, size);
	text_init_fixed(&text, bytes, sizeof bytes);
	if (value.kind == ASTERISM_F64)
		text_printf(&text, "%.17g", value.as.f64);
	else if (value.kind == ASTERISM_BOOL)
		text_append(&text, value.as.boolean ? "true" : "false");
	else
		meaning_show(&text, meaning, (struct meaning_number){ value.as.u64, value.kind == ASTERISM_I64 });
	return copy_event_text(text.bytes, text.length, buffer, size);
}

int asterism_trace_field_describe(const struct asterism_trace *trace, size_t index,
				  struct asterism_trace_field_about *about)
{
	const struct event_field *field = trace_field(trace, index);
	const struct meaning *meaning = NULL;
	int result = field ? trace_meaning((struct asterism_trace *)trace, field, &meaning) : -EINVAL;

	if (result)
		return result;

	const struct asterism_trace_field_about own = {
		.name = field->name,
		.type = event_value_name(field->value),
		.meaning = meaning ? meaning->text : NULL,
		.unit = field->unit,
		.doc = field->doc,
		.bytes = field->bytes,
	};

	return sized_give(about, &own, sizeof own);
}

int asterism_trace_json(const struct asterism_trace *trace, char *buffer, size_t size)
{
	const struct event *event = event_of(trace);
	/* The room is this library's own; a trace in hand is not const. */
	struct text_buffer *text = &((struct asterism_trace *)trace)->text;

	if (!event)
		return -EINVAL;
	text->length = 0;
	text->failure = 0;
	event_text_json(text, event);
	if (text->failure || !text->length)
		return -ENOMEM;
	return copy_event_text(text->bytes, text->length - 1, buffer, size); /* without the newline */
}
