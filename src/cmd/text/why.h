/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_TEXT_WHY_H
#define CMD_TEXT_WHY_H

/* What is said of rules that did not match, and with --why of what became of all runs. */

#include "session/output/totals.h"

#include <stdio.h>

/* Where totals hold what became of runs: a line of JSON for each rule; else nothing. */
void why_write_json(FILE *stream, const struct program *program, const struct session_totals *totals, bool is_live);

/* How it is said: why (--why), transition by transition (-v), nothing that was not asked for (-q). */
struct why_manner {
	bool is_live, quiet, verbose, tells_why;
};

/* The same as tables on standard error; without --why, unless quiet, which rules did not match and how to ask why. */
void why_write_text(const struct program *program, const struct session_totals *totals,
		    const struct why_manner *manner);

#endif
