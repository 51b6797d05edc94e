/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_LIVE_LIVE_H
#define SESSION_LIVE_LIVE_H

/*
 * A live session for event loops: opened, stepped whenever its descriptor is readable, finished, closed. session_live
 * is the loop for those that have none of their own. Belongs to one thread at a time; rules, options and diag are
 * borrowed until live_close.
 */

#include "base/diag.h"
#include "program/aggregate/aggregate.h"
#include "session/live/remaining.h"
#include "session/load/policy.h"
#include "session/load/rules.h"
#include "session/output/totals.h"
#include "session/record/recording.h"
#include "session/verdict/requests.h"

#include <stdbool.h>
#include <sys/types.h>

/* Matches that get a snapshot of their own: so many at most, and none within a second of another. */
enum { SESSION_SNAPSHOTS_MAX = 64 };

struct session_live_options {
	/* Exactly one of these says what is observed. */
	char *const *command; /* launched; it and its descendants */
	const pid_t *pids;    /* these processes and their descendants, until the last of these ends */
	size_t pid_count;
	bool no_children;                       /* of pids: without descendants */
	bool all;                               /* every process but the own one */
	const struct ebpf_scope_filter *filter; /* of these the ones that pass, and their descendants; NULL: all */
	bool to_the_last;                       /* command, pids: until none of the descendants is left, either */

	const struct recording_options *recording; /* a recording to make, scope left to the session; NULL: none */
	const char *last_snapshot;                 /* of a flight recording, under this name at the end; NULL: none */

	const struct session_policy *policy; /* what rules may do; NULL: nothing that changes the system */

	session_ask_fn
		*on_ask; /* answers the questions of rules (CALL Ask), or says that requests_answer will; may be NULL */
	const char *ask_command; /* a command that answers them (ask-command.h), where on_ask is NULL; may be NULL */

	uint64_t for_ns; /* how long at most; 0: no limit */
	int signal_fd; /* a signalfd whose signals end the session, but SIGUSR1 (what is recorded is written), SIGUSR2,
			  SIGALRM; -1: none */
	bool counts_why; /* what becomes of runs is counted, into totals->why */
	program_match_fn *on_match;
	enum severity least_severity;      /* of rules whose matches have snapshots */
	aggregate_report_fn *on_aggregate; /* NULL: nobody wants them */
	/*
	 * Everything is attached and the command, which has the caller's signals as they were, waits. Now is the time
	 * to take the signals of signal_fd and to ignore SIGPIPE: before, they may end the process.
	 */
	void (*on_start)(void *context);
	/* No more matches for now: write them out, and what the diag has got meanwhile; as on_match. NULL: no need. */
	int (*on_pause)(void *context);
	/* A rule has refused a run, or replaced one for want of a place, the first time. NULL: no need. */
	void (*on_crowd)(void *context, uint32_t rule, const struct program_rule_stats *stats);
	/* A rule that looks for calls has met 32-bit ones, or io_uring, for the first time. NULL: no need. */
	void (*on_bypass)(void *context, uint32_t rule, const struct program_rule_stats *stats);
	/* Now and then, how a recording is going. NULL: no need. */
	void (*on_progress)(void *context, const struct recording_totals *totals);
	void *context; /* of all of these */
};

/* How a live session ended. */
enum session_end {
	SESSION_COMMAND_ENDED, /* the command has ended; see command_status */
	SESSION_PIDS_ENDED,
	SESSION_TIME_UP,
	SESSION_SIGNALLED,
	SESSION_STOPPED, /* on_match wanted it, or the session could not go on */
};

struct session_outcome {
	bool began; /* else nothing was observed, and nothing else of this counts */
	enum session_end end;
	int signal;         /* SIGNALLED: which */
	bool command_alive; /* a launched command goes on without the session */
	pid_t command_pid;
	struct session_remaining remaining; /* COMMAND_ENDED, PIDS_ENDED: what outlives these */
	int command_status; /* as a shell has it: exit status, or 128 + signal; of one that is alive, the session's
			       signal */
};

/*
 * Observes the running system, by rules (NULL: none), a recording, or both. Notes on rules that run in user space go to
 * the diag before the first event. Returns 0 with *totals and *outcome; -EINVAL (no such command, process gone, a
 * SYNCHRONOUS rule that cannot run in the kernel), -EPERM, -EOPNOTSUPP (the kernel lacks something), -ENOMEM, what
 * on_match returned. Where a rule may act or something is recorded, the session lasts until what it observes has ended,
 * whatever on_match returns and whatever fails; then *outcome says that it began and the result what failed. Nothing
 * stays attached either way. *totals is always valid and to be freed with session_totals_fini.
 */
int session_live(const struct session_rules *rules, const struct session_live_options *options,
		 struct asterism_diag *diag, struct session_totals *totals, struct session_outcome *outcome);

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
