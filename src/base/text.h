/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

/*
 * Text that grows as it is written. Writing reports nothing: the first failure sticks, what comes after it is
 * dropped, and text_take tells. Always NUL-terminated. Nothing grows beyond TEXT_BYTES_MAX, so what is derived from
 * outside data cannot eat all memory.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { TEXT_BYTES_MAX = 1 << 26 };

/* Zeroed, it is an empty text that grows. */
struct text_buffer {
	char *bytes;
	size_t length;
	size_t capacity;
	int failure;
	bool fixed;
};

/* A text in the size bytes at memory, which stay the caller's; what does not fit is cut off (failure -E2BIG). */
void text_init_fixed(struct text_buffer *text, char *memory, size_t size);

/*
 * Makes room for that many more bytes and a NUL, for writers that put them at bytes + length themselves. Growing texts
 * only. Returns false when there is none; that sticks.
 */
bool text_reserve(struct text_buffer *text, size_t more);

/* Frees what a growing text holds. */
void text_fini(struct text_buffer *text);

void text_append(struct text_buffer *text, const char *string);
void text_append_bytes(struct text_buffer *text, const char *bytes, size_t length);
void text_printf(struct text_buffer *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A time as the language writes it, in the largest unit in which it is whole: 90s, 1500us, 0ns. */
void text_time(struct text_buffer *text, uint64_t ns);

/*
 * How texts from outside are written. What is no UTF-8, what a terminal may obey (C0, DEL and C1) and what turns the
 * direction of text or breaks the line (Unicode's bidirectional controls and separators) never comes out as it is.
 */
enum text_form {
	TEXT_WORDS, /* C escapes, each byte as three octal digits; quotes and backslashes stay: texts of a rule's author
		     */
	TEXT_VALUE, /* the same with quotes and backslashes escaped: what is observed */
	TEXT_JSON,  /* as in JSON strings: \uXXXX; a byte that is no UTF-8 is U+FFFD */
	TEXT_JSON_WHOLE, /* of JSON that somebody else has made: the same, but quotes and backslashes stay */
};

enum { TEXT_ESCAPED_BYTES = 20 };

/* What a piece of a text is written as. */
struct text_piece {
	size_t taken; /* bytes of the text */
	size_t length;
	char bytes[TEXT_ESCAPED_BYTES];
};

/* The character, or the byte, that string begins with; string is not empty. */
void text_escape(const char *string, enum text_form form, struct text_piece *piece);

/* Whether string, which is not empty, begins with a character that is shown as it is (but for quotes and backslashes).
 */
bool text_is_shown(const char *string);

/* All of string, without quotes. */
void text_append_as(struct text_buffer *text, const char *string, enum text_form form);

/* The same for HTML and XML, also within quoted attributes: nothing in it is markup, directs text or is a control. */
void text_append_markup(struct text_buffer *html, const char *text);

/* All of string to a stream, as text_append_as. Returns the characters written. */
int text_write(FILE *stream, const char *string, enum text_form form);

/* Several lines of TEXT_WORDS; newlines and tabs stay. */
void text_write_lines(FILE *stream, const char *string);

/* string as a JSON string, and as a TEXT_VALUE, quotes included. */
void text_json(struct text_buffer *text, const char *string);
void text_quote(struct text_buffer *text, const char *string);

/*
 * Hands the text over, to be freed with alloc_free, and leaves an empty one. Returns 0, or the failure that stuck
 * (-ENOMEM, -E2BIG), in which case nothing is left to free. Growing texts only.
 */
int text_take(struct text_buffer *text, char **taken);

/* The bytes (1..4) of the UTF-8 character that string begins with, or 0 when it is none or string is empty. */
size_t text_character(const char *string);

#endif
