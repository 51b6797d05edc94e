// SPDX-License-Identifier: BSD-2-Clause
/* Reads lines and numbers, and reports those that are wrong. */

#include "profile/read-priv.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* However many there are, their sum is a number. */
#define COST_MAX 1e30

enum { LINE_NUMBER_BYTES = 64 };

bool read_next_line(struct reading *reading)
{
	const char *text_end = reading->source->text + reading->source->length;
	/* Spreadsheets put one in front. */
	static const char byte_order_mark[] = "\xef\xbb\xbf";
	const char *start = reading->line ? reading->end + (reading->end < text_end) : reading->source->text;

	if (!reading->line && text_end - start >= 3 && memcmp(start, byte_order_mark, 3) == 0)
		start += 3;
	if (start >= text_end)
		return false;
	const char *newline = memchr(start, '\n', (size_t)(text_end - start));

	reading->line = reading->at = start;
	reading->end = newline ? newline : text_end;
	reading->number++;
	return true;
}

int read_wrong(const struct reading *reading, const char *hint, const char *format, ...)
{
	const struct diag_location location = {
		.source = reading->source,
		.offset = (uint64_t)(reading->at - reading->source->text),
		.line = reading->number,
		.column = reading->line ? (uint32_t)(reading->at - reading->line) + 1 : 0,
		.length = 1,
	};
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	diag_add(reading->diag, ASTERISM_ERROR, &location, hint, "%s", text);
	return -EINVAL;
}

int read_failed(const struct reading *reading, int result)
{
	if (result == -E2BIG)
		return read_wrong(reading, NULL,
				  "a profile holds at most %d event types, and at most 2^31 of anything else",
				  PROFILE_EVENTS_MAX);
	return result ? diag_no_memory(reading->diag) : 0;
}

void read_skip_blanks(struct reading *reading)
{
	while (reading->at < reading->end && (*reading->at == ' ' || *reading->at == '\t' || *reading->at == '\r'))
		reading->at++;
}

bool read_is_digit(const struct reading *reading)
{
	return reading->at < reading->end && *reading->at >= '0' && *reading->at <= '9';
}

static int too_large(const struct reading *reading)
{
	return read_wrong(reading, NULL, "the number does not fit into 64 bits");
}

static int read_hex(struct reading *reading, uint64_t *value)
{
	const char *start = reading->at += 2;

	for (*value = 0; reading->at < reading->end && isxdigit((unsigned char)*reading->at); reading->at++) {
		int c = tolower((unsigned char)*reading->at);

		if (*value >> 60)
			return too_large(reading);
		*value = *value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return reading->at > start ? 0 : read_wrong(reading, NULL, "expected hexadecimal digits after 0x");
}

int read_whole(struct reading *reading, uint64_t *value)
{
	uint64_t number = 0;

	if (!read_is_digit(reading))
		return read_wrong(reading, NULL, "expected a number");
	if (*reading->at == '0' && reading->end - reading->at > 1 && reading->at[1] == 'x')
		return read_hex(reading, value);
	for (; read_is_digit(reading); reading->at++) {
		unsigned digit = (unsigned)(*reading->at - '0');

		if (number > (UINT64_MAX - digit) / 10)
			return too_large(reading);
		number = number * 10 + digit;
	}
	*value = number;
	return 0;
}

/* What strtod reads of the piece of the line, which no longer number has. */
static int read_real(struct reading *reading, double *value)
{
	char piece[LINE_NUMBER_BYTES], *rest;
	size_t length = (size_t)(reading->end - reading->at);

	length = length < sizeof piece - 1 ? length : sizeof piece - 1;
	memcpy(piece, reading->at, length);
	piece[length] = 0;
	*value = strtod(piece, &rest);
	if (rest == piece || !isfinite(*value) || rest == piece + sizeof piece - 1)
		return read_wrong(reading, NULL, "expected a number");
	if (*value > COST_MAX)
		return read_wrong(reading, NULL, "the cost is larger than 1e30");
	reading->at += rest - piece;
	return 0;
}

int read_cost(struct reading *reading, bool may_be_real, double *value)
{
	const char *start = reading->at;
	uint64_t whole;
	int result;

	if (!read_is_digit(reading))
		return read_wrong(reading, NULL, "expected a cost: a number that is not negative");
	result = read_whole(reading, &whole);
	if (result)
		return result;
	*value = (double)whole;
	if (!may_be_real || reading->at == reading->end || !strchr(".eE", *reading->at))
		return 0;
	reading->at = start;
	return read_real(reading, value);
}
