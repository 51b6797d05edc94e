// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bytes of any sort as a text that is shown: what comes out, in every form, is UTF-8 without anything that a terminal
 * obeys, is the same from every function, and, as a TEXT_VALUE, can be read back byte by byte.
 */

#include "base/alloc.h"
#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept)
{
	if (!kept)
		abort();
}

/* The code point that a valid text goes on with; judged here anew, without the library. */
static uint32_t next_code(const unsigned char **at)
{
	unsigned first = *(*at)++, more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
	uint32_t code = more ? first & (0x3f >> more) : first;

	promise(first < 0x80 || (first >= 0xc2 && first < 0xf5));
	while (more--) {
		promise((**at & 0xc0) == 0x80);
		code = code << 6 | (*(*at)++ & 0x3f);
	}
	return code;
}

static bool is_harmless(uint32_t code)
{
	return code >= 0x20 && (code < 0x7f || code > 0x9f) && code != 0x61c && code != 0x200e && code != 0x200f &&
	       (code < 0x2028 || code > 0x202e) && (code < 0x2066 || code > 0x206f) && code < 0x110000 &&
	       (code < 0xd800 || code > 0xdfff);
}

static void check_shown(const char *shown, bool has_lines)
{
	for (const unsigned char *at = (const unsigned char *)shown; *at;) {
		uint32_t code = next_code(&at);

		promise(is_harmless(code) || (has_lines && (code == '\n' || code == '\t')));
	}
}

/* The byte that an escape of C stands for; *at is behind it. */
static char unescape(const char **at)
{
	static const char letters[] = "ntrbf\"\\", bytes[] = "\n\t\r\b\f\"\\";
	const char *letter;
	int byte = 0;

	if (**at != '\\') {
		promise(**at != '"');
		return *(*at)++;
	}
	letter = strchr(letters, *++*at);
	if (letter && *letter) {
		++*at;
		return bytes[letter - letters];
	}
	for (int i = 0; i < 3; i++, ++*at) {
		promise(**at >= '0' && **at <= '7');
		byte = byte * 8 + (**at - '0');
	}
	return (char)byte;
}

static void check_form(const char *text, enum text_form form)
{
	struct text_buffer appended = { 0 };
	char *written = NULL;
	size_t length;
	FILE *stream = open_memstream(&written, &length);

	text_append_as(&appended, text, form);
	text_write(stream, text, form);
	promise(stream && fclose(stream) == 0);
	promise(!appended.failure && length == appended.length &&
		!memcmp(written, *text ? appended.bytes : "", length));
	check_shown(written, false);
	if (form == TEXT_VALUE) {
		const char *at = written, *original = text;

		while (*at)
			promise(unescape(&at) == *original++);
		promise(!*original);
	}
	free(written);
	text_fini(&appended);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *lines = NULL;
	size_t length;
	FILE *stream = open_memstream(&lines, &length);

	promise(text && stream);
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	for (enum text_form form = TEXT_WORDS; form <= TEXT_JSON_WHOLE; form++)
		check_form(text, form);
	text_write_lines(stream, text);
	promise(fclose(stream) == 0);
	check_shown(lines, true);
	free(lines);
	free(text);
	return 0;
}
