/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_KIND_KINDS_H
#define REPORT_KIND_KINDS_H

/* The reports that there are, a file each; kinds.c has their order. */

#include "report/report.h"

extern const struct report_kind report_overview, report_timeline, report_processes, report_waits, report_path,
	report_priorities, report_latency, report_interruptions, report_rates, report_syscalls, report_faults,
	report_matches, report_sequences, report_slices;

/* All kinds in the order in which they are shown, ended by NULL. */
extern const struct report_kind *const report_kinds[];

#endif
