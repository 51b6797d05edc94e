// SPDX-License-Identifier: BSD-2-Clause
/* Traces read back: whole, with losses, cut and altered at every byte. */

#include "ctf-rig.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static void what_is_written_is_read(void **state)
{
	static const struct {
		uint64_t ts;
		unsigned cpu, pid, tid;
		const char *type, *comm;
		int64_t value;
	} expected[] = {
		{ 100, 0, 7, 8, "tick", "maker", 1 },           { 100, 1, 9, 9, "text", "fifteen letters", -1 },
		{ 101, 1, 7, 9, "tick", "maker", 2 },           { 102, 0, 7, 8, "tick", "maker", 3 },
		{ 103, 0, 9, 9, "text", "fifteen letters", 5 }, { 103, 1, 7, 9, "tick", "maker", 4 },
	};
	struct rig *rig = *state;
	struct event_source *source;
	struct event event;

	rig_write_small(rig);
	source = rig_open_reader(rig);
	assert_true(source->machine.wall_ns == WALL_NS);
	for (unsigned i = 0; i < 6; i++) {
		bool is_tick = !strcmp(expected[i].type, "tick");

		assert_int_equal(event_source_next(source, &event), 1);
		assert_ptr_equal(event.type, rig->events[!is_tick].type);
		assert_int_equal(event.record->type, !is_tick);
		assert_int_equal(event.record->seq, i + 1);
		assert_int_equal(event.record->ts, expected[i].ts);
		assert_int_equal(event.record->cpu, expected[i].cpu);
		assert_int_equal(event.record->pid, expected[i].pid);
		assert_int_equal(event.record->tid, expected[i].tid);
		assert_string_equal(event.record->comm, expected[i].comm);
		assert_int_equal(rig_word(&event, is_tick ? "n" : "i"), (uint64_t)expected[i].value);
		if (is_tick)
			assert_int_equal(rig_word(&event, "b"), 1);
		else
			assert_string_equal((const char *)event.record + 48, i == 1 ? "one" : "");
	}
	assert_int_equal(event_source_next(source, &event), 0);
	assert_int_equal(event_source_next(source, &event), 0);
	assert_int_equal(source->lost, 0);
	assert_int_equal(event_source_position(source), source->bytes_total);
	event_source_free(source);
}

/* Of text only i was recorded, and who reads it knows neither tick nor that i is not all. */
static void types_are_the_readers_own(void **state)
{
	static const char others[] = "EVENT text { s: string, i: i32, z: f64 }\n";
	struct rig *rig = *state;
	bool recorded[] = { false, true };
	struct event_catalog *catalog = event_catalog_new();
	struct event_source *source;
	struct event event;

	rig->events[1].recorded = recorded;
	rig_write_small(rig);
	assert_int_equal(event_catalog_parse(catalog, "others", others, strlen(others), NULL), 0);
	assert_int_equal(trace_ctf_new(rig->path, catalog, rig->diag, &source), 0);
	assert_int_equal(event_source_next(source, &event), 1);
	assert_string_equal(event.type->name, "tick");
	assert_int_equal(event.type->origin, EVENT_DECLARED);
	assert_int_equal(event.type->field_count, 2);
	assert_int_equal(event.type->fields[1].value, EVENT_BOOL);
	assert_int_equal(event_source_next(source, &event), 1);
	assert_int_equal(rig_word(&event, "i"), (uint64_t)-1);
	assert_string_equal((const char *)event.record + event_field_find(event.type, "s")->offset, "");
	assert_int_equal(rig_word(&event, "z"), 0);
	event_source_free(source);
	event_catalog_free(catalog);
}

static void a_type_that_does_not_fit_is_refused(void **state)
{
	static const char others[] = "EVENT text { s: string, i: u32 }\n";
	struct rig *rig = *state;
	struct event_catalog *catalog = event_catalog_new();
	struct event_source *source;

	rig_write_small(rig);
	assert_int_equal(event_catalog_parse(catalog, "others", others, strlen(others), NULL), 0);
	assert_int_equal(trace_ctf_new(rig->path, catalog, rig->diag, &source), -EINVAL);
	assert_string_equal(asterism_diag_get(rig->diag, 0)->text,
			    "text.i was recorded as i32, but the event type in force has another type for it");
	assert_non_null(strstr(asterism_diag_get(rig->diag, 0)->file, "/trace/metadata"));
	event_catalog_free(catalog);
}

static bool wants_text(void *context, const struct event_type *type)
{
	(void)context;
	return !strcmp(type->name, "text");
}

static void ordinals_count_what_is_dropped(void **state)
{
	struct rig *rig = *state;
	struct event_want want = { .wants = wants_text, .drops = true };
	struct event_source *source;
	struct event event;

	rig_write_small(rig);
	source = rig_open_reader(rig);
	event_source_want(source, &want);
	assert_int_equal(event_source_next(source, &event), 1);
	assert_int_equal(event.record->seq, 2);
	assert_int_equal(event.record->type, 0);
	assert_int_equal(event_source_next(source, &event), 1);
	assert_int_equal(event.record->seq, 5);
	assert_int_equal(event_source_next(source, &event), 0);
	event_source_free(source);
	source = rig_open_reader(rig);
	want.drops = false;
	event_source_want(source, &want);
	for (unsigned i = 1; i <= 6; i++) {
		assert_int_equal(event_source_next(source, &event), 1);
		assert_int_equal(event.record->seq, i);
	}
	event_source_free(source);
}

static bool wants_field_s(void *context, const struct event_type *type, uint32_t field)
{
	(void)context;
	return !strcmp(type->fields[field].name, "s");
}

static void fields_that_nobody_wants_are_left_alone(void **state)
{
	struct rig *rig = *state;
	struct event_want want = { .wants = wants_text, .wants_field = wants_field_s };
	struct event_source *source;
	struct event event;
	unsigned seen = 0;

	rig_write_small(rig);
	source = rig_open_reader(rig);
	event_source_want(source, &want);
	while (event_source_next(source, &event) == 1) {
		uint64_t i = 4711;

		if (strcmp(event.type->name, "text") != 0)
			continue;
		char *kept = (char *)event.record + event_field_find(event.type, "i")->offset;
		if (seen)
			assert_memory_equal(kept, &i, sizeof i);
		memcpy(kept, &i, sizeof i);
		assert_string_equal((char *)event.record + event_field_find(event.type, "s")->offset,
				    seen ? "" : "one");
		seen++;
	}
	assert_int_equal(seen, 2);
	event_source_free(source);
}

static void losses_are_reported_where_the_gap_may_begin(void **state)
{
	struct rig *rig = *state;
	struct event_source *source;
	struct event event;

	rig_open_writer(rig);
	packets_lose(rig->cpus[0], 3); /* before the first event */
	rig_add_tick(rig, 0, 100, 1);
	rig_flush(rig, 0);
	packets_lose(rig->cpus[0], 4);
	rig_add_tick(rig, 1, 101, 2);
	rig_add_tick(rig, 1, 102, 3);
	rig_flush(rig, 1);
	rig_add_tick(rig, 0, 103, 4);
	rig_flush(rig, 0);
	packets_lose(rig->cpus[1], 5);
	rig->cpus[1]->header.timestamp_begin = 105;
	rig_flush(rig, 1); /* behind the last event */
	rig_close_writer(rig);

	source = rig_open_reader(rig);
	assert_int_equal(event_source_next(source, &event), 1);
	assert_int_equal(source->lost, 3);
	assert_int_equal(event_source_next(source, &event), 1);
	assert_int_equal(event.record->ts, 101);
	assert_int_equal(source->lost, 7);
	assert_int_equal(source->lossy_until_ns, 103);
	assert_int_equal(event_source_next(source, &event), 1);
	assert_int_equal(source->lost, 7);
	assert_int_equal(event_source_next(source, &event), 1);
	assert_int_equal(event.record->ts, 103);
	assert_int_equal(source->lost, 12);
	assert_int_equal(event_source_next(source, &event), 0);
	assert_int_equal(source->lost, 12);
	assert_int_equal(source->lossy_until_ns, 105);
	event_source_free(source);
}

static void matches_are_marked(void **state)
{
	const struct ctf_match match = { 101, 1, 7, 9, "maker", "slow", "n=2", true };
	struct rig *rig = *state;
	struct event_source *source;
	struct event event;

	rig_open_writer(rig);
	rig_add_tick(rig, 1, 101, 2);
	rig_add_tick(rig, 0, 102, 3);
	rig_flush(rig, 0);
	rig_flush(rig, 1);
	assert_int_equal(ctf_writer_match(rig->writer, &match), 0);
	rig_close_writer(rig);
	source = rig_open_reader(rig);
	assert_int_equal(event_source_next(source, &event), 1);
	assert_int_equal(event_source_next(source, &event), 1);
	assert_string_equal(event.type->name, "match");
	assert_int_equal(event.record->ts, 101);
	assert_int_equal(event.record->cpu, 1);
	assert_int_equal(event.record->tid, 9);
	assert_string_equal(event.record->comm, "maker");
	assert_int_equal(rig_word(&event, "tainted"), 1);
	assert_string_equal((const char *)event.record + event_field_find(event.type, "rule")->offset, "slow");
	assert_string_equal((const char *)event.record + event_field_find(event.type, "values")->offset, "n=2");
	assert_int_equal(event_source_next(source, &event), 1);
	assert_int_equal(event.record->ts, 102);
	event_source_free(source);
}

static void a_match_reported_late_does_not_turn_time_back(void **state)
{
	const struct ctf_match matches[] = { { 105, 1, 7, 9, "maker", "slow", "", false },
					     { 101, 1, 7, 9, "maker", "late", "", false } };
	struct rig *rig = *state;
	struct event_source *source;
	struct event event;

	rig_open_writer(rig);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(ctf_writer_match(rig->writer, &matches[i]), 0);
	rig_close_writer(rig);
	source = rig_open_reader(rig);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(event_source_next(source, &event), 1);
		assert_int_equal(event.record->ts, 105);
	}
	assert_int_equal(event_source_next(source, &event), 0);
	event_source_free(source);
}

/* Reads to the end; errors are of the file. Returns how many events there were, or -1 after an error. */
static int read_through(struct rig *rig, int *errors)
{
	struct event_source *source = rig_open_reader(rig);
	struct event event;
	uint64_t ts = 0;
	int result, count = 0;

	*errors = 0;
	asterism_diag_clear(rig->diag);
	while ((result = event_source_next(source, &event)) != 0) {
		if (result < 0) {
			assert_int_equal(result, -EINVAL);
			assert_non_null(strstr(asterism_diag_get(rig->diag, (size_t)*errors)->file, "/trace/stream_"));
			++*errors;
			continue;
		}
		assert_true(event.record->ts >= ts);
		ts = event.record->ts;
		count++;
	}
	event_source_free(source);
	return count;
}

static void every_cut_gives_what_is_before_it(void **state)
{
	struct rig *rig = *state;
	char path[256];
	struct stat status;
	int last = 6, errors;

	rig_write_small(rig);
	snprintf(path, sizeof path, "%s/stream_0", rig->path);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(read_through(rig, &errors), 6);
	assert_int_equal(errors, 0);
	for (off_t size = status.st_size - 1; size > 0; size--) {
		int count;

		assert_int_equal(truncate(path, size), 0);
		count = read_through(rig, &errors);
		assert_true(count <= last && count >= 3);
		last = count;
		/* Between the packets, which is where the file looks whole. */
		if (count == 5 && !errors)
			continue;
		assert_int_equal(errors, 1);
		assert_non_null(strstr(asterism_diag_get(rig->diag, 0)->file, "/trace/stream_0"));
	}
	assert_int_equal(last, 3);
}

static void no_altered_byte_is_followed_astray(void **state)
{
	struct rig *rig = *state;
	char path[256];
	struct stat status;
	int fd, errors;

	rig_write_small(rig);
	snprintf(path, sizeof path, "%s/stream_1", rig->path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(fstat(fd, &status), 0);
	for (off_t at = 0; at < status.st_size; at++) {
		for (unsigned flip = 1; flip < 256; flip = flip * 2 + 1) {
			uint8_t byte, altered;

			assert_int_equal(pread(fd, &byte, 1, at), 1);
			altered = byte ^ (uint8_t)flip;
			assert_int_equal(pwrite(fd, &altered, 1, at), 1);
			/* Those of the other stream are there in any case. */
			assert_true(read_through(rig, &errors) >= 3);
			assert_true(errors <= 1);
			if (at < 24) {
				assert_int_equal(errors, 1);
			}
			assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		}
	}
	close(fd);
}

static void metadata_is_refused_with_its_place(void **state)
{
	static const struct {
		const char *from, *to, *text;
	} cases[] = {
		{ "byte_order = le", "byte_order = be",
		  "this differs from what traces of asterism contain here (byte 1200)" },
		{ "u64 _n", "u65 _n", "unknown type" },
		{ "u64 _n", "u64 n ", "the name of a field begins with '_'" },
		{ "u64 _n;", "u64 _n ", "expected ';' here" },
		{ "id = 1;\n", "id = 2;\n", "this id belongs to another event" },
		{ "id = 1;\n", "id = 0;\n", "this id belongs to another event" },
		{ "\"tick\"", "\"t ck\"", "this is not a name" },
		{ "\"tick\"", "\"tick ", "expected a name in quotes here" },
		{ "text16 _s", "text17 _s", "invalid capacity of a string" },
		{ "bool _b", "bool _n",
		  "event tick has two fields of the same name, or more fields than a record can hold" },
		{ "stream_id = 0;\n\tfields := struct {\n\t\tu64", "stream_id = 1;\n\tfields := struct {\n\t\tu64",
		  "expected '0' here" },
	};
	struct rig *rig = *state;
	char path[256], text[16384] = { 0 };
	struct event_catalog *catalog;
	struct event_source *source;
	FILE *file;

	rig_write_small(rig);
	snprintf(path, sizeof path, "%s/metadata", rig->path);
	file = fopen(path, "r+");
	assert_true(fread(text, 1, sizeof text - 1, file) > 1000);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *place = strstr(text, cases[i].from);

		assert_non_null(place);
		assert_int_equal(fseek(file, place - text, SEEK_SET), 0);
		assert_true(fputs(cases[i].to, file) >= 0 && fflush(file) == 0);
		asterism_diag_clear(rig->diag);
		catalog = event_catalog_new();
		assert_int_equal(trace_ctf_new(rig->path, catalog, rig->diag, &source), -EINVAL);
		event_catalog_free(catalog);
		const struct asterism_message *message = asterism_diag_get(rig->diag, 0);
		if (strncmp(message->text, cases[i].text, strlen(cases[i].text)) != 0)
			print_message("%s\n", message->text);
		assert_memory_equal(message->text, cases[i].text, strlen(cases[i].text));
		assert_int_equal(fseek(file, place - text, SEEK_SET), 0);
		assert_int_equal(fwrite(place, 1, strlen(cases[i].to), file), strlen(cases[i].to));
		fflush(file);
	}
	fclose(file);
	event_source_free(rig_open_reader(rig));
}

static void memory_may_run_out_anywhere(void **state)
{
	struct rig *rig = *state;
	struct event_source *source;
	int result = -ENOMEM;

	rig_write_small(rig);
	for (unsigned long n = 1; result == -ENOMEM; n++) {
		struct event_catalog *catalog = event_catalog_new();

		asterism_diag_clear(rig->diag);
		alloc_fail_at(n);
		result = trace_ctf_new(rig->path, catalog, rig->diag, &source);
		alloc_fail_at(0);
		if (!result)
			event_source_free(source);
		event_catalog_free(catalog);
	}
	assert_int_equal(result, 0);
	rig_remove(rig->path);
	result = -ENOMEM;
	for (unsigned long n = 1; result == -ENOMEM; n++) {
		asterism_diag_clear(rig->diag);
		rig_remove(rig->path);
		alloc_fail_at(n);
		result = ctf_writer_new(rig->path, &rig->options, rig->diag, &rig->writer);
		alloc_fail_at(0);
	}
	assert_int_equal(result, 0);
	assert_int_equal(ctf_writer_close(rig->writer), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_is_written_is_read),
		CASE(types_are_the_readers_own),
		CASE(a_type_that_does_not_fit_is_refused),
		CASE(ordinals_count_what_is_dropped),
		CASE(fields_that_nobody_wants_are_left_alone),
		CASE(losses_are_reported_where_the_gap_may_begin),
		CASE(matches_are_marked),
		CASE(a_match_reported_late_does_not_turn_time_back),
		CASE(every_cut_gives_what_is_before_it),
		CASE(no_altered_byte_is_followed_astray),
		CASE(metadata_is_refused_with_its_place),
		CASE(memory_may_run_out_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
