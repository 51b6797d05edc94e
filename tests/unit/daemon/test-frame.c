// SPDX-License-Identifier: BSD-2-Clause
/* Where messages end, however few bytes come at a time; how long they may be; and how much is kept for them. */

#include "daemon/frame.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* As a client sends them: as much as there is room for, in pieces of at most step bytes. Returns what was taken. */
static size_t feed(struct frame *frame, const char *bytes, size_t length, size_t step)
{
	size_t done = 0, room;

	while (done < length) {
		char *to = frame_room(frame, &room);
		size_t piece = step < length - done ? step : length - done;

		if (!to)
			break;
		assert_true(room > 0);
		piece = piece < room ? piece : room;
		memcpy(to, bytes + done, piece);
		frame_add(frame, piece);
		done += piece;
	}
	return done;
}

static void lines_and_bodies_in_pieces_of_any_size(void **state)
{
	static const char sent[] = "first\n\n{\"a\":1}\nBO\nDY\nlast\n";

	(void)state;
	for (size_t step = 1; step <= sizeof sent; step++) {
		struct frame frame = { 0 };
		struct frame_message message;
		char seen[64] = "";

		for (size_t at = 0; at < sizeof sent - 1;) {
			size_t left = sizeof sent - 1 - at,
			       taken = feed(&frame, sent + at, step < left ? step : left, step);

			assert_true(taken > 0);
			at += taken;
			while (frame_next(&frame, &message) == 1) {
				strncat(seen, message.bytes, message.length);
				strcat(seen, message.is_body ? "!" : "|");
				if (!message.is_body && message.bytes[0] == '{')
					assert_int_equal(frame_expect(&frame, 5), 0);
			}
		}
		assert_string_equal(seen, "first||{\"a\":1}|BO\nDY!|last|");
		assert_false(frame_is_open(&frame));
		frame_fini(&frame);
	}
}

static void a_body_of_nothing_is_there_at_once(void **state)
{
	struct frame frame = { 0 };
	struct frame_message message;

	(void)state;
	assert_int_equal(frame_next(&frame, &message), 0);
	assert_int_equal(frame_expect(&frame, 0), 0);
	assert_true(frame_is_open(&frame));
	assert_int_equal(frame_next(&frame, &message), 1);
	assert_true(message.is_body && message.length == 0 && message.bytes);
	assert_false(frame_is_open(&frame));
	frame_fini(&frame);
}

static void a_line_is_as_long_as_it_may_be(void **state)
{
	char *line = malloc(FRAME_LINE_BYTES_MAX + 2);
	struct frame frame = { 0 };
	struct frame_message message;
	size_t room;

	(void)state;
	memset(line, 'x', FRAME_LINE_BYTES_MAX + 2);
	line[FRAME_LINE_BYTES_MAX] = '\n';
	assert_int_equal(feed(&frame, line, FRAME_LINE_BYTES_MAX + 1, 4096), FRAME_LINE_BYTES_MAX + 1);
	assert_int_equal(frame_next(&frame, &message), 1);
	assert_int_equal(message.length, FRAME_LINE_BYTES_MAX);
	frame_fini(&frame);

	line[FRAME_LINE_BYTES_MAX] = 'x';
	assert_int_equal(feed(&frame, line, FRAME_LINE_BYTES_MAX + 2, 4096), FRAME_LINE_BYTES_MAX + 1);
	assert_null(frame_room(&frame, &room));
	assert_int_equal(frame_next(&frame, &message), -E2BIG);
	frame_fini(&frame);
	free(line);
}

static void what_is_only_announced_takes_no_memory(void **state)
{
	struct frame frame = { 0 };
	struct frame_message message;
	size_t room;

	(void)state;
	assert_int_equal(frame_expect(&frame, (size_t)FRAME_BODY_BYTES_MAX + 1), -E2BIG);
	assert_int_equal(frame_expect(&frame, SIZE_MAX), -E2BIG);
	assert_false(frame_is_open(&frame));
	assert_int_equal(frame_expect(&frame, FRAME_BODY_BYTES_MAX), 0);
	assert_non_null(frame_room(&frame, &room));
	assert_true(frame.capacity <= 4096);
	assert_int_equal(feed(&frame, "some", 4, 4), 4);
	assert_int_equal(frame_next(&frame, &message), 0);
	assert_true(frame_is_open(&frame));
	frame_fini(&frame);
}

static void a_large_body_leaves_no_large_buffer(void **state)
{
	enum { LARGE = 1 << 20 };
	struct frame frame = { 0 };
	struct frame_message message;
	char *body = calloc(1, LARGE);
	size_t room;

	(void)state;
	assert_int_equal(frame_expect(&frame, LARGE), 0);
	assert_int_equal(feed(&frame, body, LARGE, LARGE), LARGE);
	/* Nothing of what comes behind it is read into it. */
	assert_null(frame_room(&frame, &room));
	assert_int_equal(frame_next(&frame, &message), 1);
	assert_int_equal(message.length, LARGE);
	assert_true(frame.capacity >= LARGE);
	assert_int_equal(frame_next(&frame, &message), 0);
	assert_true(frame.capacity <= 1 << 16);
	frame_fini(&frame);
	free(body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_and_bodies_in_pieces_of_any_size),
		cmocka_unit_test(a_body_of_nothing_is_there_at_once),
		cmocka_unit_test(a_line_is_as_long_as_it_may_be),
		cmocka_unit_test(what_is_only_announced_takes_no_memory),
		cmocka_unit_test(a_large_body_leaves_no_large_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
