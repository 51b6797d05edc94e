// SPDX-License-Identifier: BSD-2-Clause
/* Lines reach a reader whole or not at all, however little it takes at a time, and every one is accounted for. */

#include "daemon/output.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { LINES = 20000, TEXT_BYTES = 301 };

struct reader {
	char folder[32], path[64];
	int fd;
	char *bytes;
	size_t length;
};

static int set_up(void **state)
{
	struct reader *reader = calloc(1, sizeof *reader);

	strcpy(reader->folder, "/tmp/test-output-XXXXXX");
	assert_non_null(mkdtemp(reader->folder));
	snprintf(reader->path, sizeof reader->path, "%s/pipe", reader->folder);
	assert_int_equal(mkfifo(reader->path, 0600), 0);
	reader->fd = open(reader->path, O_RDONLY | O_NONBLOCK);
	assert_true(reader->fd >= 0);
	reader->bytes = malloc((size_t)LINES * (TEXT_BYTES + 64));
	assert_non_null(reader->bytes);
	*state = reader;
	return 0;
}

static int tear_down(void **state)
{
	struct reader *reader = *state;

	if (reader->fd >= 0)
		close(reader->fd);
	unlink(reader->path);
	rmdir(reader->folder);
	free(reader->bytes);
	free(reader);
	return 0;
}

static void take(struct reader *reader, size_t most)
{
	ssize_t length = read(reader->fd, reader->bytes + reader->length, most);

	if (length > 0)
		reader->length += (size_t)length;
}

/* A line that tells its number, and is as long as all others. */
static void put(struct output *output, unsigned number)
{
	char text[TEXT_BYTES + 1];

	snprintf(text, sizeof text, "{\"match\":\"%07u\",\"x\":\"%0*d\"}", number, TEXT_BYTES - 26, 0);
	output_match(output, "unit \"1\"", text, strlen(text));
}

/* How many whole lines there are, each of them right, in order. */
static size_t check(const struct reader *reader)
{
	size_t count = 0;
	long last = -1;

	for (const char *line = reader->bytes, *end = line + reader->length; line < end; count++) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		static const char start[] = "{\"unit\":\"unit \\\"1\\\"\",\"match\":\"";
		long number;

		assert_non_null(newline);
		assert_memory_equal(line, start, sizeof start - 1);
		assert_memory_equal(newline - 2, "\"}", 2);
		number = strtol(line + sizeof start - 1, NULL, 10);
		assert_true(number > last);
		last = number;
		line = newline + 1;
	}
	return count;
}

static void a_slow_reader_gets_whole_lines(void **state)
{
	struct reader *reader = *state;
	struct output output;

	assert_int_equal(output_open(&output, reader->path, 0), 0);
	for (unsigned i = 0; i < LINES; i++) {
		put(&output, i);
		if (i % 7 == 0)
			output_flush(&output, 1);
		if (i % 11 == 0)
			take(reader, 97);
	}
	assert_true(output.lines_dropped > 0);
	while (output_is_pending(&output)) {
		take(reader, 65536);
		output_flush(&output, 1);
	}
	take(reader, 1 << 20);
	assert_int_equal(check(reader), output.lines_written);
	assert_int_equal(output.lines_written + output.lines_dropped, LINES);
	output_close(&output);
}

static void a_reader_that_goes_is_counted_once_per_line(void **state)
{
	struct reader *reader = *state;
	struct output output;

	assert_int_equal(output_open(&output, reader->path, 0), 0);
	for (unsigned i = 0; i < 1000; i++)
		put(&output, i);
	output_flush(&output, 1);
	assert_true(output.is_open_line && output.length);
	close(reader->fd);
	reader->fd = -1;
	output_flush(&output, 1);
	assert_int_equal(output.length, 0);
	assert_int_equal(output.lines_written + output.lines_dropped, 1000);
	output_close(&output);
}

static void what_is_larger_than_all_room_is_dropped(void **state)
{
	struct reader *reader = *state;
	struct output output;
	char *text = malloc(OUTPUT_BYTES);

	assert_non_null(text);
	memset(text, 'x', OUTPUT_BYTES);
	assert_int_equal(output_open(&output, reader->path, 0), 0);
	output_match(&output, "u", text, OUTPUT_BYTES);
	output_line(&output, text, OUTPUT_BYTES);
	assert_int_equal(output.lines_dropped, 2);
	assert_int_equal(output.length, 0);
	output_line(&output, text, OUTPUT_BYTES - 1);
	assert_int_equal(output.length, OUTPUT_BYTES);
	output_line(&output, text, 0);
	assert_int_equal(output.lines_dropped, 3);
	output_close(&output);
	free(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_slow_reader_gets_whole_lines, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_reader_that_goes_is_counted_once_per_line, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_larger_than_all_room_is_dropped, set_up, tear_down),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
