/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_SAMPLE_H
#define REPORT_SAMPLE_H

/* A machine that never was: threads that run, wait and wake each other, as the pass would tell of them. */

#include "report/report.h"

struct sample {
	uint32_t cpus, threads, threads_of_process;
	uint64_t slices; /* about so many */
	uint32_t seed;
	bool is_hostile; /* names that attack */
};

/* Tells report all of it, the end included. Returns 0 or what the report returned. */
int sample_tell(const struct sample *sample, const struct report_kind *kind, struct report **made);
/* Of the sample that was told last. */
extern struct report_view sample_view;

/* What report_page is limited to; 0: nothing. */
extern uint64_t sample_limit;

#endif
