/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_JSONL_JSONL_H
#define TRACE_JSONL_JSONL_H

/*
 * Events as JSON lines (docs/language.md): one object per line, types from the catalog. Reads as it goes, so pipes work
 * and memory does not grow with the input. The input is untrusted: every line gives an event or an error with its line,
 * column and reason, and after an error the next line can be asked for.
 */

#include "base/diag.h"
#include "event/catalog.h"
#include "event/source.h"

enum { TRACE_JSONL_LINE_BYTES_MAX = 1 << 20 };

/*
 * Reads from fd, which stays the caller's, from its position on. name is what messages call it. catalog and diag are
 * borrowed until the source is freed; diag may be NULL. Returns 0, -ENOMEM.
 */
int trace_jsonl_new(int fd, const char *name, struct event_catalog *catalog, struct asterism_diag *diag,
		    struct event_source **made);

/*
 * Reads as tests are written, from the next line on: fields that are not given are 0 or empty, lines that begin with #
 * are left out. A source that does not read JSON lines stays as it is.
 */
void trace_jsonl_relax(struct event_source *source);

/* How lines of other programs are written. */
struct trace_jsonl_form {
	bool is_lenient;        /* fields and events that are not known are left out, counted and told at the end */
	const char *time_field; /* what ts is called, borrowed; NULL: ts */
	/* A stream broke off after so many events; NULL: nobody wants to know besides the diag. */
	void (*on_cut)(void *context, const char *stream, uint64_t events);
	void *context;
};

/* From the next line on. A source that does not read JSON lines stays as it is. */
void trace_jsonl_read_as(struct event_source *source, const struct trace_jsonl_form *form);

/* Every line is a frame (base/frame.h) that holds one; what is none is left out, and what is missing is lost. Returns
 * 0, -ENOMEM. */
int trace_jsonl_unframe(struct event_source *source);

/*
 * The input is to end with a mark, {"end":true}, or something is missing: then one event more counts as lost, the diag
 * says so, and the form's on_cut is called. Neither a line that broke off nor a failure to read is an error of it.
 */
void trace_jsonl_expect_end(struct event_source *source);

/* Makes the source close its descriptor when it is freed. */
void trace_jsonl_own(struct event_source *source);

#endif
