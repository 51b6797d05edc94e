// SPDX-License-Identifier: BSD-2-Clause
/* Collects messages. Works when memory is short: the message that could not be kept is counted and told. */

#include "base/diag.h"

#include "base/alloc.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct asterism_diag {
	struct arena *arena;
	struct asterism_message *messages;
	size_t count, capacity;
	int out_of_memory;
};

enum { SHOWN_LINE_BYTES = 400 };

static const struct asterism_message no_memory = {
	.severity = ASTERISM_ERROR,
	.text = "out of memory",
};

struct asterism_diag *asterism_diag_new(void)
{
	return alloc_zero(1, sizeof(struct asterism_diag));
}

void asterism_diag_clear(struct asterism_diag *diag)
{
	arena_free(diag->arena);
	alloc_free(diag->messages);
	*diag = (struct asterism_diag){ 0 };
}

void asterism_diag_free(struct asterism_diag *diag)
{
	if (!diag)
		return;
	asterism_diag_clear(diag);
	alloc_free(diag);
}

size_t asterism_diag_count(const struct asterism_diag *diag, enum asterism_severity severity)
{
	size_t count = diag->out_of_memory ? 1 : 0;

	for (size_t i = 0; i < diag->count; i++)
		count += diag->messages[i].severity >= severity;
	return count;
}

const struct asterism_message *asterism_diag_get(const struct asterism_diag *diag, size_t index)
{
	if (index < diag->count)
		return &diag->messages[index];
	return index == diag->count && diag->out_of_memory ? &no_memory : NULL;
}

void diag_forget(struct asterism_diag *diag, size_t count)
{
	if (diag && diag->count > count)
		diag->count = count;
}

/* The line of the source that holds the place, cut to a width that a terminal can show. */
static const char *line_of(struct arena *arena, const struct diag_location *location)
{
	const struct diag_source *source = location->source;

	if (!source->text || location->line == 0 || location->offset < source->text_offset ||
	    location->offset - source->text_offset > source->length)
		return NULL;
	size_t end = location->offset - source->text_offset, start = end - (location->column - 1);

	while (end < source->length && source->text[end] != '\n' && end - start < SHOWN_LINE_BYTES)
		end++;
	if (end < start || end - start > SHOWN_LINE_BYTES)
		return NULL;
	return arena_text(arena, source->text + start, end - start);
}

static int keep_message(struct asterism_diag *diag, struct asterism_message *message,
			const struct diag_location *location, const char *hint, const char *text)
{
	if (!diag->arena && !(diag->arena = arena_new()))
		return -ENOMEM;
	if (alloc_grow(&diag->messages, &diag->capacity, diag->count, sizeof *message))
		return -ENOMEM;
	message->text = arena_text(diag->arena, text, strlen(text));
	if (!message->text)
		return -ENOMEM;
	if (hint && !(message->hint = arena_text(diag->arena, hint, strlen(hint))))
		return -ENOMEM;
	if (location && location->source) {
		const char *file = location->source->file ? location->source->file : "";

		message->line = location->line;
		message->column = location->column;
		message->length = location->length ? location->length : 1;
		message->offset = location->offset;
		message->source = line_of(diag->arena, location);
		message->file = arena_text(diag->arena, file, strlen(file));
		if (!message->file)
			return -ENOMEM;
	}
	diag->messages[diag->count++] = *message;
	return 0;
}

/* What can be done, whatever failed for that reason. The text of ENFILE begins as that of EMFILE. */
static const char *hint_of(const char *text)
{
	return strstr(text, strerror(EMFILE)) && !strstr(text, strerror(ENFILE))
		       ? "raise the limit on open files of a process: ulimit -n"
		       : NULL;
}

static void add_message(struct asterism_diag *diag, enum asterism_severity severity,
			const struct diag_location *location, const char *hint, const char *format, va_list args)
{
	struct asterism_message message = { .severity = severity };
	char text[1024];

	if (!diag)
		return;
	vsnprintf(text, sizeof text, format, args);
	if (keep_message(diag, &message, location, hint ? hint : hint_of(text), text))
		diag->out_of_memory = 1;
}

void diag_add(struct asterism_diag *diag, enum asterism_severity severity, const struct diag_location *location,
	      const char *hint, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_message(diag, severity, location, hint, format, args);
	va_end(args);
}

void diag_hint(struct asterism_diag *diag, const char *hint)
{
	char *copy;

	if (!diag || !diag->count)
		return;
	copy = arena_text(diag->arena, hint, strlen(hint));
	if (copy)
		diag->messages[diag->count - 1].hint = copy;
	else
		diag->out_of_memory = 1;
}

int diag_error(struct asterism_diag *diag, const struct diag_location *location, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_message(diag, ASTERISM_ERROR, location, NULL, format, args);
	va_end(args);
	return code;
}

int diag_no_memory(struct asterism_diag *diag)
{
	if (diag)
		diag->out_of_memory = 1;
	return -ENOMEM;
}

void diag_take(struct asterism_diag *to, struct asterism_diag *from)
{
	const struct asterism_message *message;

	for (size_t i = 0; from && (message = asterism_diag_get(from, i)); i++) {
		const struct diag_source source = { .file = message->file };
		const struct diag_location location = { .source = &source,
							.offset = message->offset,
							.line = message->line,
							.column = message->column,
							.length = message->length };

		diag_add(to, message->severity, message->file ? &location : NULL, message->hint, "%s", message->text);
	}
	if (from)
		asterism_diag_clear(from);
}

enum { NEAR_BYTES = 64 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned row[3][NEAR_BYTES + 1];

	for (size_t j = 0; j <= b_length; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= a_length; i++) {
		unsigned *now = row[i % 3], *before = row[(i + 2) % 3], *twice = row[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= b_length; j++) {
			int same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);

			now[j] = least(least(before[j] + 1, now[j - 1] + 1), before[j - 1] + (same ? 0 : 1));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = least(now[j], twice[j - 2] + 1);
		}
	}
	return row[a_length % 3][b_length];
}

const char *diag_nearest(const char *wanted, const char *const *names, size_t count)
{
	size_t length = strlen(wanted);
	unsigned best = (unsigned)(length / 3) + 2;
	const char *nearest = NULL;

	if (length == 0 || length > NEAR_BYTES)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		size_t other = strnlen(names[i], NEAR_BYTES + 1);

		if (other > NEAR_BYTES || other + best <= length || length + best <= other)
			continue;
		unsigned d = edit_distance(wanted, length, names[i], other);
		if (d < best) {
			best = d;
			nearest = names[i];
		}
	}
	return nearest;
}
