/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_LIVE_COMPONENTS_H
#define SESSION_LIVE_COMPONENTS_H

/*
 * What a live session does with the events it observes: rules at work (unit), a recording (recording), or both, in
 * which case matches are marked in the recording and, where it is a flight recording, cause snapshots.
 */

#include "session/live/live.h"
#include "session/live/unit.h"
#include "session/record/recording.h"

struct session_components {
	const struct session_rules *rules;
	const struct session_live_options *options;
	struct asterism_diag *diag;
	struct live_unit unit;                 /* of the rules; nothing is at work where there are none */
	struct recording *recording;           /* NULL: nothing is recorded */
	bool rules_snap;                       /* rules CALL Snapshot(): then only these take any */
	bool failed;                           /* the consumer of matches wants no more */
	int seeded;                            /* what polling came to while seeding; 0 */
	bool must_go_on;                       /* somebody relies on more than being told */
	const char *pending;                   /* the rule whose match wants a snapshot */
	uint64_t last_snapshot_ns;             /* of a match */
	uint64_t snapshots, snapshots_refused; /* of matches */
};

/* Loads and attaches what options ask for; rules of veto run there. rules: NULL: none. As executor_new and
 * recording_new. */
int session_components_open(struct session_components *components, const struct session_rules *rules,
			    const struct session_live_options *options, struct veto *veto, struct asterism_diag *diag);
void session_components_close(struct session_components *components);

/* Adds a process to the scope. */
int session_components_add(struct session_components *components, pid_t pid);

/* As remaining_find. */
void session_components_remaining(struct session_components *components, struct session_remaining *found);

/* Tells the rules and the recording what is there already, in so far as they ask. Returns 0, -ENOMEM. */
int session_components_seed(struct session_components *components, int waiting);

/* As live_unit_watch, for both. */
int session_components_watch(const struct session_components *components, const struct live_loop *loop);

/*
 * As live_unit_poll. Where a rule may act or something is recorded, it is no reason to end that there is no consumer
 * left of matches any more: then what on_match returns stays here, and session_components_reported gives 0 for such a
 * result.
 */
int session_components_poll(struct session_components *components, uint64_t *wait_ns);
int session_components_reported(struct session_components *components, int result);

/* Somebody wants what is recorded on the disk: a snapshot of a flight recording, or what a continuous one has. As
 * recording_snapshot. */
int session_components_save(struct session_components *components, bool patient);

/* Somebody wants to see what a flight recording holds. As recording_snapshot. */
int session_components_snapshot(struct session_components *components, const char *name, bool patient);

/* Ends the recording and counts everything. Returns 0 or -errno: something may not be told that was found. */
int session_components_finish(struct session_components *components, struct session_totals *totals);

#endif
