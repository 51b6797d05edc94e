/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LANG_SYNTAX_REPORT_H
#define LANG_SYNTAX_REPORT_H

/*
 * The messages of one lang_read, held back until the end so that they come out in the order of the text although
 * parsing and checking find them in two passes. At most LANG_ERRORS_MAX errors and as many warnings are kept.
 */

#include "base/alloc.h"
#include "base/diag.h"

#include <stdbool.h>

enum { LANG_ERRORS_MAX = 20, LANG_MESSAGES_MAX = 4 * LANG_ERRORS_MAX };

struct lang_message {
	enum asterism_severity severity;
	struct diag_location location;
	struct diag_location order; /* where it sorts: a note sorts with the message it belongs to */
	const char *text;
	const char *hint;
};

struct lang_report {
	struct arena *arena; /* for texts; must live until lang_report_flush */
	struct asterism_diag *diag;
	struct lang_message messages[LANG_MESSAGES_MAX];
	uint32_t count, error_count, warning_count;
	bool more_errors, more_warnings; /* some were dropped */
	bool takes_note;                 /* the latest message was kept, a note to it may follow */
	bool no_memory;
};

/* An error and what would be right (NULL: nothing to add). A message that was reported already is not repeated. */
void lang_error(struct lang_report *report, const struct diag_location *location, const char *hint, const char *format,
		...) __attribute__((format(printf, 4, 5)));

void lang_warn(struct lang_report *report, const struct diag_location *location, const char *hint, const char *format,
	       ...) __attribute__((format(printf, 4, 5)));

/* A further place that belongs to the message reported last. */
void lang_note(struct lang_report *report, const struct diag_location *location, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* printf into the report's memory, for hints; NULL when memory is short (which the report remembers). */
const char *lang_hint(struct lang_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "did you mean 'nearest'?", or NULL where nearest is NULL or one letter stands for another. */
const char *lang_did_you_mean(struct lang_report *report, const char *wanted, const char *nearest);

void lang_no_memory(struct lang_report *report);

/* True when looking for more errors is pointless: enough are known, or memory is short. */
bool lang_report_full(const struct lang_report *report);

/* Hands all messages to the diag. Returns 0, -EINVAL after an error, -ENOMEM. */
int lang_report_flush(struct lang_report *report);

#endif
