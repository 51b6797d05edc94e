/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_MONITOR_MEASURED_H
#define CMD_MONITOR_MEASURED_H

/* What a monitor measures: of which sensors, and when it is told. */

#include "cmd/measure/measuring.h"
#include "expose/server.h"
#include "session/load/rules.h"
#include "session/monitor/monitor.h"

struct measured {
	struct measuring measuring;
	struct expose_server *server; /* NULL: nobody asks for metrics */
	struct event_catalog *own;    /* where there are no rules that have one; else NULL */
	const struct event_type **types;
	size_t type_count;
};

/*
 * Finds out which sensors the measures mean; rules may be NULL. Returns STATUS_FINE, or the status to end with after
 * saying why. measured_close either way, when the monitor is gone.
 */
int measured_open(struct measured *measured, const struct cli_arguments *arguments, struct sink *sink,
		  const struct session_rules *rules);
void measured_close(struct measured *measured);

/* Adds the evaluations. Returns 0, -errno and a sentence. */
int measured_add(struct measured *measured, struct monitor *monitor, struct asterism_diag *diag);

/* Tells what is due. Returns 0, -errno: there is nowhere to tell it any more. */
int measured_tell(struct measured *measured);

/* Tells all, when the monitor has ended. */
void measured_end(struct measured *measured);

#endif
