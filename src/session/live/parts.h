/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_LIVE_PARTS_H
#define SESSION_LIVE_PARTS_H

/*
 * What a live session does with the events it observes: rules at work (unit), a recording (tape), or both, in which
 * case matches are marked in the recording and, where it is a flight tape, cause snapshots.
 */

#include "session/live/live.h"
#include "session/live/unit.h"
#include "session/record/tape.h"

struct session_parts {
	const struct session_rules *rules;
	const struct session_live_options *options;
	struct asterism_diag *diag;
	struct live_unit unit;                 /* of the rules; nothing is at work where there are none */
	struct tape *tape;                     /* NULL: nothing is recorded */
	bool rules_snap;                       /* rules CALL Snapshot(): then only these take any */
	bool failed;                           /* whoever is told of matches wants no more */
	bool must_go_on;                       /* somebody relies on more than being told */
	const char *pending;                   /* the rule whose match wants a snapshot */
	uint64_t last_snapshot_ns;             /* of a match */
	uint64_t snapshots, snapshots_refused; /* of matches */
};

/* Loads and attaches what options ask for; rules of veto run there. rules: NULL: none. As executor_new and tape_new. */
int session_parts_open(struct session_parts *parts, const struct session_rules *rules,
		       const struct session_live_options *options, struct veto *veto, struct asterism_diag *diag);
void session_parts_close(struct session_parts *parts);

/* Adds a process to the scope. */
int session_parts_add(struct session_parts *parts, pid_t pid);

/* As remaining_find. */
void session_parts_remaining(struct session_parts *parts, struct session_remaining *found);

/* Tells the rules and the recording what is there already, in so far as they ask. As seed_tell. */
int session_parts_seed(struct session_parts *parts, int waiting);

/* As live_unit_watch, for both. */
int session_parts_watch(const struct session_parts *parts, const struct live_loop *loop);

/*
 * As live_unit_poll. Where a rule may act or something is recorded, it is no reason to end that nobody wants to be told
 * of matches any more: then what on_match returns stays here, and session_parts_told gives 0 for such a result.
 */
int session_parts_poll(struct session_parts *parts, uint64_t *wait_ns);
int session_parts_told(struct session_parts *parts, int result);

/* Somebody wants what is recorded on the disk: a snapshot of a flight tape, or what a continuous one has. As
 * tape_snapshot. */
int session_parts_save(struct session_parts *parts, bool patient);

/* Somebody wants to see what a flight tape holds. As tape_snapshot. */
int session_parts_snapshot(struct session_parts *parts, const char *name, bool patient);

/* Ends the recording and counts everything. Returns 0 or -errno: something may not be told that was found. */
int session_parts_finish(struct session_parts *parts, struct session_totals *totals);

#endif
