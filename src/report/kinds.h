/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_KINDS_H
#define REPORT_KINDS_H

/* The reports that there are, a file each; kinds.c has their order. */

#include "report/report.h"

extern const struct report_kind report_overview, report_timeline, report_latency, report_slices;

#endif
