/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_REPORT_EXPORTS_H
#define CMD_REPORT_EXPORTS_H

/* The files for other viewers that a report writes beside, or instead of, its own. */

#include "cmd/options/options.h"
#include "report/export/export.h"
#include "report/pass.h"

enum { EXPORTS = 4 };

struct exports {
	struct export_file {
		const char *name; /* NULL: not asked for */
		struct report *report;
	} files[EXPORTS];
};

/* Whether one is asked for. */
bool exports_are_asked(const struct cli_arguments *arguments);

/* Opens those that are asked for, which listen to the pass. Returns a status, after saying why. */
int exports_open(struct exports *exports, const struct cli_arguments *arguments, struct report_pass *pass);

/* After the pass, whatever became of it: a status, after saying what could not be written, or had no place. */
int exports_close(struct exports *exports);

#endif
