// SPDX-License-Identifier: BSD-2-Clause
/* Traces written and read back: whole, rotated, with losses; cut and altered at every byte. */

#include "trace/ctf-read.h"

#include "base/alloc.h"
#include "packets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

enum { TICK = EVENT_PACKED_ID_FIRST, TEXT, TYPES = 2, WALL_NS = 1000000007 };

static const char types[] = "EVENT tick { n: u64, b: bool }\nEVENT text { s: string[16], i: i32 }\n";

struct fixture {
	char folder[64], path[128];
	struct event_catalog *catalog;
	struct asterism_diag *diag;
	struct ctf_writer_event events[TYPES];
	struct ctf_writer_options options;
	struct ctf_writer *writer;
	struct packets *cpus[2];
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);

	strcpy(fixture->folder, "/tmp/asterism-ctf-XXXXXX");
	if (!mkdtemp(fixture->folder))
		return -1;
	snprintf(fixture->path, sizeof fixture->path, "%s/trace", fixture->folder);
	fixture->diag = asterism_diag_new();
	fixture->catalog = event_catalog_new();
	if (event_catalog_parse(fixture->catalog, "types", types, strlen(types), NULL))
		return -1;
	fixture->events[0].type = event_catalog_find(fixture->catalog, "tick");
	fixture->events[1].type = event_catalog_find(fixture->catalog, "text");
	fixture->options = (struct ctf_writer_options){
		.events = fixture->events,
		.event_count = TYPES,
		.stream_count = 2,
		.wall_ns = WALL_NS,
	};
	*state = fixture;
	return 0;
}

static void remove_all(const char *path)
{
	DIR *listing = opendir(path);
	struct dirent *entry;

	while (listing && (entry = readdir(listing))) {
		char name[512];

		if (*entry->d_name == '.')
			continue;
		snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
		unlink(name);
	}
	if (listing)
		closedir(listing);
	rmdir(path);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	remove_all(fixture->path);
	remove_all(fixture->folder);
	event_catalog_free(fixture->catalog);
	asterism_diag_free(fixture->diag);
	free(fixture);
	return 0;
}

static void open_writer(struct fixture *fixture)
{
	assert_int_equal(ctf_writer_new(fixture->path, &fixture->options, fixture->diag, &fixture->writer), 0);
	for (unsigned i = 0; i < 2; i++)
		fixture->cpus[i] = packets_new(fixture->writer, &fixture->options, i);
}

static void close_writer(struct fixture *fixture)
{
	for (unsigned i = 0; i < 2; i++)
		free(fixture->cpus[i]);
	assert_int_equal(ctf_writer_close(fixture->writer), 0);
}

static void add_tick(struct fixture *fixture, unsigned cpu, uint64_t ts, uint64_t n)
{
	_Alignas(8) char record[128] = { 0 };
	struct event_header *header = (struct event_header *)record;

	*header = (struct event_header){ .ts = ts, .pid = 7, .tid = 8 + cpu, .comm = "maker" };
	memcpy(record + 48, &n, sizeof n);
	record[56] = 1;
	assert_int_equal(packets_add(fixture->cpus[cpu], TICK, header), 0);
}

static void add_text(struct fixture *fixture, unsigned cpu, uint64_t ts, const char *text, int64_t i)
{
	_Alignas(8) char record[128] = { 0 };
	struct event_header *header = (struct event_header *)record;

	*header = (struct event_header){ .ts = ts, .pid = 9, .tid = 9, .comm = "fifteen letters" };
	strcpy(record + 48, text);
	memcpy(record + 64, &i, sizeof i);
	assert_int_equal(packets_add(fixture->cpus[cpu], TEXT, header), 0);
}

static void flush(struct fixture *fixture, unsigned cpu)
{
	assert_int_equal(packets_flush(fixture->cpus[cpu]), 0);
}

static struct trace_source *open_reader(struct fixture *fixture)
{
	struct trace_source *source = NULL;
	int result = trace_ctf_new(fixture->path, fixture->catalog, fixture->diag, &source);

	if (result)
		print_message("%s\n", asterism_diag_get(fixture->diag, 0)->text);
	assert_int_equal(result, 0);
	return source;
}

static uint64_t word(const struct trace_event *event, const char *name)
{
	const struct event_field *field = event_field_find(event->type, name);
	uint64_t value = 0;

	assert_non_null(field);
	memcpy(&value, (const char *)event->record + field->offset, field->bytes);
	return value;
}

static void write_small(struct fixture *fixture)
{
	open_writer(fixture);
	add_tick(fixture, 0, 100, 1);
	add_text(fixture, 1, 100, "one", -1);
	add_tick(fixture, 1, 101, 2);
	flush(fixture, 1);
	add_tick(fixture, 0, 102, 3);
	flush(fixture, 0);
	add_text(fixture, 0, 103, "", 5);
	add_tick(fixture, 1, 103, 4);
	flush(fixture, 0);
	flush(fixture, 1);
	close_writer(fixture);
}

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
	struct fixture *fixture = *state;
	struct trace_source *source;
	struct trace_event event;

	write_small(fixture);
	source = open_reader(fixture);
	assert_true(source->wall_ns == WALL_NS);
	for (unsigned i = 0; i < 6; i++) {
		bool is_tick = !strcmp(expected[i].type, "tick");

		assert_int_equal(trace_source_next(source, &event), 1);
		assert_ptr_equal(event.type, fixture->events[!is_tick].type);
		assert_int_equal(event.record->type, !is_tick);
		assert_int_equal(event.record->seq, i + 1);
		assert_int_equal(event.record->ts, expected[i].ts);
		assert_int_equal(event.record->cpu, expected[i].cpu);
		assert_int_equal(event.record->pid, expected[i].pid);
		assert_int_equal(event.record->tid, expected[i].tid);
		assert_string_equal(event.record->comm, expected[i].comm);
		assert_int_equal(word(&event, is_tick ? "n" : "i"), (uint64_t)expected[i].value);
		if (is_tick)
			assert_int_equal(word(&event, "b"), 1);
		else
			assert_string_equal((const char *)event.record + 48, i == 1 ? "one" : "");
	}
	assert_int_equal(trace_source_next(source, &event), 0);
	assert_int_equal(trace_source_next(source, &event), 0);
	assert_int_equal(source->lost, 0);
	assert_int_equal(trace_source_position(source), source->bytes_total);
	trace_source_free(source);
}

/* Of text only i was recorded, and who reads it knows neither tick nor that i is not all. */
static void types_are_the_readers_own(void **state)
{
	static const char others[] = "EVENT text { s: string, i: i32, z: f64 }\n";
	struct fixture *fixture = *state;
	bool recorded[] = { false, true };
	struct event_catalog *catalog = event_catalog_new();
	struct trace_source *source;
	struct trace_event event;

	fixture->events[1].recorded = recorded;
	write_small(fixture);
	assert_int_equal(event_catalog_parse(catalog, "others", others, strlen(others), NULL), 0);
	assert_int_equal(trace_ctf_new(fixture->path, catalog, fixture->diag, &source), 0);
	assert_int_equal(trace_source_next(source, &event), 1);
	assert_string_equal(event.type->name, "tick");
	assert_int_equal(event.type->origin, EVENT_DECLARED);
	assert_int_equal(event.type->field_count, 2);
	assert_int_equal(event.type->fields[1].value, EVENT_BOOL);
	assert_int_equal(trace_source_next(source, &event), 1);
	assert_int_equal(word(&event, "i"), (uint64_t)-1);
	assert_string_equal((const char *)event.record + event_field_find(event.type, "s")->offset, "");
	assert_int_equal(word(&event, "z"), 0);
	trace_source_free(source);
	event_catalog_free(catalog);
}

static void a_type_that_does_not_fit_is_refused(void **state)
{
	static const char others[] = "EVENT text { s: string, i: u32 }\n";
	struct fixture *fixture = *state;
	struct event_catalog *catalog = event_catalog_new();
	struct trace_source *source;

	write_small(fixture);
	assert_int_equal(event_catalog_parse(catalog, "others", others, strlen(others), NULL), 0);
	assert_int_equal(trace_ctf_new(fixture->path, catalog, fixture->diag, &source), -EINVAL);
	assert_string_equal(asterism_diag_get(fixture->diag, 0)->text,
			    "text.i was recorded as i32, but the event type in force has another type for it");
	assert_non_null(strstr(asterism_diag_get(fixture->diag, 0)->file, "/trace/metadata"));
	event_catalog_free(catalog);
}

static bool wants_text(void *context, const struct event_type *type)
{
	(void)context;
	return !strcmp(type->name, "text");
}

static void ordinals_count_what_is_dropped(void **state)
{
	struct fixture *fixture = *state;
	struct trace_want want = { .wants = wants_text, .drops = true };
	struct trace_source *source;
	struct trace_event event;

	write_small(fixture);
	source = open_reader(fixture);
	trace_source_want(source, &want);
	assert_int_equal(trace_source_next(source, &event), 1);
	assert_int_equal(event.record->seq, 2);
	assert_int_equal(event.record->type, 0);
	assert_int_equal(trace_source_next(source, &event), 1);
	assert_int_equal(event.record->seq, 5);
	assert_int_equal(trace_source_next(source, &event), 0);
	trace_source_free(source);
	source = open_reader(fixture);
	want.drops = false;
	trace_source_want(source, &want);
	for (unsigned i = 1; i <= 6; i++) {
		assert_int_equal(trace_source_next(source, &event), 1);
		assert_int_equal(event.record->seq, i);
	}
	trace_source_free(source);
}

static void losses_are_told_where_the_gap_may_begin(void **state)
{
	struct fixture *fixture = *state;
	struct trace_source *source;
	struct trace_event event;

	open_writer(fixture);
	packets_lose(fixture->cpus[0], 3); /* before the first event */
	add_tick(fixture, 0, 100, 1);
	flush(fixture, 0);
	packets_lose(fixture->cpus[0], 4);
	add_tick(fixture, 1, 101, 2);
	add_tick(fixture, 1, 102, 3);
	flush(fixture, 1);
	add_tick(fixture, 0, 103, 4);
	flush(fixture, 0);
	packets_lose(fixture->cpus[1], 5);
	fixture->cpus[1]->header.timestamp_begin = 105;
	flush(fixture, 1); /* behind the last event */
	close_writer(fixture);

	source = open_reader(fixture);
	assert_int_equal(trace_source_next(source, &event), 1);
	assert_int_equal(source->lost, 3);
	assert_int_equal(trace_source_next(source, &event), 1);
	assert_int_equal(event.record->ts, 101);
	assert_int_equal(source->lost, 7);
	assert_int_equal(source->lossy_until_ns, 103);
	assert_int_equal(trace_source_next(source, &event), 1);
	assert_int_equal(source->lost, 7);
	assert_int_equal(trace_source_next(source, &event), 1);
	assert_int_equal(event.record->ts, 103);
	assert_int_equal(source->lost, 12);
	assert_int_equal(trace_source_next(source, &event), 0);
	assert_int_equal(source->lost, 12);
	assert_int_equal(source->lossy_until_ns, 105);
	trace_source_free(source);
}

static void matches_are_marked(void **state)
{
	const struct ctf_match match = { 101, 1, 7, 9, "maker", "slow", "n=2", true };
	struct fixture *fixture = *state;
	struct trace_source *source;
	struct trace_event event;

	open_writer(fixture);
	add_tick(fixture, 1, 101, 2);
	add_tick(fixture, 0, 102, 3);
	flush(fixture, 0);
	flush(fixture, 1);
	assert_int_equal(ctf_writer_match(fixture->writer, &match), 0);
	close_writer(fixture);
	source = open_reader(fixture);
	assert_int_equal(trace_source_next(source, &event), 1);
	assert_int_equal(trace_source_next(source, &event), 1);
	assert_string_equal(event.type->name, "match");
	assert_int_equal(event.record->ts, 101);
	assert_int_equal(event.record->cpu, 1);
	assert_int_equal(event.record->tid, 9);
	assert_string_equal(event.record->comm, "maker");
	assert_int_equal(word(&event, "tainted"), 1);
	assert_string_equal((const char *)event.record + event_field_find(event.type, "rule")->offset, "slow");
	assert_string_equal((const char *)event.record + event_field_find(event.type, "values")->offset, "n=2");
	assert_int_equal(trace_source_next(source, &event), 1);
	assert_int_equal(event.record->ts, 102);
	trace_source_free(source);
}

/* What is left at the limit is the newest, without a gap. */
static void the_limit_keeps_the_newest(void **state)
{
	struct fixture *fixture = *state;
	struct ctf_writer_totals totals;
	struct trace_source *source;
	struct trace_event event;
	uint64_t next[2] = { 0, 0 };
	int result;

	fixture->options.max_bytes = 400000;
	open_writer(fixture);
	for (uint64_t n = 0; n < 100000; n++) {
		/* The first processor falls silent in the middle. */
		unsigned cpu = n < 50000 ? (unsigned)(n % 2) : 1;

		add_tick(fixture, cpu, 1000 + n, n);
		ctf_writer_totals(fixture->writer, &totals);
		assert_true(totals.bytes <= 400000);
	}
	flush(fixture, 0);
	flush(fixture, 1);
	ctf_writer_totals(fixture->writer, &totals);
	assert_true(totals.bytes <= 400000 && totals.bytes > 300000);
	assert_int_equal(totals.events, 100000);
	assert_true(totals.deleted_bytes > 1000000);
	close_writer(fixture);
	source = open_reader(fixture);
	while ((result = trace_source_next(source, &event)) == 1) {
		uint64_t n = word(&event, "n");
		unsigned cpu = event.record->cpu;

		assert_true(!next[cpu] || n == next[cpu]);
		next[cpu] = n + (n < 49998 ? 2 : 1);
	}
	assert_int_equal(result, 0);
	assert_int_equal(source->lost, 0);
	assert_int_equal(next[1], 100000);
	trace_source_free(source);
}

static void a_directory_with_files_is_left_alone(void **state)
{
	struct fixture *fixture = *state;
	struct ctf_writer *writer;

	assert_int_equal(mkdir(fixture->path, 0777), 0);
	write_small(fixture); /* an empty one will do */
	assert_int_equal(ctf_writer_new(fixture->path, &fixture->options, fixture->diag, &writer), -EEXIST);
	assert_string_equal(asterism_diag_get(fixture->diag, 0)->text,
			    "the directory is not empty; a trace is not written over other files");
	asterism_diag_clear(fixture->diag);
	assert_int_equal(ctf_writer_new("/dev/null", &fixture->options, fixture->diag, &writer), -ENOTDIR);
	assert_int_equal(ctf_writer_new("/dev/null/x", &fixture->options, fixture->diag, &writer), -ENOTDIR);
	trace_source_free(open_reader(fixture));
}

/* A file that may not grow stands for a disk that is full. */
static void a_full_disk_leaves_whole_packets(void **state)
{
	struct fixture *fixture = *state;
	struct rlimit old, limit;
	struct trace_source *source;
	struct trace_event event;
	uint64_t count = 0;
	int result = 0;

	open_writer(fixture);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = (struct rlimit){ 150000, old.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (uint64_t n = 0; n < 20000 && !result; n++) {
		_Alignas(8) char record[128] = { 0 };

		((struct event_header *)record)->ts = 100 + n;
		result = packets_add(fixture->cpus[0], TICK, (struct event_header *)record);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(result, -EFBIG);
	assert_string_equal(asterism_diag_get(fixture->diag, 0)->text, "the file cannot be written: File too large");
	assert_non_null(strstr(asterism_diag_get(fixture->diag, 0)->file, "/trace/stream_0"));
	close_writer(fixture);
	source = open_reader(fixture);
	while ((result = trace_source_next(source, &event)) == 1)
		count++;
	assert_int_equal(result, 0);
	assert_true(count > 4000);
	trace_source_free(source);
}

static int put_packet(struct fixture *fixture, const uint64_t *words, size_t count)
{
	_Alignas(8) char bytes[1024] = { 0 };
	struct ring_packet header = { .timestamp_begin = 1000 };

	asterism_diag_clear(fixture->diag);
	memcpy(bytes, &header, sizeof header);
	memcpy(bytes + sizeof header, words, count * sizeof *words);
	return ctf_writer_packet(fixture->writer, 0, bytes, sizeof header + count * sizeof *words, 0);
}

static void a_wrong_packet_is_not_written(void **state)
{
	const uint64_t tick = event_packed_word(TICK, 1001), text = event_packed_word(TEXT, 1001);
	struct fixture *fixture = *state;
	const uint64_t unknown[] = { event_packed_word(TEXT + 1, 1001), 0 };
	const uint64_t short_tick[] = { tick, 5 };
	const uint64_t endless[] = { text, ~UINT64_C(0), ~UINT64_C(0) };
	const uint64_t back[] = { tick, 5, 1, event_packed_word(TICK, 1000), 5, 1 };
	const uint64_t right[] = { tick, 5, 1, text, 0x4100000000 };

	open_writer(fixture);
	assert_int_equal(put_packet(fixture, unknown, 2), -EINVAL);
	assert_string_equal(asterism_diag_get(fixture->diag, 0)->text,
			    "a packet of processor 0 is damaged at byte 96: there is no event with this id");
	assert_int_equal(put_packet(fixture, short_tick, 2), -EINVAL);
	assert_int_equal(put_packet(fixture, endless, 3), -EINVAL);
	assert_int_equal(put_packet(fixture, back, 6), -EINVAL);
	assert_string_equal(asterism_diag_get(fixture->diag, 0)->text,
			    "a packet of processor 0 is damaged at byte 120: time goes back");
	assert_int_equal(ctf_writer_packet(fixture->writer, 0, right, 40, 0), -EINVAL);
	assert_int_equal(ctf_writer_packet(fixture->writer, 2, right, 96, 0), -EINVAL);
	assert_int_equal(put_packet(fixture, right, 5), 0);
	close_writer(fixture);
}

/* Reads to the end; errors are of the file. Returns how many events there were, or -1 after an error. */
static int read_through(struct fixture *fixture, int *errors)
{
	struct trace_source *source = open_reader(fixture);
	struct trace_event event;
	uint64_t ts = 0;
	int result, count = 0;

	*errors = 0;
	asterism_diag_clear(fixture->diag);
	while ((result = trace_source_next(source, &event)) != 0) {
		if (result < 0) {
			assert_int_equal(result, -EINVAL);
			assert_non_null(strstr(asterism_diag_get(fixture->diag, (size_t)*errors)->text, "(byte "));
			++*errors;
			continue;
		}
		assert_true(event.record->ts >= ts);
		ts = event.record->ts;
		count++;
	}
	trace_source_free(source);
	return count;
}

static void every_cut_gives_what_is_before_it(void **state)
{
	struct fixture *fixture = *state;
	char path[256];
	struct stat status;
	int last = 6, errors;

	write_small(fixture);
	snprintf(path, sizeof path, "%s/stream_0", fixture->path);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(read_through(fixture, &errors), 6);
	assert_int_equal(errors, 0);
	for (off_t size = status.st_size - 1; size > 0; size--) {
		int count;

		assert_int_equal(truncate(path, size), 0);
		count = read_through(fixture, &errors);
		assert_true(count <= last && count >= 3);
		last = count;
		/* Between the packets, which is where the file looks whole. */
		if (count == 5 && !errors)
			continue;
		assert_int_equal(errors, 1);
		assert_non_null(strstr(asterism_diag_get(fixture->diag, 0)->file, "/trace/stream_0"));
	}
	assert_int_equal(last, 3);
}

static void no_altered_byte_is_followed_astray(void **state)
{
	struct fixture *fixture = *state;
	char path[256];
	struct stat status;
	int fd, errors;

	write_small(fixture);
	snprintf(path, sizeof path, "%s/stream_1", fixture->path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(fstat(fd, &status), 0);
	for (off_t at = 0; at < status.st_size; at++) {
		for (unsigned flip = 1; flip < 256; flip = flip * 2 + 1) {
			uint8_t byte, altered;

			assert_int_equal(pread(fd, &byte, 1, at), 1);
			altered = byte ^ (uint8_t)flip;
			assert_int_equal(pwrite(fd, &altered, 1, at), 1);
			/* Those of the other stream are there in any case. */
			assert_true(read_through(fixture, &errors) >= 3);
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
		{ "byte_order = le", "byte_order = be", "this is not what traces of asterism say here (byte 1200)" },
		{ "u64 _n", "u65 _n", "there is no such type" },
		{ "u64 _n", "u64 n ", "the name of a field begins with '_'" },
		{ "u64 _n;", "u64 _n ", "';' is expected here" },
		{ "id = 1;\n", "id = 2;\n", "this id belongs to another event" },
		{ "id = 1;\n", "id = 0;\n", "this id belongs to another event" },
		{ "\"tick\"", "\"t ck\"", "this is not a name" },
		{ "\"tick\"", "\"tick ", "a name in quotes is expected here" },
		{ "text16 _s", "text17 _s", "no string has this capacity" },
		{ "bool _b", "bool _n", "event tick has two fields of one name, or more than a record can hold" },
		{ "stream_id = 0;\n\tfields := struct {\n\t\tu64", "stream_id = 1;\n\tfields := struct {\n\t\tu64",
		  "'0' is expected here" },
	};
	struct fixture *fixture = *state;
	char path[256], text[16384] = { 0 };
	struct event_catalog *catalog;
	struct trace_source *source;
	FILE *file;

	write_small(fixture);
	snprintf(path, sizeof path, "%s/metadata", fixture->path);
	file = fopen(path, "r+");
	assert_true(fread(text, 1, sizeof text - 1, file) > 1000);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *place = strstr(text, cases[i].from);

		assert_non_null(place);
		assert_int_equal(fseek(file, place - text, SEEK_SET), 0);
		assert_true(fputs(cases[i].to, file) >= 0 && fflush(file) == 0);
		asterism_diag_clear(fixture->diag);
		catalog = event_catalog_new();
		assert_int_equal(trace_ctf_new(fixture->path, catalog, fixture->diag, &source), -EINVAL);
		event_catalog_free(catalog);
		const struct asterism_message *message = asterism_diag_get(fixture->diag, 0);
		if (strncmp(message->text, cases[i].text, strlen(cases[i].text)) != 0)
			print_message("%s\n", message->text);
		assert_memory_equal(message->text, cases[i].text, strlen(cases[i].text));
		assert_int_equal(fseek(file, place - text, SEEK_SET), 0);
		assert_int_equal(fwrite(place, 1, strlen(cases[i].to), file), strlen(cases[i].to));
		fflush(file);
	}
	fclose(file);
	trace_source_free(open_reader(fixture));
}

static void memory_may_run_out_anywhere(void **state)
{
	struct fixture *fixture = *state;
	struct trace_source *source;
	int result = -ENOMEM;

	write_small(fixture);
	for (unsigned long n = 1; result == -ENOMEM; n++) {
		struct event_catalog *catalog = event_catalog_new();

		asterism_diag_clear(fixture->diag);
		alloc_fail_at(n);
		result = trace_ctf_new(fixture->path, catalog, fixture->diag, &source);
		alloc_fail_at(0);
		if (!result)
			trace_source_free(source);
		event_catalog_free(catalog);
	}
	assert_int_equal(result, 0);
	remove_all(fixture->path);
	result = -ENOMEM;
	for (unsigned long n = 1; result == -ENOMEM; n++) {
		asterism_diag_clear(fixture->diag);
		remove_all(fixture->path);
		alloc_fail_at(n);
		result = ctf_writer_new(fixture->path, &fixture->options, fixture->diag, &fixture->writer);
		alloc_fail_at(0);
	}
	assert_int_equal(result, 0);
	assert_int_equal(ctf_writer_close(fixture->writer), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_is_written_is_read),
		CASE(types_are_the_readers_own),
		CASE(a_type_that_does_not_fit_is_refused),
		CASE(ordinals_count_what_is_dropped),
		CASE(losses_are_told_where_the_gap_may_begin),
		CASE(matches_are_marked),
		CASE(the_limit_keeps_the_newest),
		CASE(a_directory_with_files_is_left_alone),
		CASE(a_full_disk_leaves_whole_packets),
		CASE(a_wrong_packet_is_not_written),
		CASE(every_cut_gives_what_is_before_it),
		CASE(no_altered_byte_is_followed_astray),
		CASE(metadata_is_refused_with_its_place),
		CASE(memory_may_run_out_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
