/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_OBSERVE_H
#define CMD_OBSERVE_H

/* What the commands that observe the running system have in common: whom, and until when. */

#include "base/diag.h"
#include "cmd/options/options.h"
#include "session/live/filter.h"
#include "session/session.h"

#include <signal.h>

/* An observation about to be made. */
struct observation {
	struct session_live_options options;
	struct asterism_diag *diag; /* of the session */
	sigset_t taken;             /* the signals that come through options.signal_fd */
	bool verbose;
	uint64_t begun_ns;   /* when the preparations began */
	uint64_t started_ns; /* when they ended */
	struct live_filter *filter;
	pid_t *pids;
	struct session_policy policy;
};

/*
 * Fills the options that the arguments decide: command, pids, all, for_ns, signal_fd. Returns STATUS_FINE, or the
 * status to end with after saying why. observe_fini either way.
 */
int observe_init(struct observation *observation, const struct cli_arguments *arguments);
void observe_fini(struct observation *observation);

/*
 * To be called from on_start. From here on the signals come through their descriptor, and a closed pipe is an error
 * code; a signal that came earlier, perhaps during a long load, has ended the process with a word, and the kernel has
 * cleaned up.
 * What was said on the way here is told before the first match.
 */
void observe_start(struct observation *observation);

/*
 * What a recording holds: what the rules (NULL: none) look at, and what -e asks for. Without -e, and where there are
 * no rules or a snapshot is to tell what led to a match, what usual says. Returns STATUS_FINE, or the status
 * to end with after saying why. selection_fini either way.
 */
int observe_select(const struct cli_arguments *arguments, const struct session_rules *rules,
		   struct event_catalog *catalog, const char *usual, struct selection *selection);

/* Takes what rules may do from the arguments. Returns as observe_select. */
int observe_allow(struct observation *observation, const struct cli_arguments *arguments);

/* What the user should know after a session. */
void observe_report_end(const struct observation *observation, const struct session_outcome *outcome,
			const struct session_totals *totals);

/* What became of processes that rules wanted to stop, where that needs a word. */
void observe_report_stops(const struct session_totals *totals);

/* That matches have no snapshot of their own, where that is so. */
/* What came up meanwhile, while somebody may still do something about it. */
void observe_report_news(struct observation *observation);

/* Whether a recording lacks something: then the status is STATUS_LOST. */
bool observe_report_unwritten(const struct recording_totals *totals);

void observe_report_refused(const struct recording_totals *totals);

#endif
