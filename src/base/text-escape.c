// SPDX-License-Identifier: BSD-2-Clause
/*
 * Escapes text from outside, also for markup. Whatever is printed, of whomever it comes, goes through text_escape:
 * nothing that asterism observes or reads speaks to the user's terminal.
 */

#include "base/text.h"

#include <string.h>

/* Shortest forms only, no surrogates, nothing above U+10FFFF: RFC 3629. */
size_t text_character(const char *string)
{
	const unsigned char *at = (const unsigned char *)string;
	unsigned char low = 0x80, high = 0xbf; /* of the second byte */
	size_t length;

	if (at[0] < 0x80)
		return at[0] != 0;
	if (at[0] >= 0xc2 && at[0] <= 0xdf)
		length = 2;
	else if (at[0] >= 0xe0 && at[0] <= 0xef)
		length = 3;
	else if (at[0] >= 0xf0 && at[0] <= 0xf4)
		length = 4;
	else
		return 0;
	if (at[0] == 0xe0)
		low = 0xa0;
	else if (at[0] == 0xed)
		high = 0x9f;
	else if (at[0] == 0xf0)
		low = 0x90;
	else if (at[0] == 0xf4)
		high = 0x8f;
	if (at[1] < low || at[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++) {
		if (at[i] < 0x80 || at[i] > 0xbf)
			return 0;
	}
	return length;
}

static uint32_t code_point(const char *string, size_t length)
{
	static const unsigned char first_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t code = (unsigned char)string[0] & first_bits[length];

	for (size_t i = 1; i < length; i++)
		code = code << 6 | ((unsigned char)string[i] & 0x3f);
	return code;
}

/* In order. */
static const struct {
	uint32_t first, last;
} obeyed[] = {
	{ 0x00, 0x1f },     /* C0 */
	{ 0x7f, 0x9f },     /* DEL, C1 */
	{ 0x61c, 0x61c },   /* Arabic letter mark */
	{ 0x200e, 0x200f }, /* left-to-right and right-to-left mark */
	{ 0x2028, 0x202e }, /* line and paragraph separator, embeddings and overrides */
	{ 0x2066, 0x206f }, /* isolates, and old controls of shapes */
};

static bool is_obeyed(uint32_t code)
{
	for (size_t i = 0; i < sizeof obeyed / sizeof *obeyed; i++) {
		if (code >= obeyed[i].first && code <= obeyed[i].last)
			return true;
	}
	return false;
}

bool text_is_shown(const char *string)
{
	size_t length = text_character(string);

	return length && !is_obeyed(code_point(string, length));
}

/* The letter of a character's two-letter escape that both C and JSON know, or 0. */
static char short_escape(char c)
{
	static const char characters[] = "\"\\\n\t\r\b\f", letters[] = "\"\\ntrbf";
	const char *at = memchr(characters, c, sizeof characters - 1);

	return at ? letters[at - characters] : 0;
}

/* code is less than 0x10000, as all that is escaped. */
static void put_hexadecimal(uint32_t code, struct text_piece *piece)
{
	piece->bytes[0] = '\\';
	piece->bytes[1] = 'u';
	for (int i = 0; i < 4; i++)
		piece->bytes[2 + i] = "0123456789abcdef"[code >> (12 - 4 * i) & 15];
	piece->length = 6;
}

enum { OCTAL_BYTES = 4 };

/* Each byte as \ooo. No character has more bytes than fit, which the compiler cannot know. */
static void put_octal(const char *string, struct text_piece *piece)
{
	piece->length = 0;
	for (size_t i = 0; i < piece->taken && piece->length + OCTAL_BYTES <= sizeof piece->bytes; i++) {
		unsigned char byte = (unsigned char)string[i];
		char *at = &piece->bytes[piece->length];

		at[0] = '\\';
		at[1] = (char)('0' + (byte >> 6));
		at[2] = (char)('0' + (byte >> 3 & 7));
		at[3] = (char)('0' + (byte & 7));
		piece->length += OCTAL_BYTES;
	}
}

void text_escape(const char *string, enum text_form form, struct text_piece *piece)
{
	size_t length = text_character(string);
	char letter = short_escape(*string);
	bool is_shown = length && !is_obeyed(code_point(string, length));
	bool stays = is_shown && (form == TEXT_WORDS || form == TEXT_JSON_WHOLE);

	piece->taken = length ? length : 1;
	if (letter && !stays) {
		piece->bytes[0] = '\\';
		piece->bytes[1] = letter;
		piece->length = 2;
	} else if (is_shown) {
		piece->length = length;
		memcpy(piece->bytes, string, length);
	} else if (form == TEXT_WORDS || form == TEXT_VALUE) {
		put_octal(string, piece);
	} else if (length) {
		put_hexadecimal(code_point(string, length), piece);
	} else {
		piece->length = 3;
		memcpy(piece->bytes, "\xef\xbf\xbd", 3);
	}
}

/* The bytes at the beginning of string that every form leaves as they are: most texts have no others. */
static size_t plain_span(const char *string)
{
	size_t length = 0;

	while (string[length] >= ' ' && string[length] <= '~' && string[length] != '"' && string[length] != '\\')
		length++;
	return length;
}

void text_append_as(struct text_buffer *text, const char *string, enum text_form form)
{
	while (!text->failure) {
		size_t plain = plain_span(string);
		struct text_piece piece;

		text_append_bytes(text, string, plain);
		string += plain;
		if (!*string)
			break;
		text_escape(string, form, &piece);
		text_append_bytes(text, piece.bytes, piece.length);
		string += piece.taken;
	}
}

/* U+FFFE and U+FFFF, which XML has not. */
static bool is_no_character(const char *at)
{
	return memcmp(at, "\xef\xbf\xbe", 3) == 0 || memcmp(at, "\xef\xbf\xbf", 3) == 0;
}

void text_append_markup(struct text_buffer *html, const char *text)
{
	static const char *const named[256] = {
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;",
	};
	while (*text != '\0') {
		struct text_piece piece;
		text_escape(text, TEXT_WORDS, &piece);
		const char *name = piece.taken == 1 ? named[(unsigned char)*text] : NULL;
		if (piece.taken == 3 && is_no_character(text))
			name = "?";
		if (name)
			text_append(html, name);
		else
			text_append_bytes(html, piece.bytes, piece.length);
		text += piece.taken;
	}
}

int text_write(FILE *stream, const char *string, enum text_form form)
{
	for (int width = 0;;) {
		size_t plain = plain_span(string);
		struct text_piece piece;

		fwrite(string, 1, plain, stream);
		width += (int)plain;
		string += plain;
		if (!*string)
			return width;
		text_escape(string, form, &piece);
		fwrite(piece.bytes, 1, piece.length, stream);
		width += piece.length == piece.taken ? 1 : (int)piece.length;
		string += piece.taken;
	}
}

void text_write_lines(FILE *stream, const char *string)
{
	struct text_piece piece = { .taken = 1 };

	for (; *string; string += piece.taken) {
		if (*string == '\n' || *string == '\t') {
			putc(*string, stream);
			piece.taken = 1;
			continue;
		}
		text_escape(string, TEXT_WORDS, &piece);
		fwrite(piece.bytes, 1, piece.length, stream);
	}
}

static void put_quoted(struct text_buffer *text, const char *string, enum text_form form)
{
	text_append(text, "\"");
	text_append_as(text, string, form);
	text_append(text, "\"");
}

void text_json(struct text_buffer *text, const char *string)
{
	put_quoted(text, string, TEXT_JSON);
}

void text_quote(struct text_buffer *text, const char *string)
{
	put_quoted(text, string, TEXT_VALUE);
}
