// SPDX-License-Identifier: BSD-2-Clause
/*
 * Traces as a program reads them: all events of one and of several, what is chosen, what is lost, what is damaged, and
 * every value against what `asterism dump` says. Needs no privilege. Arguments: make-trace, asterism.
 */

#include <asterism/asterism.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { EVENTS = 3000, LINE_BYTES = 4096 };

static const char *make_trace, *asterism;
static char folder[] = "/tmp/asterism-api-trace-XXXXXX";

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void shell(const char *format, ...)
{
	char command[LINE_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof command, format, arguments);
	va_end(arguments);
	assert_int_not_equal(system(command), -1);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder) || chdir(folder))
		return -1;
	shell("%s -n %d -c 2 whole && %s -n 20 -c 1 few", make_trace, EVENTS, make_trace);
	shell("%s -n %d -c 2 -l 5 lossy && %s -n 3000 -c 2 -k cut", make_trace, EVENTS, make_trace);
	return access("cut/metadata", R_OK);
}

static int tear_down(void **state)
{
	(void)state;
	shell("rm -rf %s", folder);
	return 0;
}

static struct asterism_trace *open_one(const char *path, const struct asterism_trace_options *options)
{
	struct asterism_trace *trace = NULL;

	assert_int_equal(asterism_trace_open(&path, 1, options, NULL, &trace), 0);
	assert_non_null(trace);
	return trace;
}

static uint64_t count_all(struct asterism_trace *trace)
{
	uint64_t count = 0;
	int item;

	while ((item = asterism_trace_next(trace)) > 0)
		count += item == ASTERISM_TRACE_EVENT;
	assert_int_equal(item, ASTERISM_TRACE_END);
	return count;
}

static uint64_t count_of(const char *path, const struct asterism_trace_options *options)
{
	struct asterism_trace *trace = open_one(path, options);
	uint64_t count = count_all(trace);

	asterism_trace_free(trace);
	return count;
}

static void test_is_what_dump_says(void **state)
{
	const char *paths[] = { "whole", "few" };
	char line[LINE_BYTES], wanted[LINE_BYTES], small[8];
	struct asterism_trace *trace;
	FILE *dump;

	(void)state;
	snprintf(line, sizeof line, "%s dump -f json whole few", asterism);
	dump = popen(line, "r");
	assert_non_null(dump);
	assert_int_equal(asterism_trace_open(paths, 2, NULL, NULL, &trace), 0);
	while (asterism_trace_next(trace) == ASTERISM_TRACE_EVENT) {
		int length = asterism_trace_json(trace, line, sizeof line);

		assert_non_null(fgets(wanted, sizeof wanted, dump));
		wanted[strcspn(wanted, "\n")] = 0;
		assert_string_equal(line, wanted);
		assert_int_equal(length, strlen(wanted));
		assert_int_equal(asterism_trace_json(trace, small, sizeof small), length);
		assert_int_equal(strlen(small), sizeof small - 1);
	}
	assert_null(fgets(wanted, sizeof wanted, dump));
	pclose(dump);
	asterism_trace_free(trace);
}

static void test_fields(void **state)
{
	const struct asterism_trace_options options = { .size = sizeof options, .events = "call" };
	struct asterism_trace *trace = open_one("whole", &options);
	struct asterism_event event = { .size = sizeof event };
	struct asterism_trace_field_about about = { .size = sizeof about };
	struct asterism_value value;
	char text[64];
	int index;

	(void)state;
	assert_int_equal(asterism_trace_event(trace, &event), -EINVAL);
	assert_int_equal(asterism_trace_type(trace), UINT32_MAX);
	assert_int_equal(asterism_trace_next(trace), ASTERISM_TRACE_EVENT);
	assert_int_equal(asterism_trace_event(trace, &event), 0);
	assert_string_equal(event.type, "call");
	assert_null(event.name);
	assert_int_equal(event.seq, 3);
	assert_int_equal(event.time_ns, 1000000100);
	assert_int_equal(event.pid, 100);
	assert_string_equal(event.comm, "task100");
	assert_int_equal(event.field_count, 6);
	assert_int_equal(asterism_trace_field_find(trace, "nr", &value), 0);
	assert_int_equal(value.kind, ASTERISM_I64);
	assert_int_equal(value.as.i64, -2);
	assert_int_equal(asterism_trace_field_find(trace, "arg", &value), 0);
	assert_true(value.kind == ASTERISM_U64 && value.as.u64 == UINT64_MAX - 2);
	assert_int_equal(asterism_trace_field_find(trace, "ok", &value), 0);
	assert_true(value.kind == ASTERISM_BOOL && !value.as.boolean);
	assert_int_equal(asterism_trace_field_find(trace, "load", &value), 0);
	assert_true(value.kind == ASTERISM_F64 && value.as.f64 == 0.5);
	assert_int_equal(asterism_trace_field_find(trace, "tid", &value), 0);
	assert_int_equal(value.as.u64, 100);
	assert_int_equal(asterism_trace_field_find(trace, "nothing", &value), -ENOENT);
	index = asterism_trace_field_index(trace, "name");
	assert_in_range(index, 0, 5);
	assert_int_equal(asterism_trace_field(trace, (size_t)index, &value), 0);
	assert_string_equal(value.name, "name");
	assert_string_equal(value.as.string, "/tmp/file2");
	assert_int_equal(asterism_trace_field_text(trace, (size_t)index, text, sizeof text), 10);
	assert_int_equal(asterism_trace_field_describe(trace, (size_t)index, &about), 0);
	assert_string_equal(about.type, "string");
	assert_int_equal(about.bytes, 64);
	index = asterism_trace_field_index(trace, "arg");
	assert_true(asterism_trace_field_text(trace, (size_t)index, text, sizeof text) > 0);
	assert_string_equal(text, "0xfffffffffffffffd");
	assert_int_equal(asterism_trace_field(trace, 6, &value), -EINVAL);
	assert_int_equal(asterism_trace_field_index(trace, "nothing"), -ENOENT);
	asterism_trace_free(trace);
}

/* Values with names, texts that may be longer and that were not read; of a catalog that is named. */
static void test_meanings(void **state)
{
	const struct asterism_trace_options options = { .size = sizeof options, .catalog = "./own.events" };
	struct asterism_value value;
	struct asterism_trace *trace;
	char text[64];

	(void)state;
	shell("echo 'EVENT opened { id: u32 syscall, flags: i32 flags open, name: string[24] }' >own.events");
	shell("echo '{\"event\":\"opened\",\"ts\":1,\"id\":257,\"flags\":577,\"name\":\"as-long-as-there-is-room\"}' "
	      ">lines");
	shell("echo '{\"event\":\"opened\",\"ts\":2,\"id\":999,\"flags\":0,\"name\":null}' >>lines");
	trace = open_one("lines", &options);
	assert_int_equal(asterism_trace_next(trace), ASTERISM_TRACE_EVENT);
	assert_int_equal(asterism_trace_field_text(trace, 0, text, sizeof text), 6);
	assert_string_equal(text, "openat");
	assert_true(asterism_trace_field_text(trace, 1, text, sizeof text) > 0);
	assert_string_equal(text, "O_CREAT|O_TRUNC|O_WRONLY");
	assert_int_equal(asterism_trace_field(trace, 2, &value), 1);
	assert_string_equal(value.as.string, "as-long-as-there-is-roo");
	assert_int_equal(asterism_trace_next(trace), ASTERISM_TRACE_EVENT);
	assert_int_equal(asterism_trace_field_find(trace, "name", &value), -ENODATA);
	assert_int_equal(value.kind, ASTERISM_STRING);
	assert_int_equal(asterism_trace_field_text(trace, 2, text, sizeof text), -ENODATA);
	asterism_trace_free(trace);
}

static void test_options(void **state)
{
	static const uint32_t pids[] = { 100, 102 }, cpus[] = { 1 };
	struct asterism_trace_options options = { .size = sizeof options };
	uint64_t by_pid;

	(void)state;
	assert_int_equal(count_of("whole", NULL), EVENTS);
	assert_int_equal(count_of("whole", &options), EVENTS);
	options.cpus = cpus;
	options.cpu_count = 1;
	assert_int_equal(count_of("whole", &options), EVENTS / 2);
	options.cpu_count = 0;
	options.from_ns = 1000;
	options.to_ns = 2000;
	assert_int_equal(count_of("whole", &options), 20);
	options.on_clock = 1;
	assert_int_equal(count_of("whole", &options), 0);
	options.from_ns += 1000000000;
	options.to_ns += 1000000000;
	assert_int_equal(count_of("whole", &options), 20);
	options = (struct asterism_trace_options){ .size = sizeof options, .pids = pids, .pid_count = 2 };
	by_pid = count_of("whole", &options);
	assert_in_range(by_pid, EVENTS / 5, EVENTS / 2);
	options = (struct asterism_trace_options){ .size = sizeof options, .events = "t*,idle" };
	assert_in_range(count_of("whole", &options), 1, EVENTS - 1);
}

/* What programs get wrong, and what is not there. */
static void test_errors(void **state)
{
	struct asterism_trace_options options = { .size = sizeof options, .from_ns = 2, .to_ns = 1 };
	const char *paths[] = { "whole", "nowhere" };
	struct asterism_diag *diag = asterism_diag_new();
	struct asterism_trace *trace = NULL;

	(void)state;
	assert_int_equal(asterism_trace_open(paths, 2, NULL, diag, &trace), -EINVAL);
	assert_string_equal(asterism_diag_get(diag, 0)->text, "no such file");
	assert_string_equal(asterism_diag_get(diag, 0)->file, "nowhere");
	assert_int_equal(asterism_trace_open(paths, 0, NULL, diag, &trace), -EINVAL);
	assert_int_equal(asterism_trace_open(paths, 1, &options, diag, &trace), -EINVAL);
	options = (struct asterism_trace_options){ .size = 3 };
	assert_int_equal(asterism_trace_open(paths, 1, &options, diag, &trace), -EINVAL);
	options = (struct asterism_trace_options){ .size = sizeof options, .events = "a,,b" };
	assert_int_equal(asterism_trace_open(paths, 1, &options, diag, &trace), -EINVAL);
	options = (struct asterism_trace_options){ .size = sizeof options, .pid_count = 1 };
	assert_int_equal(asterism_trace_open(paths, 1, &options, diag, &trace), -EINVAL);
	assert_int_equal(asterism_diag_count(diag, ASTERISM_ERROR), 6);
	assert_null(trace);
	options = (struct asterism_trace_options){ .size = sizeof options, .events = "tick,tock" };
	trace = open_one("whole", &options);
	assert_true(count_all(trace) > 0);
	assert_string_equal(asterism_diag_get(asterism_trace_diag(trace), 0)->text,
			    "the trace has no event type 'tock'");
	assert_int_equal(asterism_trace_next(trace), ASTERISM_TRACE_END);
	asterism_trace_free(trace);
	asterism_trace_free(NULL);
	asterism_diag_free(diag);
}

static void test_losses(void **state)
{
	struct asterism_trace *trace = open_one("lossy", NULL);
	struct asterism_trace_stats stats = { .size = sizeof stats };
	uint64_t lost = 0, events = 0;
	int item;

	(void)state;
	while ((item = asterism_trace_next(trace)) > 0) {
		struct asterism_trace_loss loss = { .size = sizeof loss };
		struct asterism_event event = { .size = sizeof event };

		events += item == ASTERISM_TRACE_EVENT;
		assert_int_equal(asterism_trace_event(trace, &event), item == ASTERISM_TRACE_EVENT ? 0 : -EINVAL);
		assert_int_equal(asterism_trace_loss(trace, &loss), item == ASTERISM_TRACE_LOSS ? 0 : -EINVAL);
		lost += loss.count;
		if (item == ASTERISM_TRACE_LOSS)
			assert_true(!loss.until_ns || loss.from_ns <= loss.until_ns);
	}
	assert_int_equal(item, ASTERISM_TRACE_END);
	assert_int_equal(asterism_trace_stats(trace, &stats), 0);
	assert_int_equal(lost, EVENTS / 1000 * 5);
	assert_int_equal(events, EVENTS);
	assert_int_equal(stats.lost, lost);
	assert_int_equal(stats.given, EVENTS);
	assert_int_equal(stats.start_ns, 1000000000);
	assert_int_equal(stats.wall_ns, UINT64_C(1700000000123456789));
	assert_int_equal(stats.damaged, 0);
	asterism_trace_free(trace);
}

/* Behind damage the other streams come; one that is damaged all over ends. */
static void test_damage(void **state)
{
	struct asterism_trace *trace = open_one("cut", NULL);
	struct asterism_trace_stats stats = { .size = sizeof stats };
	uint64_t events = 0;
	int item;

	(void)state;
	while ((item = asterism_trace_next(trace)) != ASTERISM_TRACE_END) {
		events += item == ASTERISM_TRACE_EVENT;
		if (item < 0) {
			assert_int_equal(item, -EINVAL);
			assert_int_equal(asterism_diag_count(asterism_trace_diag(trace), ASTERISM_ERROR), 1);
		}
	}
	assert_int_equal(asterism_trace_stats(trace, &stats), 0);
	assert_int_equal(stats.damaged, 1);
	assert_in_range(events, EVENTS / 2, EVENTS - 1);
	asterism_trace_free(trace);

	shell("yes 'no event' | head -100 >lines");
	trace = open_one("lines", NULL);
	for (int i = 0; i < 9; i++)
		assert_int_equal(asterism_trace_next(trace), -EINVAL);
	assert_int_equal(asterism_trace_next(trace), -EIO);
	assert_int_equal(asterism_trace_next(trace), -EIO);
	assert_int_equal(asterism_diag_count(asterism_trace_diag(trace), ASTERISM_ERROR), 2);
	asterism_trace_free(trace);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_what_dump_says),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_meanings),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_damage),
	};

	if (argc != 3)
		return 2;
	make_trace = realpath(argv[1], NULL);
	asterism = realpath(argv[2], NULL);
	return make_trace && asterism ? cmocka_run_group_tests(tests, set_up, tear_down) : 2;
}
