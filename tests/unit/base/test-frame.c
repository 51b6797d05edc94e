// SPDX-License-Identifier: BSD-2-Clause
/* Frames come back as they were sent, and what was damaged is recognised. */

#include "base/frame.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void test_there_and_back(void **unused)
{
	char bytes[300], back[300];
	uint64_t number;

	(void)unused;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)(i * 7);
	for (size_t length = 1; length < sizeof bytes; length++) {
		struct text_buffer text = { 0 };

		frame_put(&text, length * 77, bytes, length);
		assert_int_equal(text.bytes[text.length - 1], '\n');
		assert_int_equal(frame_read(text.bytes, text.length - 1, &number, back), length);
		assert_int_equal(number, length * 77);
		assert_memory_equal(back, bytes, length);
		text_fini(&text);
	}
}

/* No bit may turn, no byte be missing or doubled. */
static void test_damage(void **unused)
{
	struct text_buffer text = { 0 };
	char line[200], back[200];
	uint64_t number;

	(void)unused;
	frame_put(&text, 5, "{\"event\":\"beat\"}", 16);
	size_t length = text.length - 1;

	for (size_t i = 0; i < length; i++) {
		for (int bit = 0; bit < 8; bit++) {
			memcpy(line, text.bytes, length);
			line[i] = (char)(line[i] ^ 1 << bit);
			assert_int_equal(frame_read(line, length, &number, back), -EBADMSG);
		}
		memcpy(line, text.bytes, i);
		memcpy(line + i, text.bytes + i + 1, length - i - 1);
		assert_int_equal(frame_read(line, length - 1, &number, back), -EBADMSG);
		assert_int_equal(frame_read(text.bytes, i, &number, back), -EBADMSG);
	}
	assert_int_equal(frame_read("", 0, &number, back), -EBADMSG);
	memcpy(line, text.bytes, length);
	line[length] = '\r'; /* a terminal between the two may have added it */
	assert_int_equal(frame_read(line, length + 1, &number, back), 16);
	text_fini(&text);
}

/* The checksum is the one that everybody else computes, zlib's crc32 for one. */
static void test_known(void **unused)
{
	struct text_buffer text = { 0 };

	(void)unused;
	frame_put(&text, 1, "123456789", 9);
	assert_string_equal(text.bytes, "~0000000000000001 63b41776 MTIzNDU2Nzg5\n");
	text_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
