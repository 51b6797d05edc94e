// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events as JSON lines from anybody. Whatever the bytes are, reading comes to an end; what is read is a record that
 * keeps every promise of event/type.h, and what is not leaves exactly one message with its line. So it is for events
 * as tests are written.
 */

#include "record-check.h"

#include "base/diag.h"
#include "event/catalog.h"
#include "trace/jsonl/jsonl.h"

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

static struct event_catalog *the_catalog(void)
{
	static struct event_catalog *catalog;

	if (!catalog) {
		catalog = event_catalog_new();
		expect(event_catalog_parse(catalog, "types", types, strlen(types), NULL) == 0);
	}
	return catalog;
}

struct reading {
	uint64_t events;
	size_t errors;
};

static struct reading read_all(const uint8_t *data, size_t size, bool relaxed)
{
	struct reading read = { 0 };
	struct asterism_diag *diag = asterism_diag_new();
	struct event_source *source;
	struct event event;
	uint64_t ts = 0;
	int result;

	expect(trace_jsonl_new(file_of(data, size), "fuzz", the_catalog(), diag, &source) == 0);
	if (relaxed)
		trace_jsonl_relax(source);
	while ((result = event_source_next(source, &event)) != 0) {
		if (result < 0) {
			expect(result == -EINVAL);
			check_error(diag, ++read.errors);
			continue;
		}
		expect(result == 1 && event.record->seq == ++read.events && event.record->ts >= ts);
		ts = event.record->ts;
		record_check(&event);
		expect(event.record->ts <= INT64_MAX);
	}
	expect(asterism_diag_count(diag, ASTERISM_NOTE) == read.errors);
	expect(event_source_position(source) == size);
	event_source_free(source);
	asterism_diag_free(diag);
	return read;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reading strict = read_all(data, size, false), relaxed = read_all(data, size, true);

	/* Nothing but the liberties that tests may take makes a difference. */
	if (strict.errors == 0)
		expect(relaxed.errors == 0 && relaxed.events == strict.events);
	return 0;
}
