// SPDX-License-Identifier: BSD-2-Clause
/* Events as JSON lines: what is read, and for everything that is not, where and why. */

#include "base/alloc.h"
#include "trace/jsonl/jsonl.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <cmocka.h>

static const char types[] =
	"EVENT A { x: i64 }\n"
	"EVENT all { u8: u8, u16: u16, u32: u32, u64: u64, i8: i8, i16: i16, i32: i32, i64: i64, f: f64, b: bool,\n"
	"            t: time, p: addr, s: string[8] }\n";

struct reading {
	struct event_catalog *catalog;
	struct asterism_diag *diag;
	struct event_source *source;
	int fd;
};

static int file_of(const char *text, size_t length)
{
	int fd = memfd_create("events", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, length), (ssize_t)length);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static void open_reading(struct reading *reading, int fd)
{
	reading->diag = asterism_diag_new();
	reading->catalog = event_catalog_new();
	reading->fd = fd;
	assert_int_equal(event_catalog_parse(reading->catalog, "types", types, strlen(types), reading->diag), 0);
	assert_int_equal(trace_jsonl_new(fd, "in.jsonl", reading->catalog, reading->diag, &reading->source), 0);
}

static void close_reading(struct reading *reading)
{
	event_source_free(reading->source);
	event_catalog_free(reading->catalog);
	asterism_diag_free(reading->diag);
	close(reading->fd);
}

static uint64_t word(const struct event *event, const char *name)
{
	const struct event_field *field = event_field_find(event->type, name);
	uint64_t value = 0;

	assert_non_null(field);
	memcpy(&value, (const char *)event->record + field->offset, field->bytes);
	return value;
}

static void reads_every_type(void **state)
{
	static const char text[] =
		"{\"event\":\"A\",\"ts\":100,\"cpu\":1,\"pid\":2,\"tid\":3,\"comm\":\"cp\",\"x\":-9223372036854775808}"
		"\n"
		"\n  \t\r\n"
		"{\"u8\":255,\"u16\":65535,\"u32\":4294967295,\"u64\":18446744073709551615,\"i8\":-128,\"i16\":-32768,"
		"\"i32\":-2147483648,\"i64\":9223372036854775807,\"f\":-0.5e1,\"b\":true,\"t\":-1,"
		"\"p\":18446744073709551615,\"s\":\"a\\u00e9\\ud83d\\ude00\\n\\\"zz\",\"event\":\"all\",\"ts\":100}\r\n"
		" { \"event\" : \"all\" , "
		"\"u8\":0,\"u16\":0,\"u32\":0,\"u64\":0,\"i8\":127,\"i16\":0,\"i32\":0,\"i64\":-0,"
		"\"f\":7,\"b\":false,\"t\":0,\"p\":0,\"s\":\"\",\"ts\":9223372036854775807}";
	struct reading reading;
	struct event event;
	double real;

	(void)state;
	open_reading(&reading, file_of(text, strlen(text)));
	assert_int_equal(event_source_next(reading.source, &event), 1);
	assert_string_equal(event.type->name, "A");
	assert_int_equal(event.record->type, 0);
	assert_int_equal(event.record->ts, 100);
	assert_int_equal(event.record->seq, 1);
	assert_int_equal(event.record->cpu, 1);
	assert_int_equal(event.record->pid, 2);
	assert_int_equal(event.record->tid, 3);
	assert_string_equal(event.record->comm, "cp");
	assert_int_equal(word(&event, "x"), INT64_MIN);
	assert_int_equal(event_source_next(reading.source, &event), 1);
	assert_string_equal(event.type->name, "all");
	assert_int_equal(event.record->type, 1);
	assert_int_equal(event.record->seq, 2);
	assert_int_equal(event.record->pid, 0);
	assert_string_equal(event.record->comm, "");
	assert_int_equal(word(&event, "u8"), 255);
	assert_int_equal(word(&event, "u32"), UINT32_MAX);
	assert_int_equal(word(&event, "u64"), UINT64_MAX);
	assert_int_equal(word(&event, "i8"), (uint64_t)-128);
	assert_int_equal(word(&event, "i32"), (uint64_t)INT32_MIN);
	assert_int_equal(word(&event, "i64"), INT64_MAX);
	assert_int_equal(word(&event, "b"), 1);
	assert_int_equal(word(&event, "t"), UINT64_MAX);
	assert_int_equal(word(&event, "p"), UINT64_MAX);
	memcpy(&real, (const char *)event.record + event_field_find(event.type, "f")->offset, sizeof real);
	assert_true(real == -5);
	/* 1 + 2 + 4 bytes fit the seven of the capacity, what follows is cut. */
	assert_string_equal((const char *)event.record + event_field_find(event.type, "s")->offset,
			    "a\xc3\xa9\xf0\x9f\x98\x80");
	assert_int_equal(event_source_next(reading.source, &event), 1);
	assert_int_equal(event.record->type, 1);
	assert_int_equal(word(&event, "i64"), 0);
	assert_int_equal(event_source_next(reading.source, &event), 0);
	assert_int_equal(event_source_next(reading.source, &event), 0);
	assert_int_equal(event_source_position(reading.source), strlen(text));
	assert_int_equal(asterism_diag_count(reading.diag, ASTERISM_NOTE), 0);
	close_reading(&reading);
}

static const struct wrong {
	const char *line;
	unsigned column;
	const char *text, *hint;
} wrongs[] = {
	{ "x", 1, "not JSON: expected '{': an event is an object", NULL },
	{ "[1]", 1, "not JSON: expected '{': an event is an object", NULL },
	{ "\"A\"", 1, "not JSON: expected '{': an event is an object", NULL },
	{ "{", 2, "not JSON: expected a string", NULL },
	{ "{\"event\"", 9, "not JSON: expected ':'", NULL },
	{ "{\"event\":", 10, "not JSON: expected a value", NULL },
	{ "{\"event\":\"A\"", 13, "not JSON: expected ',' or '}'", NULL },
	{ "{\"event\":\"A\",}", 14, "not JSON: expected a string", NULL },
	{ "{\"event\":\"A\",\"x\":1}}", 20, "not JSON: unexpected text after the object", NULL },
	{ "{\"event\":\"A\",\"x\":01}", 19, "not JSON: a number must not begin with 0", NULL },
	{ "{\"event\":\"A\",\"x\":1.}", 20, "not JSON: expected a digit", NULL },
	{ "{\"event\":\"A\",\"x\":1e}", 20, "not JSON: expected a digit", NULL },
	{ "{\"event\":\"A\",\"x\":nul}", 18, "not JSON: expected a value", NULL },
	{ "{\"event\":\"A", 12, "not JSON: the string is not closed", NULL },
	{ "{\"event\":\"A\\", 13, "not JSON: the string is not closed", NULL },
	{ "{\"event\":\"\\x\"}", 12, "not JSON: unknown escape in a string", NULL },
	{ "{\"event\":\"\\u12g4\"}", 13, "not JSON: \\u takes four hexadecimal digits", NULL },
	{ "{\"event\":\"\\ud800\"}", 17, "not JSON: half of a surrogate pair is missing", NULL },
	{ "{\"event\":\"\\udc00\"}", 13, "not JSON: half of a surrogate pair is missing", NULL },
	{ "{\"event\":\"\t\"}", 11, "not JSON: control characters in strings must be escaped", NULL },
	{ "{\"event\":\"\xff\"}", 11, "not JSON: invalid UTF-8", NULL },
	{ "{\"event\":\"\xc3", 11, "not JSON: invalid UTF-8", NULL },
	{ "{\"x\":{\"y\":[1,2,}}}", 16, "not JSON: expected a value", NULL },
	{ "{}", 1, "the object does not say which event it is", "\"event\":\"NAME\" names its type" },
	{ "{\"x\":1}", 1, "the object does not say which event it is", "\"event\":\"NAME\" names its type" },
	{ "{\"event\":1}", 10, "the event's name is not a string", NULL },
	{ "{\"event\":\"alll\"}", 11, "unknown event type 'alll'", "did you mean 'all'?" },
	{ "{\"event\":\"\"}", 11, "unknown event type ''", NULL },
	{ "{\"event\":\"A\"}", 11, "field 'x' of A is missing", NULL },
	{ "{\"event\":\"A\",\"x\":\"1\"}", 19, "x is i64, not a string", NULL },
	{ "{\"event\":\"A\",\"x\":1.0}", 18, "x is i64, not a number with a fraction", NULL },
	{ "{\"event\":\"A\",\"x\":null}", 18, "x is i64, not null", NULL },
	{ "{\"event\":\"A\",\"x\":{\"y\":[]}}", 18, "x is i64, not an object", NULL },
	{ "{\"event\":\"A\",\"x\":[{}]}", 18, "x is i64, not an array", NULL },
	{ "{\"event\":\"A\",\"x\":true}", 18, "x is i64, not true", NULL },
	{ "{\"event\":\"A\",\"x\":9223372036854775808}", 18,
	  "x is i64, from -9223372036854775808 to 9223372036854775807: 9223372036854775808 does not fit", NULL },
	{ "{\"event\":\"A\",\"x\":-9223372036854775809}", 18,
	  "x is i64, from -9223372036854775808 to 9223372036854775807: -9223372036854775809 does not fit", NULL },
	{ "{\"event\":\"A\",\"x\":99999999999999999999}", 18,
	  "x is i64, from -9223372036854775808 to 9223372036854775807: 99999999999999999999 does not fit", NULL },
	{ "{\"event\":\"A\",\"ts\":-1,\"x\":1}", 19, "ts is time, from 0 to 9223372036854775807: -1 does not fit",
	  NULL },
	{ "{\"event\":\"A\",\"cpu\":-1,\"x\":1}", 20, "cpu is u32, from 0 to 4294967295: -1 does not fit", NULL },
	{ "{\"event\":\"A\",\"x\":1,\"pidd\":1}", 21, "event A has no field 'pidd'", "did you mean 'pid'?" },
	{ "{\"event\":\"A\",\"x\":1,\"qqqqqqq\":1}", 21, "event A has no field 'qqqqqqq'", NULL },
	{ "{\"event\":\"A\",\"x\":1,\"x\":1}", 21, "field 'x' is given twice", NULL },
	{ "{\"event\":\"A\",\"x\":1,\"\\u0078\":1}", 21, "field 'x' is given twice", NULL },
	{ "{\"event\":\"A\",\"event\":\"A\",\"x\":1}", 15, "event A has no field 'event'", NULL },
	{ "{\"event\":\"A\",\"x\":1,\"comm\":\"a\\u0000b\"}", 28, "comm contains a NUL, which strings cannot", NULL },
	{ "{\"event\":\"A\",\"x\":1,\"comm\":1}", 27, "comm is string, not an integer", NULL },
	{ "{\"event\":\"A\",\"x\":1,\"ts\":99}", 25, "time goes back: ts 99 after an event at 100", NULL },
	{ "{\"event\":\"A\",\"x\":1}", 3, "time goes back: ts 0 after an event at 100", NULL },
};

/* Each wrong line stands between two right ones, which must be read all the same. */
static void reports_what_is_wrong(void **state)
{
	static const char first[] = "{\"event\":\"A\",\"ts\":100,\"x\":1}\n\n",
			  last[] = "\n{\"event\":\"A\",\"ts\":101,\"x\":2}\n";

	(void)state;
	for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
		const struct wrong *wrong = &wrongs[i];
		char text[1024];
		int length = snprintf(text, sizeof text, "%s%s%s", first, wrong->line, last);
		struct reading reading;
		struct event event;

		open_reading(&reading, file_of(text, (size_t)length));
		assert_int_equal(event_source_next(reading.source, &event), 1);
		assert_int_equal(event_source_next(reading.source, &event), -EINVAL);
		assert_int_equal(asterism_diag_count(reading.diag, ASTERISM_NOTE), 1);
		const struct asterism_message *message = asterism_diag_get(reading.diag, 0);
		assert_string_equal(message->text, wrong->text);
		assert_string_equal(message->file, "in.jsonl");
		assert_int_equal(message->line, 3);
		assert_string_equal(message->source, wrong->line);
		if (message->column != wrong->column)
			print_error("%s\n", wrong->line);
		assert_int_equal(message->column, wrong->column);
		assert_int_equal(message->offset, strlen(first) + wrong->column - 1);
		if (wrong->hint)
			assert_string_equal(message->hint, wrong->hint);
		else
			assert_null(message->hint);
		assert_int_equal(event_source_next(reading.source, &event), 1);
		assert_int_equal(event.record->seq, 2);
		assert_int_equal(event_source_next(reading.source, &event), 0);
		close_reading(&reading);
	}
}

/* Every integer type takes its bounds (reads_every_type) and nothing beyond them. */
static void keeps_to_ranges(void **state)
{
	static const struct {
		const char *field, *value;
	} beyond[] = {
		{ "u8", "256" },
		{ "u8", "-1" },
		{ "u16", "65536" },
		{ "u32", "4294967296" },
		{ "u64", "18446744073709551616" },
		{ "u64", "-1" },
		{ "i8", "128" },
		{ "i8", "-129" },
		{ "i16", "32768" },
		{ "i16", "-32769" },
		{ "i32", "2147483648" },
		{ "i32", "-2147483649" },
		{ "t", "9223372036854775808" },
		{ "p", "-1" },
		{ "f", "1e999" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
		char text[256];
		int length =
			snprintf(text, sizeof text, "{\"event\":\"all\",\"%s\":%s}", beyond[i].field, beyond[i].value);
		struct reading reading;
		struct event event;

		open_reading(&reading, file_of(text, (size_t)length));
		assert_int_equal(event_source_next(reading.source, &event), -EINVAL);
		assert_non_null(strstr(asterism_diag_get(reading.diag, 0)->text, "does not fit"));
		close_reading(&reading);
	}
}

static char *long_line(size_t length)
{
	char *line = malloc(length + 1);

	assert_non_null(line);
	memset(line, ' ', length);
	memcpy(line, "{\"event\":\"A\",\"x\":1", 18);
	line[length - 1] = '}';
	line[length] = '\n';
	return line;
}

static void limits_lines(void **state)
{
	size_t most = TRACE_JSONL_LINE_BYTES_MAX;
	static const char right[] = "{\"event\":\"A\",\"x\":3}\n";
	struct reading reading;
	struct event event;
	int fd = memfd_create("events", 0);
	char *fits = long_line(most), *one_more = long_line(most + 1), *many_more = long_line(4 * most);

	(void)state;
	assert_int_equal(write(fd, fits, most + 1), (ssize_t)most + 1);
	assert_int_equal(write(fd, one_more, most + 2), (ssize_t)most + 2);
	assert_int_equal(write(fd, many_more, 4 * most + 1), (ssize_t)(4 * most + 1));
	assert_int_equal(write(fd, right, strlen(right)), (ssize_t)strlen(right));
	assert_int_equal(write(fd, many_more, 4 * most), (ssize_t)(4 * most));
	lseek(fd, 0, SEEK_SET);
	open_reading(&reading, fd);
	assert_int_equal(event_source_next(reading.source, &event), 1);
	for (unsigned line = 2; line <= 3; line++) {
		assert_int_equal(event_source_next(reading.source, &event), -EINVAL);
		const struct asterism_message *message = asterism_diag_get(reading.diag, line - 2);
		assert_string_equal(message->text, "the line is longer than 1 MiB");
		assert_int_equal(message->line, line);
	}
	assert_int_equal(event_source_next(reading.source, &event), 1);
	assert_int_equal(word(&event, "x"), 3);
	assert_int_equal(event_source_next(reading.source, &event), -EINVAL);
	assert_int_equal(event_source_next(reading.source, &event), 0);
	close_reading(&reading);
	free(fits);
	free(one_more);
	free(many_more);
}

/* What arrives byte by byte is the same stream. */
static void reads_pipes(void **state)
{
	static const char text[] = "{\"event\":\"A\",\"x\":1}\n{\"event\":\"A\",\"x\":2}";
	int ends[2];
	struct reading reading;
	struct event event;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		for (size_t i = 0; i < strlen(text); i++) {
			if (write(ends[1], &text[i], 1) != 1)
				_exit(1);
			usleep(100);
		}
		_exit(0);
	}
	close(ends[1]);
	open_reading(&reading, ends[0]);
	for (uint64_t x = 1; x <= 2; x++) {
		assert_int_equal(event_source_next(reading.source, &event), 1);
		assert_int_equal(word(&event, "x"), x);
	}
	assert_int_equal(event_source_next(reading.source, &event), 0);
	close_reading(&reading);
}

static void on_alarm(int number)
{
	(void)number;
}

/* A signal ends the wait for input without a word; the reader goes on where it was. */
static void lets_signals_interrupt(void **state)
{
	static const char text[] = "{\"event\":\"A\",\"x\":1}\n";
	struct sigaction action = { .sa_handler = on_alarm };
	int ends[2];
	struct reading reading;
	struct event event;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	open_reading(&reading, ends[0]);
	sigaction(SIGALRM, &action, NULL);
	assert_int_equal(write(ends[1], text, 5), 5);
	ualarm(20000, 0);
	assert_int_equal(event_source_next(reading.source, &event), -EINTR);
	assert_int_equal(asterism_diag_count(reading.diag, ASTERISM_NOTE), 0);
	assert_int_equal(write(ends[1], text + 5, strlen(text) - 5), (ssize_t)strlen(text) - 5);
	assert_int_equal(event_source_next(reading.source, &event), 1);
	assert_int_equal(word(&event, "x"), 1);
	close(ends[1]);
	assert_int_equal(event_source_next(reading.source, &event), 0);
	close_reading(&reading);
}

static void reports_read_errors(void **state)
{
	struct reading reading;
	struct event event;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	open_reading(&reading, ends[1]); /* the end that cannot be read */
	assert_int_equal(event_source_next(reading.source, &event), -EBADF);
	assert_string_equal(asterism_diag_get(reading.diag, 0)->text, "reading stopped: Bad file descriptor");
	close_reading(&reading);
}

/* Whichever allocation fails, the result is -ENOMEM or the right event. */
static void stands_failing_allocations(void **state)
{
	static const char text[] =
		"{\"event\":\"A\",\"x\":1,\"s\\u0041\":1}\n{\"event\":\"all\"}\n{\"event\":\"A\",\"x\":1}\n";

	(void)state;
	for (unsigned long n = 1; n < 60; n++) {
		struct reading reading = { .diag = asterism_diag_new(), .catalog = event_catalog_new() };
		struct event event;
		int result;

		reading.fd = file_of(text, strlen(text));
		assert_int_equal(event_catalog_parse(reading.catalog, "types", types, strlen(types), NULL), 0);
		alloc_fail_at(n);
		result = trace_jsonl_new(reading.fd, "in", reading.catalog, reading.diag, &reading.source);
		for (int i = 0; !result && i < 3; i++) {
			int got = event_source_next(reading.source, &event);

			assert_true(got == -ENOMEM || got == (i < 2 ? -EINVAL : 1));
		}
		alloc_fail_at(0);
		if (result)
			assert_int_equal(result, -ENOMEM);
		close_reading(&reading);
	}
}

/* One line read as form says: its time, and 0, or -EINVAL. */
static int time_of(const char *text, const struct trace_jsonl_form *form, uint64_t *ts)
{
	struct reading reading;
	struct event event;
	int result;

	open_reading(&reading, file_of(text, strlen(text)));
	trace_jsonl_read_as(reading.source, form);
	result = event_source_next(reading.source, &event);
	*ts = result == 1 ? event.record->ts : 0;
	close_reading(&reading);
	return result;
}

static void times_are_dates_too(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} rows[] = {
		{ "2026-11-22T20:14:05Z", 1795378445000000000 },
		{ "2026-11-22T20:14:05.5Z", 1795378445500000000 },
		{ "2026-11-22 21:14:05.123456789+01:00", 1795378445123456789 },
		{ "2026-11-22T19:44:05,25-0030", 1795378445250000000 },
		{ "2026-11-22T20:14:05.0000000009", 1795378445000000000 },
		{ "1970-01-01T00:00:00Z", 0 },
	};
	static const char *const wrong[] = { "",
					     "now",
					     "2026-11-22",
					     "2026-11-22T20:14",
					     "2026-13-22T20:14:05Z",
					     "2026-11-22T20:14:05ZZ",
					     "2026-11-22T20:14:05.Z",
					     "1969-12-31T23:59:59Z",
					     "9999-12-31T23:59:59Z",
					     "2026-11-22T20:14:05+1",
					     "2026-11-22T20:14:05+-1:00" };
	const struct trace_jsonl_form plain = { 0 }, named = { .time_field = "when" };
	char line[200];
	uint64_t ts;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		snprintf(line, sizeof line, "{\"event\":\"A\",\"ts\":\"%s\",\"x\":1}", rows[i].text);
		assert_int_equal(time_of(line, &plain, &ts), 1);
		assert_int_equal(ts, rows[i].ns);
		snprintf(line, sizeof line, "{\"when\":\"%s\",\"event\":\"A\",\"x\":1}", rows[i].text);
		assert_int_equal(time_of(line, &named, &ts), 1);
		assert_int_equal(ts, rows[i].ns);
		assert_int_equal(time_of(line, &plain, &ts), -EINVAL);
	}
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		snprintf(line, sizeof line, "{\"event\":\"A\",\"ts\":\"%s\",\"x\":1}", wrong[i]);
		assert_int_equal(time_of(line, &plain, &ts), -EINVAL);
	}
	assert_int_equal(time_of("{\"event\":\"A\",\"when\":7,\"ts\":8,\"x\":1}", &named, &ts), -EINVAL);
}

static void lenient_leaves_out_what_is_unknown(void **state)
{
	static const char text[] = "{\"event\":\"A\",\"ts\":1,\"x\":3,\"host\":{\"a\":[1]},\"b\":null}\n"
				   "{\"event\":\"login\",\"ts\":2}\n"
				   "{\"event\":\"login\",\"ts\":2}\n"
				   "{\"event\":\"A\",\"ts\":3}\n"
				   "{\"event\":\"A\",\"ts\":4,\"x\":\"text\"}\n";
	struct reading reading;
	struct event event;

	(void)state;
	open_reading(&reading, file_of(text, strlen(text)));
	trace_jsonl_read_as(reading.source, &(struct trace_jsonl_form){ .is_lenient = true });
	assert_int_equal(event_source_next(reading.source, &event), 1);
	assert_int_equal(word(&event, "x"), 3);
	assert_int_equal(event_source_next(reading.source, &event), 1);
	assert_int_equal(event.record->ts, 3);
	assert_int_equal(word(&event, "x"), 0);
	/* A value of the wrong kind is an error all the same. */
	assert_int_equal(event_source_next(reading.source, &event), -EINVAL);
	assert_int_equal(event_source_next(reading.source, &event), 0);
	assert_string_equal(asterism_diag_get(reading.diag, 1)->text,
			    "in.jsonl: left out 2 fields that no type has, such as 'host', and 2 events of unknown "
			    "types, such as 'login'");
	close_reading(&reading);
}

static void relaxed_takes_what_tests_write(void **state)
{
	static const char text[] = "# a comment, {\n"
				   "{\"event\":\"all\",\"u8\":7}\n"
				   "{\"event\":\"A\",\"ts\":5,\"comm\":\"cp\"}\n"
				   "{\"event\":\"A\",\"ts\":6,\"y\":1}\n"
				   " # no comment\n"
				   "{\"event\":\"A\",\"ts\":4}\n"
				   "#";
	struct reading reading;
	struct event event;

	(void)state;
	open_reading(&reading, file_of(text, strlen(text)));
	trace_jsonl_relax(reading.source);
	assert_int_equal(event_source_next(reading.source, &event), 1);
	assert_int_equal(word(&event, "u8"), 7);
	assert_int_equal(word(&event, "u64"), 0);
	assert_int_equal(word(&event, "f"), 0);
	assert_int_equal(event_source_next(reading.source, &event), 1);
	assert_int_equal(event.record->ts, 5);
	assert_int_equal(word(&event, "x"), 0);
	/* What is wrong stays wrong: an unknown field, no JSON, time that goes back. */
	for (int i = 0; i < 3; i++)
		assert_int_equal(event_source_next(reading.source, &event), -EINVAL);
	assert_int_equal(event_source_next(reading.source, &event), 0);
	close_reading(&reading);
	/* Without, the same lines are not taken. */
	open_reading(&reading, file_of(text, strlen(text)));
	for (int i = 0; i < 3; i++)
		assert_int_equal(event_source_next(reading.source, &event), -EINVAL);
	close_reading(&reading);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_dates_too),
		cmocka_unit_test(lenient_leaves_out_what_is_unknown),
		cmocka_unit_test(relaxed_takes_what_tests_write),
		cmocka_unit_test(reads_every_type),
		cmocka_unit_test(reports_what_is_wrong),
		cmocka_unit_test(keeps_to_ranges),
		cmocka_unit_test(limits_lines),
		cmocka_unit_test(reads_pipes),
		cmocka_unit_test(reports_read_errors),
		cmocka_unit_test(lets_signals_interrupt),
		cmocka_unit_test(stands_failing_allocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
