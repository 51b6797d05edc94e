// SPDX-License-Identifier: BSD-2-Clause
/* Begins the turns of a monitor on time. */

#include "session/monitor/loop.h"

void monitor_loop_run(const struct monitor_loop_options *options)
{
	uint64_t idle = options->now(options->context), due = idle;

	do {
		due += options->period_ns;
		/* Beginnings that are past are one. */
		if (idle > due)
			due += (idle - due) / options->period_ns * options->period_ns;
		if (idle < due)
			options->sleep_until(options->context, due);
		if (!options->turn(options->context, due, idle))
			return;
		idle = options->now(options->context);
	} while (true);
}
