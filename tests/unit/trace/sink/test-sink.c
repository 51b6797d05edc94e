// SPDX-License-Identifier: BSD-2-Clause
/* Sinks write what their sources have: JSON lines are read back as the same events, text tells times and losses. */

#include "base/alloc.h"
#include "event/catalog.h"
#include "trace/jsonl/jsonl.h"
#include "trace/sink/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

enum { TEXT_BYTES = 4096 };

static const char lines[] =
	"{\"event\":\"seen\",\"ts\":1000000005,\"cpu\":2,\"pid\":7,\"tid\":8,\"comm\":\"a b\",\"x\":-3,"
	"\"name\":\"q\\\"\"}\n"
	"{\"event\":\"seen\",\"ts\":3000000000,\"cpu\":0,\"pid\":0,\"tid\":0,\"comm\":\"\",\"x\":4,\"name\":\"\"}\n";

static int memory_file(const char *text)
{
	int fd = memfd_create("asterism-unit", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static struct event_catalog *make_catalog(void)
{
	static const struct event_field_spec fields[] = { { .name = "x", .value = EVENT_I64 },
							  { .name = "name", .value = EVENT_STRING } };
	const struct event_type_spec spec = { .name = "seen", .fields = fields, .field_count = 2 };
	struct event_catalog *catalog = event_catalog_new();
	const struct event_type *type;

	assert_non_null(catalog);
	assert_int_equal(event_catalog_add(catalog, &spec, &type), 0);
	return catalog;
}

/* Puts all of lines; before the second event so many are lost. Returns the first failure. */
static int put_all(struct event_sink *sink, uint64_t wall_ns, uint64_t lost)
{
	struct event_catalog *catalog = make_catalog();
	int fd = memory_file(lines), result;
	struct event_source *source;
	uint64_t start_ns = 0;
	struct event event;

	assert_int_equal(trace_jsonl_new(fd, "lines", catalog, NULL, &source), 0);
	source->machine.wall_ns = wall_ns;
	while ((result = event_source_next(source, &event)) > 0) {
		start_ns = start_ns ? start_ns : event.record->ts;
		result = event_sink_put(sink, source, start_ns, &event);
		if (result)
			break;
		source->lost = lost;
	}
	event_source_free(source);
	event_catalog_free(catalog);
	close(fd);
	return result ? result : event_sink_flush(sink);
}

static void expect(const char *format, struct event_sink_options options, uint64_t wall_ns, const char *expected)
{
	char text[TEXT_BYTES] = "";
	struct event_sink *sink;

	options.fd = memfd_create("asterism-unit", 0);
	assert_true(options.fd >= 0);
	assert_int_equal(trace_sink_open(format, &options, &sink), 0);
	assert_string_equal(sink->kind->name, format);
	assert_int_equal(put_all(sink, wall_ns, 12), 0);
	event_sink_free(sink);
	assert_true(pread(options.fd, text, sizeof text - 1, 0) > 0);
	assert_string_equal(text, expected);
	close(options.fd);
}

static void json_lines_are_what_is_read(void **state)
{
	(void)state;
	expect("json", (struct event_sink_options){ 0 }, 0, lines);
	expect("json", (struct event_sink_options){ .at_once = true }, 0, lines);
}

#define FIRST  " [  2] a b                   7/8 seen x=-3 name=\"q\\\"\"\n"
#define SECOND " [  0]                       0/0 seen x=4 name=\"\"\n"
#define LOST   "--- 12 events were lost from here on ---\n"

static void text_reports_times_and_losses(void **state)
{
	const uint64_t wall_ns = UINT64_C(1700000000) * 1000000000;

	(void)state;
	expect("text", (struct event_sink_options){ 0 }, 0, "    0.000000000" FIRST LOST "    1.999999995" SECOND);
	expect("text", (struct event_sink_options){ .time = EVENT_TIME_CLOCK, .ordinals = true }, 0,
	       "         1 1000000005" FIRST LOST "         2 3000000000" SECOND);
	expect("text", (struct event_sink_options){ .time = EVENT_TIME_WALL }, wall_ns,
	       "2023-11-14 22:13:21.000000005" FIRST LOST "2023-11-14 22:13:23.000000000" SECOND);
	/* Of a source that does not know the date. */
	expect("text", (struct event_sink_options){ .time = EVENT_TIME_WALL }, 0,
	       "    0.000000000" FIRST LOST "    1.999999995" SECOND);
}

static void there_are_these_formats(void **state)
{
	struct event_sink *sink;

	(void)state;
	assert_int_equal(trace_sink_open("yaml", &(struct event_sink_options){ 0 }, &sink), -ENOENT);
}

static void on_signal(int number)
{
	(void)number;
}

static const char *const formats[] = { "text", "json" };

static void a_failure_is_reported_and_sticks(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		struct event_sink_options options = { .fd = open("/dev/full", O_WRONLY), .at_once = true };
		struct event_sink *sink;

		assert_true(options.fd >= 0);
		assert_int_equal(trace_sink_open(formats[i], &options, &sink), 0);
		assert_int_equal(put_all(sink, 0, 0), -ENOSPC);
		assert_int_equal(event_sink_flush(sink), -ENOSPC);
		event_sink_free(sink);
		close(options.fd);
	}
}

/* One that is to stop does not wait for a reader who takes nothing. */
static void who_stops_does_not_wait(void **state)
{
	const struct sigaction action = { .sa_handler = on_signal };
	const struct itimerval soon = { .it_interval.tv_usec = 10000, .it_value.tv_usec = 10000 }, never = { 0 };
	volatile sig_atomic_t stop = 1;
	struct event_sink_options options = { .at_once = true, .stop = &stop };
	struct event_sink *sink;
	int ends[2], result;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	options.fd = ends[1];
	assert_int_equal(trace_sink_open("json", &options, &sink), 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	do
		result = put_all(sink, 0, 0);
	while (!result);
	setitimer(ITIMER_REAL, &never, NULL);
	assert_int_equal(result, -EPIPE);
	event_sink_free(sink);
	close(ends[0]);
	close(ends[1]);
}

static void survives_lack_of_memory(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		const struct event_sink_options options = { .fd = open("/dev/null", O_WRONLY) };
		struct event event = { .type = &(struct event_type){ .name = "seen" } };
		struct event_header record = { .ts = 1 };
		struct event_source source = { .lost = 0 };
		struct event_sink *sink;

		event.record = &record;
		alloc_fail_at(1);
		assert_int_equal(trace_sink_open(formats[i], &options, &sink), -ENOMEM);
		alloc_fail_at(0);
		assert_int_equal(trace_sink_open(formats[i], &options, &sink), 0);
		alloc_fail_at(1);
		assert_int_equal(event_sink_put(sink, &source, 0, &event), -ENOMEM);
		alloc_fail_at(0);
		assert_int_equal(event_sink_flush(sink), -ENOMEM);
		event_sink_free(sink);
		close(options.fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_lines_are_what_is_read), cmocka_unit_test(text_reports_times_and_losses),
		cmocka_unit_test(there_are_these_formats),     cmocka_unit_test(a_failure_is_reported_and_sticks),
		cmocka_unit_test(who_stops_does_not_wait),     cmocka_unit_test(survives_lack_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
