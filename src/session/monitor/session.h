/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_MONITOR_SESSION_H
#define SESSION_MONITOR_SESSION_H

/* A monitor over the sensors of what is observed, from the beginning to the end: its rules, its matches, whom it
 * observes. */

#include "program/aggregate/aggregate.h"
#include "program/match.h"
#include "program/why/why.h"
#include "session/load/rules.h"
#include "session/monitor/beside.h"
#include "session/monitor/monitor.h"

struct monitor_session_options {
	struct monitor_options monitor; /* wants, record_bytes, in_scope, context and diag are the session's matter */

	/* Exactly one of these says who is observed. */
	char *const *command;
	const pid_t *pids;
	size_t pid_count;
	bool all;

	/* Types of sensors besides those of the rules: their numbers come behind those of the program. */
	const struct event_type *const *more;
	size_t more_count;

	uint64_t for_ns; /* 0: no limit */
	int signal_fd;   /* whose signals end the session, but SIGUSR1: on_status; SIGUSR2, SIGALRM */
	bool counts_why; /* what becomes of runs is counted, into why of the outcome */
	bool strict;     /* the first element that is lost or late ends it */

	/* More evaluations than the rules. 0, or -errno and a sentence. NULL: there are none. */
	int (*on_open)(void *context, struct monitor *monitor, struct asterism_diag *diag);
	/* What is promised; the sensors' figures are the monitor's. Everything is prepared. */
	void (*on_promise)(void *context, const struct monitor *monitor, const struct monitor_promise *promise);
	program_match_fn *on_match;
	/* What rules that are evaluated in time EMIT, in the evaluation itself: it is not to wait. NULL: no need. */
	void (*on_raise)(void *context, const struct event_header *record);
	void *raise_context;
	aggregate_report_fn *on_aggregate; /* NULL: nobody wants them */
	int (*on_pause)(void *context);    /* no more matches for now; as on_match */
	void (*on_violation)(void *context, const struct watch_violation *violation);
	void (*on_status)(void *context, const struct monitor *monitor);
	void *context;
};

enum monitor_session_end {
	MONITOR_COMMAND_ENDED,
	MONITOR_PIDS_ENDED,
	MONITOR_TIME_UP,
	MONITOR_SIGNALLED,
	MONITOR_MISSED, /* strict */
	MONITOR_STOPPED,
};

struct monitor_session_outcome {
	bool began;
	enum monitor_session_end end;
	int signal, command_status; /* as a shell has it */
	pid_t alive;                /* a command that goes on without us; 0: none */
	uint64_t elapsed_ns;
	bool is_cut;       /* elements are left that nobody has evaluated */
	uint64_t unqueued; /* matches that found no room on their way here */
	struct intake_counts counts;
	struct beside_counts beside;      /* of the rules that wait for events of the kernel */
	uint64_t rules_lost;              /* what the others have lost by themselves */
	struct program_rule_stats *rules; /* of the program, to be freed, as the next */
	struct program_why *why;          /* NULL: not asked for */
};

struct monitor_session;

/* What a monitor without rules has in their place. */
extern const struct program monitor_no_program;

/*
 * Prepares, and begins. rules may be NULL. Returns 0 with *made; as monitor_new and monitor_admit, beside_new and
 * beside_start, launch_prepare; with a sentence. Rules and options are borrowed.
 */
int monitor_session_open(const struct session_rules *rules, const struct monitor_session_options *options,
			 struct asterism_diag *diag, struct monitor_session **made);

/* Runs to the end. *outcome->rules is to be freed. Returns 0, what a callback returned, -errno. */
int monitor_session_run(struct monitor_session *session, struct monitor_session_outcome *outcome);

/* Its counts, until it is closed. */
const struct monitor *monitor_session_monitor(const struct monitor_session *session);
void monitor_session_close(struct monitor_session *session);

#endif
