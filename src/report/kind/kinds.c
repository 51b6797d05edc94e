// SPDX-License-Identifier: BSD-2-Clause
/* The table of reports, in their order. A new one is a file with a descriptor and a row here. */

#include "report/kind/kinds.h"

const struct report_kind *const report_kinds[] = {
	&report_overview,   &report_timeline, &report_processes,     &report_waits,  &report_path,
	&report_priorities, &report_latency,  &report_interruptions, &report_rates,  &report_syscalls,
	&report_faults,     &report_matches,  &report_sequences,     &report_slices, NULL,
};
