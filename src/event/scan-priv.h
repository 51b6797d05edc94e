/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EVENT_SCAN_PRIV_H
#define EVENT_SCAN_PRIV_H

/*
 * Reads the tokens of a catalog text. Every function first passes over blanks and comments. The text needs no NUL at
 * its end and may hold any bytes. One scan belongs to one text.
 */

#include "base/alloc.h"
#include "base/diag.h"
#include "event/path.h"
#include "event/type.h"

#include <stdbool.h>
#include <stdint.h>

struct event_scan {
	const char *at, *end;
	const struct diag_source *source;
	struct asterism_diag *diag;
	struct arena *arena; /* where event_scan_copy and event_scan_text leave their texts */
	bool in_probe;       /* what is scanned is about a place in user code */
	bool in_usdt;        /* and this about one where a USDT probe stands */
	/* Paths: whether trees of them are made, in the arena; their kinds have been judged then. */
	bool makes_trees;
	struct event_path nothing; /* else what is written to instead */
};

/* A piece of the text. length 0: nothing was there. */
struct event_span {
	const char *start;
	size_t length;
};

void event_scan_init(struct event_scan *scan, const struct diag_source *source, struct asterism_diag *diag,
		     struct arena *arena);

void event_scan_pass_blank(struct event_scan *scan);

/* Passes over blanks and comments; mostly there are none. */
static inline void event_scan_blank(struct event_scan *scan)
{
	if (scan->at < scan->end && (*scan->at <= ' ' || *scan->at == '#'))
		event_scan_pass_blank(scan);
}

/* Takes c if it is next. */
bool event_scan_char(struct event_scan *scan, char c);

/* Takes the punctuation if it is next. */
bool event_scan_sign(struct event_scan *scan, const char *sign);

/* Takes an identifier. */
struct event_span event_scan_name(struct event_scan *scan);

/* Takes an identifier if it is keyword, in any case. */
bool event_scan_keyword(struct event_scan *scan, const char *keyword);

/* Takes an integer, decimal or hexadecimal, that fits 64 bits. 1: taken, 0: none there, else reported as -EINVAL. */
int event_scan_integer(struct event_scan *scan, uint64_t *value);

/* Takes a string with C escapes into the arena. 1: taken, 0: none there, else -EINVAL (reported) or -ENOMEM. */
int event_scan_text(struct event_scan *scan, const char **text);

/*
 * Takes what raises an event, whose name is *span: a tracepoint, or a probe in user code, which is *probe then
 * (uprobe:file:function, in the arena), else NULL. Negative: -EINVAL (reported) or -ENOMEM.
 */
int event_scan_source(struct event_scan *scan, struct event_span *span, const char **probe);

/* Copies a span into the arena, runs of blanks and comments as one space. NULL: no memory. */
const char *event_scan_copy(struct event_scan *scan, struct event_span span);

/* Takes the name of a type of values. Returns 0, or -EINVAL (reported). */
int event_scan_value(struct event_scan *scan, enum event_value *value);

/* Moves on to the next paragraph: a line that begins with EVENT, EVENTS or SYSCALL. At least one byte is passed over.
 */
void event_scan_paragraph(struct event_scan *scan);

bool event_span_is(struct event_span span, const char *text);

/* The line that span stands in, from 1. */
uint32_t event_scan_line(const struct event_scan *scan, struct event_span span);

/* Reports an error at span (length 0: at the byte there) and returns -EINVAL. hint may be NULL. */
int event_scan_error(struct event_scan *scan, struct event_span span, const char *hint, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The same as a warning. */
void event_scan_warn(struct event_scan *scan, struct event_span span, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Reports that something else was expected at what comes next, and returns -EINVAL. */
int event_scan_expected(struct event_scan *scan, const char *what);

#endif
