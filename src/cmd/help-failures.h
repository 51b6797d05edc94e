/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_HELP_FAILURES_H
#define CMD_HELP_FAILURES_H

/* What becomes of a live session where something fails: one table for help, manual pages and docs/failures.md. */

#include "cli/command.h"

#include <stdio.h>

/* Of each failure: whether rules are still on, what is told, and the exit status. */
extern const struct cli_section help_failures;

/* The table of docs/failures.md. */
void help_failures_page(FILE *stream);

#endif
