/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_MONITOR_RAISING_H
#define CMD_MONITOR_RAISING_H

/* What rules of a monitor EMIT, as events of sensors of this process's own (--raise): other monitors, sessions and
 * recordings see them like those of any application, so that one may evaluate what another one has found. */

#include "cmd/options/options.h"
#include "session/load/rules.h"
#include "session/monitor/monitor.h"

struct raising;

/* *made stays NULL where nothing is asked for. Returns STATUS_FINE, or the status to end with after saying why. */
int raising_open(const struct cli_arguments *arguments, const struct session_rules *rules, struct raising **made);
void raising_close(struct raising *raising);

/* Makes the types known, while the monitor serves the directory. Says what went wrong. raising may be NULL. */
void raising_begin(struct raising *raising, struct monitor *monitor);

/* An event that a rule has raised. The evaluator's: no memory, no lock, no call. */
void raising_take(void *raising, const struct event_header *record);

/* Says how many there were. */
void raising_end(const struct raising *raising);

#endif
