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
 * string as a JSON string, quotes included. JSON is Unicode: bytes that are not UTF-8 come out as U+FFFD each.
 */
void text_json(struct text_buffer *text, const char *string);

/* string between quotes with C escapes; bytes that are not UTF-8 and control characters as three octal digits. */
void text_quote(struct text_buffer *text, const char *string);

/*
 * Hands the text over, to be freed with alloc_free, and leaves an empty one. Returns 0, or the failure that stuck
 * (-ENOMEM, -E2BIG), in which case nothing is left to free. Growing texts only.
 */
int text_take(struct text_buffer *text, char **taken);

/* The bytes (1..4) of the UTF-8 character that string begins with, or 0 when it is none or string is empty. */
size_t text_character(const char *string);

#endif
