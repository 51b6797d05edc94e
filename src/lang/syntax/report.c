// SPDX-License-Identifier: BSD-2-Clause
/* Sorts messages, drops those that are too many, and computes the result of a reading. */

#include "lang/syntax/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void lang_no_memory(struct lang_report *report)
{
	report->no_memory = true;
}

bool lang_report_full(const struct lang_report *report)
{
	return report->more_errors || report->no_memory;
}

static const char *format_text(struct lang_report *report, const char *format, va_list args)
{
	char text[1024];

	vsnprintf(text, sizeof text, format, args);
	const char *copy = arena_text(report->arena, text, strlen(text));
	if (!copy)
		lang_no_memory(report);
	return copy;
}

static bool is_known_message(const struct lang_report *report, const struct lang_message *message)
{
	for (uint32_t i = 0; i < report->count; i++) {
		const struct lang_message *other = &report->messages[i];

		if (other->location.source == message->location.source &&
		    other->location.offset == message->location.offset && other->severity == message->severity &&
		    strcmp(other->text, message->text) == 0)
			return true;
	}
	return false;
}

/* True when there is room; what goes beyond is remembered as dropped. */
static bool admit_message(struct lang_report *report, enum asterism_severity severity)
{
	if (severity == ASTERISM_NOTE)
		return report->takes_note;
	uint32_t *count = severity == ASTERISM_ERROR ? &report->error_count : &report->warning_count;
	bool *more = severity == ASTERISM_ERROR ? &report->more_errors : &report->more_warnings;

	if (*count == LANG_ERRORS_MAX) {
		*more = true;
		return false;
	}
	*count += 1;
	return true;
}

static void add_report_message(struct lang_report *report, const struct lang_message *message)
{
	if (report->no_memory || is_known_message(report, message)) {
		report->takes_note = false;
		return;
	}
	bool kept = admit_message(report, message->severity);
	/* Each message takes at most one note, so the array has room for whatever admit_message lets through. */
	report->takes_note = kept && message->severity != ASTERISM_NOTE;
	if (kept)
		report->messages[report->count++] = *message;
}

void lang_error(struct lang_report *report, const struct diag_location *location, const char *hint, const char *format,
		...)
{
	struct lang_message message = {
		.severity = ASTERISM_ERROR, .location = *location, .order = *location, .hint = hint
	};
	va_list args;

	va_start(args, format);
	message.text = format_text(report, format, args);
	va_end(args);
	add_report_message(report, &message);
}

void lang_warn(struct lang_report *report, const struct diag_location *location, const char *hint, const char *format,
	       ...)
{
	struct lang_message message = {
		.severity = ASTERISM_WARNING, .location = *location, .order = *location, .hint = hint
	};
	va_list args;

	va_start(args, format);
	message.text = format_text(report, format, args);
	va_end(args);
	add_report_message(report, &message);
}

void lang_note(struct lang_report *report, const struct diag_location *location, const char *format, ...)
{
	struct lang_message message = { .severity = ASTERISM_NOTE, .location = *location };
	va_list args;

	if (!report->takes_note)
		return;
	message.order = report->messages[report->count - 1].order;
	va_start(args, format);
	message.text = format_text(report, format, args);
	va_end(args);
	add_report_message(report, &message);
}

const char *lang_hint(struct lang_report *report, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	const char *hint = format_text(report, format, args);
	va_end(args);
	return hint;
}

const char *lang_did_you_mean(struct lang_report *report, const char *wanted, const char *nearest)
{
	bool reporting = nearest && (wanted[0] == 0 || wanted[1] != 0 || nearest[1] != 0 ||
				     (wanted[0] | 0x20) == (nearest[0] | 0x20));

	return reporting ? lang_hint(report, "did you mean '%s'?", nearest) : NULL;
}

/* Sources lie in one array in the order of the inputs, so their addresses order the files. */
static bool comes_after(const struct diag_location *a, const struct diag_location *b)
{
	if (a->source != b->source)
		return a->source > b->source;
	return a->offset > b->offset;
}

static void sort_messages(struct lang_report *report)
{
	for (uint32_t i = 1; i < report->count; i++) {
		struct lang_message message = report->messages[i];
		uint32_t at = i;

		for (; at > 0 && comes_after(&report->messages[at - 1].order, &message.order); at--)
			report->messages[at] = report->messages[at - 1];
		report->messages[at] = message;
	}
}

int lang_report_flush(struct lang_report *report)
{
	sort_messages(report);
	for (uint32_t i = 0; i < report->count; i++) {
		const struct lang_message *message = &report->messages[i];

		diag_add(report->diag, message->severity, &message->location, message->hint, "%s", message->text);
	}
	if (report->more_warnings)
		diag_add(report->diag, ASTERISM_NOTE, NULL, NULL,
			 "there are more warnings; only the first %d are shown", LANG_ERRORS_MAX);
	if (report->more_errors)
		diag_add(report->diag, ASTERISM_NOTE, NULL, NULL, "there are more errors; only the first %d are shown",
			 LANG_ERRORS_MAX);
	if (report->no_memory)
		return diag_no_memory(report->diag);
	return report->error_count ? -EINVAL : 0;
}
