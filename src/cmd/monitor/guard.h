/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_MONITOR_GUARD_H
#define CMD_MONITOR_GUARD_H

/*
 * Keeps a monitor in real time from taking the machine: who runs for too long without waiting gets SIGXCPU, which
 * counts it, and makes it an ordinary thread where the kernel sets no limit by itself. One at a time.
 */

#include "session/monitor/monitor.h"

/* The signal is taken from here on. */
void guard_take_signal(void);

/* The kernel sends it for the monitor from here on. What was launched before has no limit of ours. */
void guard_begin(struct monitor *monitor, uint64_t period_ns);
void guard_end(void);

#endif
