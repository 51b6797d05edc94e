/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_EXPORT_EXPORT_H
#define REPORT_EXPORT_EXPORT_H

/*
 * What happened in the formats of other viewers. An export listens as a report does, writes to its stream as it goes,
 * so that its size is that of the file, and ends with the pass. Names from outside are escaped as the format asks.
 */

#include "report/report.h"

#include <stdio.h>

struct report_export {
	struct report report;
	FILE *stream;      /* set by the owner before the first event */
	uint64_t left_out; /* at the end: what had no place */
};

/* Event trace of Chrome, JSON: slices of threads, matches as instants. */
extern const struct report_kind report_export_chrome;
/* Folded stacks, ns: process;thread;state;reason;waker. */
extern const struct report_kind report_export_folded;
/* The same as a file for speedscope. */
extern const struct report_kind report_export_speedscope;
/* A trace for Perfetto: switches and wake-ups of a whole machine, slices of threads where only some were recorded. */
extern const struct report_kind report_export_perfetto;

/* For the exports: a thread's process as its pid; a thread whose process is not known is one of its own. */
uint32_t report_export_pid(const struct report_view *view, uint32_t thread);

#endif
