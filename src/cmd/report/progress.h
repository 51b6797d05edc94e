/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_REPORT_PROGRESS_H
#define CMD_REPORT_PROGRESS_H

/* How far the reading of long inputs is, on a terminal. */

#include "event/source.h"

struct progress {
	const struct event_source *source;
	uint64_t events, shown_ns, began_ns;
	bool is_shown;
};

enum { PROGRESS_EVENTS = 1 << 18 };

void progress_show(struct progress *progress);
void progress_hide(struct progress *progress);

static inline void progress_count(struct progress *progress)
{
	if (++progress->events % PROGRESS_EVENTS == 0)
		progress_show(progress);
}

#endif
