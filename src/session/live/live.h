/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_LIVE_LIVE_H
#define SESSION_LIVE_LIVE_H

/*
 * A live session for event loops: opened, stepped whenever its descriptor is readable, finished, closed. session_live
 * is the loop for those that have none of their own. Belongs to one thread at a time; rules, options and diag are
 * borrowed until live_close.
 */

#include "session/session.h"

struct live;

/*
 * Holds what is observed, attaches, and lets the command run. Results as session_live; *made is stored on success only,
 * and nothing stays attached without it.
 */
int live_open(const struct session_rules *rules, const struct session_live_options *options, struct asterism_diag *diag,
	      struct live **made);

/* Polls readable when live_step has something to do, time that has passed included. */
int live_fd(const struct live *live);

/*
 * Does what is due, hands out matches, never blocks. Returns 0 while the session goes on, 1 once it has ended, what a
 * callback returned (then it has ended, too), or -errno.
 */
int live_step(struct live *live);

/*
 * Takes the last snapshot, ends the recording, counts into *totals (with room for every rule) and detaches; no event is
 * seen after this. Returns 0 or -errno of a recording that could not be ended.
 */
int live_finish(struct live *live, struct session_totals *totals);

/*
 * What is left to do for a launched command once nothing is observed any more; this may block: one that ran out of time
 * is told to end and given two seconds, one whose session was stopped is waited for, signal_fd permitting. Stores how
 * it all ended.
 */
void live_part(struct live *live, struct session_outcome *outcome);

/* Detaches, closes everything; a running command is left alone. NULL is fine. */
void live_close(struct live *live);

#endif
