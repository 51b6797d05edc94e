// SPDX-License-Identifier: BSD-2-Clause
/* Checks that an input is text: UTF-8 (Unicode 15, table 3-7) without control bytes but blanks. */

#include "lang/syntax/ast.h"
#include "lang/syntax/lex.h"

struct utf8_row {
	unsigned char first, last; /* range of the leading byte */
	unsigned char second_low, second_high;
	unsigned char length;
};

/* U+0080 to U+009F, which terminals may obey, are no text. */
static const struct utf8_row utf8_rows[] = {
	{ 0xc2, 0xc2, 0xa0, 0xbf, 2 }, { 0xc3, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
	{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
	{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
};

/* The number of bytes of the character at the start of the left bytes at text, 0 where there is none. */
static size_t character_length(const unsigned char *text, size_t left)
{
	if (text[0] < 0x80)
		return (text[0] >= ' ' && text[0] != 0x7f) || (text[0] >= '\t' && text[0] <= '\r');
	for (size_t i = 0; i < sizeof utf8_rows / sizeof *utf8_rows; i++) {
		const struct utf8_row *row = &utf8_rows[i];

		if (text[0] < row->first || text[0] > row->last)
			continue;
		if (left < row->length || text[1] < row->second_low || text[1] > row->second_high)
			return 0;
		for (size_t k = 2; k < row->length; k++) {
			if ((text[k] & 0xc0) != 0x80)
				return 0;
		}
		return row->length;
	}
	return 0;
}

bool lang_text_check(const struct diag_source *source, const char *hint, struct lang_report *report)
{
	const unsigned char *text = (const unsigned char *)source->text;
	struct diag_location location = { .source = source };

	if (source->length > LANG_FILE_BYTES_MAX) {
		lang_error(report, &location, NULL, "the file is larger than %d bytes", LANG_FILE_BYTES_MAX);
		return false;
	}
	for (size_t offset = 0, step; offset < source->length; offset += step) {
		step = character_length(text + offset, source->length - offset);
		if (step == 0) {
			location.offset = offset;
			lang_error(report, &location, hint, "this is not text: byte 0x%02x at offset %zu", text[offset],
				   offset);
			return false;
		}
	}
	return true;
}
