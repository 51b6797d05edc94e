/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_HELP_FAILURES_H
#define CMD_HELP_FAILURES_H

/* What becomes of a live session where something fails: one table for help, manual pages and docs/failures.md. */

#include <stdio.h>

struct help_failure {
	const char *what;
	const char *rules; /* whether they are still on */
	const char *told;
	const char *status; /* the exit status */
};

/* Ended by a row without a text. */
extern const struct help_failure help_failures[];

/* What `asterism help failures` writes. */
void help_failures_text(FILE *stream);

/* The same as the table of docs/failures.md. */
void help_failures_page(FILE *stream);

#endif
