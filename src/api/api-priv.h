/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef API_API_PRIV_H
#define API_API_PRIV_H

/* What sessions, units of rules and matches know of each other. */

#include "api/export.h"

#include "program/values.h"
#include "session/executor/executor.h"
#include "session/executor/place.h"
#include "session/live/launch.h"
#include "session/load/rules.h"
#include "session/verdict/responses.h"

#include <stdbool.h>

/* A process that was added or launched and has not ended. */
struct api_process {
	pid_t pid;
	int pidfd;
	bool launched; /* then pidfd is the launch's */
};

enum { API_ERROR_BYTES = 512 };

struct asterism_session {
	struct asterism_session_options options;
	struct asterism_diag *diag;
	char *error; /* API_ERROR_BYTES; what asterism_session_error tells */
	int epoll_fd, timer_fd;
	struct asterism_rules *units; /* newest first */
	struct api_process *processes;
	size_t process_count, process_capacity;
	struct launch launch;
	struct session_policy policy;
	bool has_policy; /* else calls are only reported */
	int measure_fd;  /* the kernel measures as long as it is open; -1: it need not */
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
	uint32_t number;            /* names the unit in tickets */
	struct executor *executor;  /* NULL: not active */
	struct responses responses; /* likewise empty */
	bool answered;              /* on_match was asked, and so is not told once more */
	bool leaving;               /* deactivated in a callback: hands out nothing, goes when the dispatch is over */
	bool unloading;             /* the same for the unit */
	struct session_totals past, now;
	struct ebpf_run_time past_time;
	uint64_t past_asks_lost, past_stops_refused;
	struct react_tallies past_tallies, tallies;
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

/* The callback of the executors; context is the unit. */
int api_on_match(void *context, const struct program_match *found);

/* A session_ask_fn; context is the unit. */
enum session_verdict api_on_ask(void *context, const struct program_match *found, const struct session_ask *ask);

/* Tells a match as it is; context is the unit. */
int api_tell(void *context, const struct program_match *found);

/* Puts the unit to work: executor, reactions, questions. Results as asterism_rules_activate. */
int api_work_open(struct asterism_rules *rules);

/* Ends all questions with their default answers, tells nobody, adds to the past, and frees everything. */
void api_work_close(struct asterism_rules *rules);

/* As executor_poll, for everything that is at work. */
int api_work_poll(struct asterism_rules *rules, uint64_t *wait_ns);

/* As asterism_ask_answer, ticket being the unit's own. */
int api_work_answer(struct asterism_rules *rules, uint64_t ticket, enum session_verdict verdict);

/* Takes the policy out of the options. Returns 0 or -Exxx with a message. */
int api_policy_open(struct asterism_session *session);

/* Adds the processes of the session to the scope of an executor that has just been made. */
int api_processes_enter(struct asterism_session *session, struct executor *executor);

/* Handles the end of process pid, as its descriptor tells. */
void api_process_ended(struct asterism_session *session, pid_t pid);

/* Forgets all processes. */
void api_processes_fini(struct asterism_session *session);

/* Takes notice of a unit at work: its descriptors wake the session, and the next dispatch is at once. */
int api_session_watch(struct asterism_session *session, const struct asterism_rules *rules);

/* Adds a descriptor to those that wake the session. Returns 0 or -errno with a message. */
int api_session_wake_on(struct asterism_session *session, int fd, uint64_t data);

/* What the descriptors of a session are for; a process's number stands above API_WAKE_BITS. */
enum api_wake { API_WAKE_TIMER, API_WAKE_RULES, API_WAKE_PROCESS };
enum { API_WAKE_BITS = 8 };

/* Deactivates and frees at once; nobody may be inside the executor. */
void api_rules_free(struct asterism_rules *rules);

/* Does what callbacks of the dispatch have asked for. */
void api_rules_settle(struct asterism_session *session);

/* Sums up past and present into rules->now. */
void api_rules_count(const struct asterism_rules *rules);

#endif
