// SPDX-License-Identifier: BSD-2-Clause
/* Reads words, names, texts and numbers of a line, and reports those that are wrong. */

#include "counters/counters-priv.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 32 };

struct counter_place counters_place_of(const struct counter_reading *reading, const char *at, size_t length)
{
	return (struct counter_place){
		.source = reading->source_index,
		.line = reading->number,
		.column = (uint32_t)(at - reading->line) + 1,
		.offset = (uint32_t)(at - reading->source->text),
		.length = (uint32_t)(length ? length : 1),
	};
}

static int report_bad_line(const struct diag_source *source, struct asterism_diag *diag,
			   const struct counter_place *place, const char *hint, const char *text)
{
	const struct diag_location location = { source, place->offset, place->line, place->column, place->length };

	diag_add(diag, ASTERISM_ERROR, &location, hint, "%s", text);
	return -EINVAL;
}

int counters_wrong(const struct counter_reading *reading, const char *hint, const char *format, ...)
{
	const struct counter_place place = counters_place_of(reading, reading->at, 1);
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return report_bad_line(reading->source, reading->diag, &place, hint, text);
}

int counters_wrong_at(const struct counters *counters, struct asterism_diag *diag, const struct counter_place *place,
		      const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return report_bad_line(&counters->sources[place->source], diag, place, NULL, text);
}

void counters_skip_blanks(struct counter_reading *reading)
{
	while (reading->at < reading->end && strchr(" \t\r", *reading->at) && *reading->at)
		reading->at++;
}

static size_t word_length(const struct counter_reading *reading)
{
	const char *at = reading->at;

	while (at < reading->end && (unsigned char)*at > ' ' && *at != ',')
		at++;
	return (size_t)(at - reading->at);
}

bool counters_pass(struct counter_reading *reading, const char *word)
{
	size_t length;

	counters_skip_blanks(reading);
	length = word_length(reading);
	if (length != strlen(word) || memcmp(reading->at, word, length) != 0)
		return false;
	reading->at += length;
	counters_skip_blanks(reading);
	return true;
}

static int keep_text(struct counter_reading *reading, size_t length, const char **text)
{
	*text = arena_text(reading->counters->arena, reading->at, length);
	reading->at += length;
	counters_skip_blanks(reading);
	return *text ? 0 : diag_no_memory(reading->diag);
}

int counters_word(struct counter_reading *reading, const char *what, const char **word)
{
	size_t length;

	counters_skip_blanks(reading);
	length = word_length(reading);
	if (!length)
		return counters_wrong(reading, NULL, "expected %s", what);
	return keep_text(reading, length, word);
}

int counters_name(struct counter_reading *reading, const char *what, bool may_have_class, const char **name)
{
	const char *at;
	bool has_class = false, begins = true;

	counters_skip_blanks(reading);
	for (at = reading->at; at < reading->end; at++) {
		unsigned char c = (unsigned char)*at;

		if (c == '.' && may_have_class && !has_class && !begins) {
			has_class = begins = true;
			continue;
		}
		if (!(c < 128 && (isalpha(c) || c == '_' || (!begins && isdigit(c)))))
			break;
		begins = false;
	}
	if (at == reading->at || begins)
		return counters_wrong(reading, NULL, "expected %s", what);
	if (at - reading->at > COUNTER_NAME_MAX * (1 + has_class))
		return counters_wrong(reading, NULL, "the name is longer than %d characters", COUNTER_NAME_MAX);
	return keep_text(reading, (size_t)(at - reading->at), name);
}

int counters_quoted(struct counter_reading *reading, const char *what, const char **text)
{
	const char *close;
	int result;

	counters_skip_blanks(reading);
	if (reading->at == reading->end || *reading->at != '"')
		return counters_wrong(reading, NULL, "expected %s in quotes", what);
	close = memchr(reading->at + 1, '"', (size_t)(reading->end - reading->at - 1));
	if (!close)
		return counters_wrong(reading, NULL, "the text is not closed");
	if (memchr(reading->at, 0, (size_t)(close - reading->at)))
		return counters_wrong(reading, NULL, "the text has a NUL");
	reading->at++;
	result = keep_text(reading, (size_t)(close - reading->at), text);
	reading->at = close + 1;
	counters_skip_blanks(reading);
	return result;
}

int counters_number(struct counter_reading *reading, double *number)
{
	char piece[NUMBER_BYTES], *rest;
	size_t length = 0;

	counters_skip_blanks(reading);
	while (length < sizeof piece - 1 && length < (size_t)(reading->end - reading->at) &&
	       (isdigit((unsigned char)reading->at[length]) || reading->at[length] == '.'))
		length++;
	memcpy(piece, reading->at, length);
	piece[length] = 0;
	*number = strtod(piece, &rest);
	if (!length || *rest || length == sizeof piece - 1)
		return counters_wrong(reading, NULL, "expected a number");
	reading->at += length;
	counters_skip_blanks(reading);
	return 0;
}

int counters_choice(struct counter_reading *reading, const char *what, const char *const *names, unsigned *choice)
{
	const char *nearest, *word;
	char hint[128];
	size_t count = 0, length;

	counters_skip_blanks(reading);
	for (; names[count]; count++) {
		if (counters_pass(reading, names[count])) {
			*choice = (unsigned)count;
			return 0;
		}
	}
	length = word_length(reading);
	word = arena_text(reading->counters->arena, reading->at, length < COUNTER_NAME_MAX ? length : COUNTER_NAME_MAX);
	if (!word)
		return diag_no_memory(reading->diag);
	nearest = diag_nearest(word, names, count);
	snprintf(hint, sizeof hint, nearest ? "did you mean %s?" : "one of them is %s", nearest ? nearest : names[0]);
	return counters_wrong(reading, hint, "expected %s", what);
}
