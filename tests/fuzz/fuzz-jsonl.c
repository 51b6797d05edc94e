// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events as JSON lines from anybody. Whatever the bytes are, reading comes to an end; what is read is a record that
 * keeps every promise of event/type.h, and what is not leaves exactly one message with its line.
 */

#include "base/diag.h"
#include "event/catalog.h"
#include "trace/jsonl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char types[] =
	"EVENT A { x: i64 }\n"
	"EVENT none { }\n"
	"EVENT all { u8: u8, u16: u16, u32: u32, u64: u64, i8: i8, i16: i16, i32: i32, i64: i64, f: f64, b: bool,\n"
	"            t: time, p: addr, s: string[8], l: string }\n";

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

static void check_record(const struct trace_event *event)
{
	const char *record = (const char *)event->record;

	expect(is_text(event->record->comm, EVENT_COMM_BYTES));
	expect(event->record->ts <= INT64_MAX);
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

static void check_error(struct asterism_diag *diag, size_t errors)
{
	const struct asterism_message *message = asterism_diag_get(diag, errors - 1);

	expect(asterism_diag_count(diag, ASTERISM_NOTE) == errors);
	expect(message && message->line > 0 && message->column > 0 && *message->text);
}

static int file_of(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("jsonl", 0);
	expect(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	expect(lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct event_catalog *catalog;
	struct asterism_diag *diag = asterism_diag_new();
	struct trace_source *source;
	struct trace_event event;
	uint64_t events = 0, ts = 0;
	size_t errors = 0;
	int result;

	if (!catalog) {
		catalog = event_catalog_new();
		expect(event_catalog_parse(catalog, "types", types, strlen(types), NULL) == 0);
	}
	expect(trace_jsonl_new(file_of(data, size), "fuzz", catalog, diag, &source) == 0);
	while ((result = trace_source_next(source, &event)) != 0) {
		if (result < 0) {
			expect(result == -EINVAL);
			check_error(diag, ++errors);
			continue;
		}
		expect(result == 1 && event.record->seq == ++events && event.record->ts >= ts);
		ts = event.record->ts;
		check_record(&event);
	}
	expect(asterism_diag_count(diag, ASTERISM_NOTE) == errors);
	expect(trace_source_position(source) == size);
	trace_source_free(source);
	asterism_diag_free(diag);
	return 0;
}
