/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_MONITOR_LOOP_H
#define SESSION_MONITOR_LOOP_H

/*
 * Turns at the beginning of every period, each as long as there is something to do. One that goes on beyond the next
 * beginning is followed by the next at once. Time is a pair of functions, so that tests have one of their own.
 */

#include <stdbool.h>
#include <stdint.h>

struct monitor_loop_options {
	uint64_t period_ns;
	uint64_t (*now)(void *context);
	void (*sleep_until)(void *context, uint64_t at_ns);
	/* due_ns: when the turn should have begun. idle_ns: from when on there was nothing to do. Whether to go on. */
	bool (*turn)(void *context, uint64_t due_ns, uint64_t idle_ns);
	void *context;
};

void monitor_loop_run(const struct monitor_loop_options *options);

#endif
