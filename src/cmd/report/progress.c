// SPDX-License-Identifier: BSD-2-Clause
/* Shows progress to somebody who waits. */

#include "cmd/report/progress.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { FIRST_NS = 1000000000, EVERY_NS = 250000000 };

void progress_show(struct progress *progress)
{
	uint64_t now = clock_now_ns(), total = progress->source->bytes_total;

	if (!isatty(STDERR_FILENO))
		return;
	if (!progress->began_ns)
		progress->began_ns = now;
	if (now - progress->began_ns < FIRST_NS || now - progress->shown_ns < EVERY_NS)
		return;
	progress->shown_ns = now;
	progress->is_shown = true;
	fprintf(stderr, "\r\033[K%" PRIu64 " events", progress->events);
	if (total)
		fprintf(stderr, ", %.0f %%", (double)event_source_position(progress->source) * 100 / (double)total);
	fflush(stderr);
}

void progress_hide(struct progress *progress)
{
	if (progress->is_shown)
		fputs("\r\033[K", stderr);
	progress->is_shown = false;
}
