/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

/*
 * A session binds rules to a source of events and hands out matches: live, from the running kernel, or replayed, from
 * recorded events. A session call runs to its end in the calling thread; matches come through the callback, in order,
 * the counts afterwards.
 */

#include "base/diag.h"
#include "program/match.h"
#include "react/tally.h"
#include "session/verdict/asks.h"
#include "session/load/policy.h"
#include "session/verdict/reactions.h"
#include "session/load/rules.h"
#include "session/record/tape.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* What a session counted. */
struct session_totals {
	uint64_t events;
	uint64_t lost;    /* everything lost, all rules together */
	uint64_t missing; /* of these, what an input says that it lacks; it counts for every rule */
	uint64_t elapsed_ns;
	struct program_rule_stats *rules; /* one per rule of the program */
	uint32_t rule_count;
	uint32_t threads;             /* of a replay: how many matched */
	uint32_t divided;             /* rules that several of them shared */
	bool repeated;                /* sharing a rule did not do, so the replay began again without */
	struct tape_totals tape;      /* of a recording */
	struct react_tallies tallies; /* counters and histograms of the rules */
	uint64_t stops_refused;       /* processes that were not stopped: too many are */
	uint64_t asks_lost;           /* questions that got their default answer without being told */
	struct reactions_refusals refusals;
};

/* Events that rules did not see because something in them could not be read, all rules together. */
uint64_t session_totals_unread(const struct session_totals *totals);

void session_totals_fini(struct session_totals *totals);

enum session_engine { SESSION_ENGINE_USER, SESSION_ENGINE_KERNEL };

struct session_progress {
	uint64_t events;
	uint64_t bytes_read, bytes_total; /* total 0: unknown */
};

/* Matches that get a snapshot of their own: so many at most, and none within a second of another. */
enum { SESSION_SNAPSHOTS_MAX = 64 };

/* A point in the time of the inputs. */
struct session_moment {
	uint64_t ns;
	bool since_start; /* counted from the first event of all inputs, else as their events have it */
};

struct session_replay_options {
	const char *const *files; /* of events; "-" is standard input. Several are merged by time */
	size_t file_count;
	bool relaxed; /* a single file of JSON lines may be written as tests are (trace/jsonl/jsonl.h) */
	const struct session_moment *from, *to; /* events before from, and at or after to, are left out; NULL: none */
	const char *remedy; /* what to tell who lacks recorded events: how to record what the rules need; may be NULL */
	enum session_engine engine;
	/*
	 * How many threads the user-space engine may use for matching; 0 or 1: the calling one. With more, matches are
	 * the same and in the same order, but come some thousand events later. Inputs that can be read again may be
	 * read again.
	 */
	uint32_t jobs;
	program_match_fn *on_match;
	void (*on_progress)(void *context, const struct session_progress *progress); /* NULL: none */
	void *context;                                                               /* of both */
	const volatile sig_atomic_t *stop; /* becomes true when the session is to end; NULL: never */
};

/*
 * Replays files of events. Returns 0 with *totals, also when stopped; -EINVAL (an input is wrong, the diag says
 * where), -ENOMEM, what on_match returned, or, with SESSION_ENGINE_KERNEL, -EPERM or -EOPNOTSUPP. *totals is always
 * valid and to be freed with session_totals_fini.
 */
int session_replay(const struct session_rules *rules, const struct session_replay_options *options,
		   struct asterism_diag *diag, struct session_totals *totals);

struct session_live_options {
	/* Exactly one of these says what is observed. */
	char *const *command; /* launched; it and its descendants */
	const pid_t *pids;    /* these processes and their descendants, until the last of these ends */
	size_t pid_count;
	bool no_children; /* of pids: without descendants */
	bool all;         /* every process but the own one */
	bool to_the_last; /* command, pids: until none of the descendants is left, either */

	const struct tape_options *tape; /* a recording to make, scope left to the session; NULL: none */
	const char *last_snapshot;       /* of a flight tape, under this name at the end; NULL: none */

	const struct session_policy *policy; /* what rules may do; NULL: nothing that changes the system */

	session_ask_fn
		*on_ask; /* answers the questions of rules (CALL Ask), or says that asks_answer will; may be NULL */
	const char *ask_command; /* a command that answers them (ask-command.h), where on_ask is NULL; may be NULL */

	uint64_t for_ns; /* how long at most; 0: no limit */
	int signal_fd; /* a signalfd whose signals end the session, but SIGUSR1 (what is recorded is written), SIGUSR2,
			  SIGALRM; -1: none */
	program_match_fn *on_match;
	/*
	 * Everything is attached and the command, which has the caller's signals as they were, waits. Now is the time
	 * to take the signals of signal_fd and to ignore SIGPIPE: before, they may end the process.
	 */
	void (*on_start)(void *context);
	/* No more matches for now: write them out, and what the diag has got meanwhile; as on_match. NULL: no need. */
	int (*on_pause)(void *context);
	/* Now and then, how a recording is going. NULL: no need. */
	void (*on_progress)(void *context, const struct tape_totals *totals);
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

enum { SESSION_REMAINING_NAMED = 8 };

/* Observed processes that run on without the session: how many, and the first of them. */
struct session_remaining {
	size_t count;
	pid_t pids[SESSION_REMAINING_NAMED];
};

struct session_outcome {
	bool began; /* else nothing was observed, and nothing else of this counts */
	enum session_end end;
	int signal;         /* SIGNALLED: which */
	bool command_alive; /* a launched command goes on without the session */
	pid_t command_pid;
	struct session_remaining remaining; /* COMMAND_ENDED, PIDS_ENDED: what outlives these */
	int command_status;                 /* as a shell has it: exit status, or 128 + signal */
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

#endif
