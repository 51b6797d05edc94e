/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_MONITOR_REPORT_H
#define CMD_MONITOR_REPORT_H

/* What a monitor promises, how it goes, and what came of it: as text on standard error, and as JSON lines. */

#include "session/monitor/session.h"

#include <stdio.h>

struct monitor_report {
	const struct monitor *monitor;
	struct monitor_promise promise;
	bool is_proof; /* --prove */
	bool is_quiet;
};

void report_promise(const struct monitor_report *report);
void report_status(const struct monitor_report *report);

/* What was not as it was to be, always; and unless it is quiet, what came of the promise. */
void report_end(const struct monitor_report *report, const struct monitor_session_outcome *outcome);

/* --prove: how responses are distributed, beside the promise. */
void report_histogram(const struct monitor_report *report, FILE *stream);

/* One line each. */
void report_promise_json(const struct monitor_report *report, FILE *stream);
void report_end_json(const struct monitor_report *report, const struct monitor_session_outcome *outcome, FILE *stream);

#endif
