/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef API_API_PRIV_H
#define API_API_PRIV_H

/* What sessions, units of rules and matches know of each other. */

#include "api/export.h"

#include "event/source.h"
#include "program/values.h"
#include "session/executor/placement.h"
#include "session/live/filter.h"
#include "session/live/processes.h"
#include "session/live/unit.h"
#include "session/load/rules.h"
#include "session/output/place.h"

#include <stdbool.h>

enum { API_ERROR_BYTES = 512 };

struct asterism_session {
	struct asterism_session_options options;
	struct asterism_diag *diag;
	char *error; /* API_ERROR_BYTES; what asterism_session_error tells */
	struct live_loop loop;
	struct asterism_rules *units; /* newest first */
	struct asterism_recording *recordings;
	struct asterism_monitor *monitors;
	struct live_processes processes; /* added or launched, and not ended */
	struct session_policy policy;
	bool has_policy;              /* else calls are only reported */
	int measure_fd;               /* the kernel measures as long as it is open; -1: it need not */
	struct live_filter *filter;   /* NULL: none */
	struct event_machine machine; /* of the events */
	struct places places;         /* of their processes */
	bool names_processes;         /* their ids are those of our pid namespace */
	uint32_t last_unit;
	uint64_t matches;                /* handed out */
	uint64_t past_events, past_lost; /* of units that are gone */
	int handed;                      /* matches, in this dispatch */
	int answer;                      /* the first error of a callback that could not end the dispatch at once */
	bool dispatching;
	bool doomed; /* freed in a callback of this dispatch */
};

struct asterism_rules {
	struct asterism_session *session;
	struct asterism_rules *next;
	char *name;
	struct session_rules *rules;
	const struct program *program;
	uint32_t number; /* names the unit in tickets */
	struct live_unit
		work;      /* executor NULL: not active; muted: deactivated in a callback, ends after the dispatch */
	bool answered;     /* on_match was asked, and so is not told once more */
	uint32_t attached; /* so many monitors still have it */
	bool unloading;    /* in a callback: goes when the dispatch is over */
	struct session_totals past, now;
	struct ebpf_run_time past_time;
	struct react_tallies tallies;
	struct session_placement *placements; /* per rule */
	struct program_values *layouts;       /* likewise */
	uint64_t matches;                     /* handed out */
	void *context;
};

struct asterism_match {
	struct asterism_rules *unit;
	const struct program_match *found;
	char *warning; /* once it was asked for */
};

/* What a unit hands out before it is others' turn. */
enum { API_BATCH = 1024 };

enum { API_TICKET_BITS = 40 };

/* The verdict that an answer of a callback stands for. */
enum session_verdict api_verdict_of(int answer);

/* A session_ask_fn; context is the unit. */
enum session_verdict api_on_ask(void *context, const struct program_match *found, const struct session_ask *ask);

/* Tells a match as it is; context is the unit. */
int api_report(void *context, const struct program_match *found);

/* Hands out a table; context is the unit. */
int api_on_aggregate(void *context, const struct aggregate_report *report);

/* Puts the unit to work, and lets it wake the session. Results as asterism_rules_activate. */
int api_work_open(struct asterism_rules *rules);

/*
 * Ends all questions with their default answers, adds to the past, and frees everything. api_work_finish hands out what
 * was found until then and returns the first failure; api_work_close reports nothing.
 */
int api_work_finish(struct asterism_rules *rules);
void api_work_close(struct asterism_rules *rules);

/* Takes the policy out of the options. Returns 0 or -Exxx with a message. */
int api_policy_open(struct asterism_session *session);

/* Adds the processes of the session to the scope of a unit that has just been put to work. */
int api_processes_enter(struct asterism_session *session, struct live_unit *work);

/* Adds a process to what is recorded. */
int api_recordings_enter(struct asterism_session *session, pid_t pid);

/* Looks after recordings; lessens *wait_ns. */
void api_recordings_poll(struct asterism_session *session, uint64_t *wait_ns);

/* Adds a process to what is monitored. */
int api_monitors_enter(struct asterism_session *session, pid_t pid);

/* Takes the unit out of all monitors, which give it back in a dispatch to come. */
void api_monitors_forget(struct asterism_rules *rules);

/* Looks after monitors; lessens *wait_ns. */
int api_monitors_poll(struct asterism_session *session, uint64_t *wait_ns);

/* What a session observes, as programs have it. */
static inline enum ebpf_scope api_scope_of(const struct asterism_session *session)
{
	switch (session->options.scope) {
	case ASTERISM_SCOPE_PIDS:
		return EBPF_SCOPE_PIDS;
	case ASTERISM_SCOPE_ALL:
		return EBPF_SCOPE_ALL;
	default:
		return EBPF_SCOPE_TREE;
	}
}

/* Handles the end of a process, if that is what woke the session. */
void api_process_ended(struct asterism_session *session, uint64_t woken);

/* Deactivates and frees at once; no thread may be inside the executor. */
void api_rules_free(struct asterism_rules *rules);

/* Does what callbacks of the dispatch have asked for. */
void api_rules_settle(struct asterism_session *session);

/* Sums up past and present into rules->now. */
void api_rules_count(const struct asterism_rules *rules);

/* No event after this: what rules->work has counted becomes the past. */
int api_rules_finish(struct asterism_rules *rules);

#endif
