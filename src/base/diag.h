/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

/* The writing side of a diag; include/asterism/diag.h is the reading side. A NULL diag swallows everything. */

#include "asterism/diag.h"

/* A whole input text, so that messages can show the line they speak of. */
struct diag_source {
	const char *file; /* as the user named it */
	const char *text; /* not NUL-terminated; NULL where there is none */
	size_t length;
	uint64_t text_offset; /* where text begins in the input, when it is a part of it */
};

/* A piece of an input. line 0: only offset counts (images, traces). */
struct diag_location {
	const struct diag_source *source; /* NULL: no place at all */
	uint64_t offset;
	uint32_t line;   /* from 1 */
	uint32_t column; /* from 1, bytes */
	uint32_t length; /* bytes */
};

/* Adds a message; hint may be NULL. The diag copies everything it keeps. */
void diag_add(struct asterism_diag *diag, enum asterism_severity severity, const struct diag_location *location,
	      const char *hint, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Gives the newest message, if there is one, this hint in place of its own. */
void diag_hint(struct asterism_diag *diag, const char *hint);

/* Adds an error without a hint and returns code, so that callers can `return diag_error(diag, place, -EINVAL, ...)`. */
int diag_error(struct asterism_diag *diag, const struct diag_location *location, int code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Notes that memory ran out, without needing any, and returns -ENOMEM. */
int diag_no_memory(struct asterism_diag *diag);

/* Moves the messages of from (NULL: there are none) behind those of to; lines of sources are left behind. */
void diag_take(struct asterism_diag *to, struct asterism_diag *from);

/* Drops the messages after the first count. */
void diag_forget(struct asterism_diag *diag, size_t count);

/*
 * The name among names (count of them) nearest to wanted by edit distance (optimal string alignment: insert, delete,
 * replace, swap of neighbours; case ignored), or NULL where none is near enough to be meant.
 */
const char *diag_nearest(const char *wanted, const char *const *names, size_t count);

#endif
