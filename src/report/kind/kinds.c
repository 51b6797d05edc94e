// SPDX-License-Identifier: BSD-2-Clause
/* Decides which reports there are, and their order. A new one is a file with a descriptor and a row here. */

#include "report/kind/kinds.h"

const struct report_kind *const report_kinds[] = {
	&report_overview, &report_timeline, &report_waits, &report_processes, &report_latency, &report_syscalls,
	&report_faults,   &report_slices,   NULL,
};
