/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_MONITOR_SENDING_H
#define CMD_MONITOR_SENDING_H

/* Where a monitor's events are sent as well, --to, and what is said of those that did not get there. */

#include "cmd/options/options.h"
#include "session/monitor/monitor.h"
#include "session/send/send.h"

struct sending {
	struct sender *sender; /* NULL: nowhere */
	struct asterism_diag *diag;
	const char *to;
};

/* Returns STATUS_FINE, or the status to end with after saying why. sending_close when the monitor is gone. */
int sending_open(struct sending *sending, const struct cli_arguments *arguments);
void sending_close(struct sending *sending);

/* Adds the evaluations. Returns 0, -errno and a sentence. */
int sending_add(struct sending *sending, struct monitor *monitor, struct asterism_diag *diag);

void sending_step(struct sending *sending);

/* When the monitor is gone: sends the rest, and says how much there was. Returns whether something is missing there. */
bool sending_finish(struct sending *sending);

#endif
