/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef API_MONITOR_PRIV_H
#define API_MONITOR_PRIV_H

/* What the files of a program's monitor share: monitor.c has its sensors and updates, monitor-rules.c its rules. */

#include "api/api-priv.h"

#include "session/monitor/monitor.h"

struct attached;

struct asterism_monitor {
	struct asterism_session *session;
	struct asterism_monitor *next;
	struct asterism_monitor_options options;
	struct event_catalog *catalog;
	struct stream_wants wants;
	struct monitor_declared *declared;
	struct executor *scope;
	struct monitor *engine;
	struct attached *attached; /* units of rules */
	struct monitor_promise promise;
	struct asterism_diag *diag, *news; /* what the engine says; what was handed out */
	uint64_t untold;                   /* matches that found no room, of units that are gone */
	bool runs, has_ended;
};

/* Hands out what rules have found. Returns 0, or what a callback returned. */
int api_monitor_rules_take(struct asterism_monitor *monitor);

/* Matches that found no room. */
uint64_t api_monitor_rules_untold(const struct asterism_monitor *monitor);

#endif
