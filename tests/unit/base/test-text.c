// SPDX-License-Identifier: BSD-2-Clause
/* Texts: growth, sticky failures, cutting, and the two escapes. */

#include "base/alloc.h"
#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void it_grows(void **context)
{
	struct text_buffer text = { 0 };
	char *taken = NULL;

	(void)context;
	for (int i = 0; i < 1000; i++)
		text_printf(&text, "%d,", i % 10);
	text_printf(&text, "%0300d", 7);
	text_append(&text, "");
	text_append_bytes(&text, "end!", 3);
	assert_int_equal(text.length, 2303);
	assert_int_equal(text_take(&text, &taken), 0);
	assert_int_equal(strlen(taken), 2303);
	assert_memory_equal(taken, "0,1,2,", 6);
	assert_string_equal(taken + 2298, "07end");
	assert_int_equal(text.length, 0);
	alloc_free(taken);
	assert_int_equal(text_take(&text, &taken), 0); /* an empty one is a text, too */
	assert_string_equal(taken, "");
	alloc_free(taken);
}

static void failures_stick(void **context)
{
	struct text_buffer text = { 0 };
	char *taken = NULL, letters[65];

	(void)context;
	memset(letters, 'x', 64);
	letters[64] = '\0';
	text_append(&text, "a");
	alloc_fail_at(1);
	text_append(&text, letters);
	alloc_fail_at(0);
	text_append(&text, "b");
	text_printf(&text, "c");
	assert_int_equal(text_take(&text, &taken), -ENOMEM);
	assert_null(taken);
	assert_null(text.bytes);
	alloc_fail_at(1);
	text_printf(&text, "%0300d", 1);
	alloc_fail_at(0);
	assert_int_equal(text_take(&text, &taken), -ENOMEM);
}

static void it_stops_growing(void **context)
{
	struct text_buffer text = { 0 };
	static char much[TEXT_BYTES_MAX / 16];
	char *taken = NULL;

	(void)context;
	memset(much, 'x', sizeof much);
	for (int i = 0; i < 16; i++)
		text_append_bytes(&text, much, sizeof much);
	assert_int_equal(text.failure, 0);
	text_append(&text, "x");
	assert_int_equal(text_take(&text, &taken), -E2BIG);
}

static void fixed_ones_cut(void **context)
{
	struct text_buffer text;
	char memory[8] = "xxxxxxx";

	(void)context;
	text_init_fixed(&text, memory, 6);
	text_append(&text, "abc");
	assert_int_equal(text.failure, 0);
	text_append(&text, "defg");
	text_append(&text, "h");
	assert_int_equal(text.failure, -E2BIG);
	assert_string_equal(memory, "abcde");
	assert_int_equal(memory[6], 'x');
	text_init_fixed(&text, memory, 0);
	text_append(&text, "z");
	assert_int_equal(memory[0], 'a');
	text_fini(&text);
}

static void characters_are_utf8(void **context)
{
	static const struct {
		const char *text;
		size_t length;
	} cases[] = {
		{ "", 0 },
		{ "a", 1 },
		{ "\x7f", 1 },
		{ "\x80", 0 },
		{ "\xc1\xbf", 0 }, /* overlong */
		{ "\xc2\x80", 2 },
		{ "\xdf\xbf", 2 },
		{ "\xc3", 0 },
		{ "\xc3x", 0 },
		{ "\xe0\x9f\xbf", 0 }, /* overlong */
		{ "\xe0\xa0\x80", 3 },
		{ "\xed\x9f\xbf", 3 },
		{ "\xed\xa0\x80", 0 }, /* surrogate */
		{ "\xef\xbf\xbf", 3 },
		{ "\xe2\x82", 0 },
		{ "\xf0\x8f\xbf\xbf", 0 }, /* overlong */
		{ "\xf0\x90\x80\x80", 4 },
		{ "\xf4\x8f\xbf\xbf", 4 },
		{ "\xf4\x90\x80\x80", 0 }, /* beyond U+10FFFF */
		{ "\xf5\x80\x80\x80", 0 },
		{ "\xf0\x9f\x98", 0 },
	};

	(void)context;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (text_character(cases[i].text) != cases[i].length)
			fail_msg("case %zu", i);
	}
}

static void strings_are_escaped(void **context)
{
	struct text_buffer text = { 0 };

	(void)context;
	text_json(&text, "a\"b\\c/\n\t\r\b\f\001\x7f\303\244\377z");
	assert_string_equal(text.bytes, "\"a\\\"b\\\\c/\\n\\t\\r\\b\\f\\u0001\\u007f\303\244\357\277\275z\"");
	text_fini(&text);
	text_quote(&text, "a\"b\\c\n\t\r\b\f\0017\x7f\303\244\3771");
	assert_string_equal(text.bytes, "\"a\\\"b\\\\c\\n\\t\\r\\b\\f\\0017\\177\303\244\\3771\"");
	text_fini(&text);
}

/* UTF-8 of a code point that is no surrogate. */
static void encode(uint32_t code, char bytes[5])
{
	size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	memset(bytes, 0, 5);
	for (size_t i = length - 1; i > 0; i--, code >>= 6)
		bytes[i] = (char)(0x80 | (code & 0x3f));
	bytes[0] = (char)(length == 1 ? code : (0xf00 >> length | code));
}

/* Bidi_Control of Unicode, the two separators of lines, deprecated format characters, and Cc but for U+0000. */
static bool must_not_be_shown(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e || code == 0x200f ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x206f);
}

static void every_character_is_judged(void **context)
{
	(void)context;
	for (uint32_t code = 1; code < 0x110000; code++) {
		char bytes[5];

		if (code >= 0xd800 && code < 0xe000)
			continue;
		encode(code, bytes);
		if (text_character(bytes) != strlen(bytes) || text_is_shown(bytes) == must_not_be_shown(code))
			fail_msg("U+%04X", code);
		for (enum text_form form = TEXT_WORDS; form <= TEXT_JSON_WHOLE; form++) {
			struct text_piece piece;

			text_escape(bytes, form, &piece);
			assert_int_equal(piece.taken, strlen(bytes));
			if (code == '"' || code == '\\')
				assert_int_equal(piece.length, form == TEXT_VALUE || form == TEXT_JSON ? 2 : 1);
			else if (!must_not_be_shown(code))
				assert_memory_equal(piece.bytes, bytes, strlen(bytes));
			for (size_t i = 0; i < piece.length && must_not_be_shown(code); i++)
				assert_in_range(piece.bytes[i], ' ', '~');
		}
	}
}

static void forms_differ_in_escapes(void **context)
{
	static const char odd[] = "\"\\\033[1m\xc2\x9b"
				  "2J\xe2\x80\xae"
				  "x\xff\x9b\xc3\xa9\xe6\xbc\xa2\n";
	static const struct {
		enum text_form form;
		const char *shown;
		int width;
	} cases[] = {
		{ TEXT_WORDS, "\"\\\\033[1m\\302\\2332J\\342\\200\\256x\\377\\233\xc3\xa9\xe6\xbc\xa2\\n", 44 },
		{ TEXT_VALUE, "\\\"\\\\\\033[1m\\302\\2332J\\342\\200\\256x\\377\\233\xc3\xa9\xe6\xbc\xa2\\n", 46 },
		{ TEXT_JSON, "\\\"\\\\\\u001b[1m\\u009b2J\\u202ex\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9\xe6\xbc\xa2\\n", 38 },
		{ TEXT_JSON_WHOLE, "\"\\\\u001b[1m\\u009b2J\\u202ex\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9\xe6\xbc\xa2\\n",
		  36 },
	};

	(void)context;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct text_buffer text = { 0 };
		char *written = NULL;
		size_t length;
		FILE *stream = open_memstream(&written, &length);

		text_append_as(&text, odd, cases[i].form);
		assert_string_equal(text.bytes, cases[i].shown);
		text_fini(&text);
		assert_int_equal(text_write(stream, odd, cases[i].form), cases[i].width);
		fclose(stream);
		assert_string_equal(written, cases[i].shown);
		free(written);
	}
}

static void lines_stay_lines(void **context)
{
	char *written = NULL;
	size_t length;
	FILE *stream = open_memstream(&written, &length);

	(void)context;
	text_write_lines(stream, "one\n\ttwo \"\\\r\033\x9b\n\n");
	fclose(stream);
	assert_string_equal(written, "one\n\ttwo \"\\\\r\\033\\233\n\n");
	free(written);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_grows),
		cmocka_unit_test(failures_stick),
		cmocka_unit_test(it_stops_growing),
		cmocka_unit_test(fixed_ones_cut),
		cmocka_unit_test(characters_are_utf8),
		cmocka_unit_test(strings_are_escaped),
		cmocka_unit_test(every_character_is_judged),
		cmocka_unit_test(forms_differ_in_escapes),
		cmocka_unit_test(lines_stay_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
