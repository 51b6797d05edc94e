/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DESL_OUTPUT_OUTPUT_H
#define DESL_OUTPUT_OUTPUT_H

/* What becomes of the wanted types. */

#include "desl/desl.h"

#include <stdio.h>

enum desl_format { DESL_TEXT, DESL_JSON, DESL_CSV };

/* Writes the wanted types after a run. 0 or -errno of the stream. */
int desl_write(const struct desl_program *program, enum desl_format format, FILE *stream);

/* Writes the program as SQL. -EINVAL after a message where there is no SQL for it. */
int desl_write_sql(const struct desl_program *program, FILE *stream, struct asterism_diag *diag);

/*
 * Writes the records after a run as JSON lines of events, by time, for `asterism replay`; what these events are, as a
 * catalog for its rules, also without a run. -EINVAL after a message where a record can be no event; -EIO, -ENOMEM.
 */
int desl_write_events(const struct desl_program *program, FILE *stream, struct asterism_diag *diag);
int desl_write_catalog(const struct desl_program *program, FILE *stream, struct asterism_diag *diag);

#endif
