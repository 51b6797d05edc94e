// SPDX-License-Identifier: BSD-2-Clause
/* Decides which format a file has, and how its lines and numbers are read. */

#include "profile/read-priv.h"
#include "profile/read.h"

#include "base/alloc.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 20, NUMBER_BYTES = 64 };

int profile_read_text(int fd, const char *file, struct asterism_diag *diag, char **text, size_t *length)
{
	size_t capacity = 0, count = 0;
	char *bytes = NULL;
	ssize_t got;

	for (;;) {
		if (count + READ_BYTES >= capacity) {
			char *grown = alloc_resize(bytes, capacity ? capacity * 2 : 4 * READ_BYTES, 1);

			if (!grown) {
				alloc_free(bytes);
				return diag_no_memory(diag);
			}
			capacity = capacity ? capacity * 2 : 4 * READ_BYTES;
			bytes = grown;
		}
		got = read(fd, bytes + count, READ_BYTES);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		count += (size_t)got;
		if (count > PROFILE_BYTES_MAX) {
			alloc_free(bytes);
			return diag_error(diag, NULL, -EFBIG, "%s is larger than 1 GiB: no profile is", file);
		}
	}
	if (got < 0) {
		alloc_free(bytes);
		return diag_error(diag, NULL, -errno, "%s cannot be read: %s", file, strerror(errno));
	}
	bytes[count] = 0;
	*text = bytes;
	*length = count;
	return 0;
}

bool reading_next_line(struct reading *reading)
{
	const char *text_end = reading->source->text + reading->source->length;
	const char *start = reading->line ? reading->end + (reading->end < text_end) : reading->source->text;

	if (start >= text_end)
		return false;
	const char *newline = memchr(start, '\n', (size_t)(text_end - start));

	reading->line = reading->at = start;
	reading->end = newline ? newline : text_end;
	reading->number++;
	return true;
}

int reading_wrong(const struct reading *reading, const char *hint, const char *format, ...)
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

int reading_failed(const struct reading *reading, int result)
{
	if (result == -E2BIG)
		return reading_wrong(reading, NULL, "a profile holds no more than %d event types, and 2^31 of all else",
				     PROFILE_EVENTS_MAX);
	return result ? diag_no_memory(reading->diag) : 0;
}

void reading_skip_blanks(struct reading *reading)
{
	while (reading->at < reading->end && (*reading->at == ' ' || *reading->at == '\t' || *reading->at == '\r'))
		reading->at++;
}

bool reading_is_digit(const struct reading *reading)
{
	return reading->at < reading->end && *reading->at >= '0' && *reading->at <= '9';
}

static int too_large(const struct reading *reading)
{
	return reading_wrong(reading, NULL, "the number is beyond 64 bits");
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
	return reading->at > start ? 0 : reading_wrong(reading, NULL, "there is no number after 0x");
}

int reading_whole(struct reading *reading, uint64_t *value)
{
	uint64_t number = 0;

	if (!reading_is_digit(reading))
		return reading_wrong(reading, NULL, "a number was expected");
	if (*reading->at == '0' && reading->end - reading->at > 1 && reading->at[1] == 'x')
		return read_hex(reading, value);
	for (; reading_is_digit(reading); reading->at++) {
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
	char piece[NUMBER_BYTES], *rest;
	size_t length = (size_t)(reading->end - reading->at);

	length = length < sizeof piece - 1 ? length : sizeof piece - 1;
	memcpy(piece, reading->at, length);
	piece[length] = 0;
	*value = strtod(piece, &rest);
	if (rest == piece || !isfinite(*value) || rest == piece + sizeof piece - 1)
		return reading_wrong(reading, NULL, "a number was expected");
	reading->at += rest - piece;
	return 0;
}

int reading_cost(struct reading *reading, bool may_be_real, double *value)
{
	const char *start = reading->at;
	uint64_t whole;
	int result;

	if (!reading_is_digit(reading))
		return reading_wrong(reading, NULL, "a cost was expected: a number that is not negative");
	result = reading_whole(reading, &whole);
	if (result)
		return result;
	*value = (double)whole;
	if (!may_be_real || reading->at == reading->end || !strchr(".eE", *reading->at))
		return 0;
	reading->at = start;
	return read_real(reading, value);
}

static bool begins(const struct diag_source *source, const char *word)
{
	size_t length = strlen(word);

	return source->length >= length && memcmp(source->text, word, length) == 0;
}

/* Callgrind's format begins with its name or with a line of its head. */
static bool is_callgrind(const struct diag_source *source)
{
	static const char *const heads[] = { "# callgrind format", "version:", "creator:", "cmd:", "part:", "events:",
					     "positions:",         "pid:",     "desc:" };

	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		if (begins(source, heads[i]))
			return true;
	}
	return false;
}

int profile_read(const struct diag_source *source, struct asterism_diag *diag, struct profile **profile)
{
	struct reading reading = { .source = source, .diag = diag, .profile = profile_new() };
	bool is_own = begins(source, "# asterism profile");
	int result;

	if (!reading.profile)
		return diag_no_memory(diag);
	reading.at = reading.end = source->text;
	if (is_own || is_callgrind(source))
		result = profile_read_callgrind(&reading, is_own);
	else
		result = profile_read_csv(&reading);
	if (result)
		profile_free(reading.profile);
	else
		*profile = reading.profile;
	return result;
}
