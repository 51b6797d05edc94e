/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef API_API_PRIV_H
#define API_API_PRIV_H

/* What sessions, units of rules and matches know of each other. */

#include "api/export.h"

#include "program/values.h"
#include "session/executor.h"
#include "session/launch.h"

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
	struct executor *executor; /* NULL: not active */
	bool leaving;              /* deactivated in a callback: hands out nothing, goes when the dispatch is over */
	bool unloading;            /* the same for the unit */
	struct session_totals past, now;
	struct program_values *layouts;       /* per rule */
	struct session_placement *placements; /* likewise */
	uint64_t matches;                     /* handed out */
	void *context;
	int burst;   /* matches of rules in the kernel, in this dispatch */
	bool paused; /* there may be more, but others have their turn */
};

/*
 * How many matches of one unit a dispatch hands out at most, so that it ends however fast they come. This holds for
 * rules in the kernel, whose matches wait in a ring; the engine cannot stop in the middle of an event without losing
 * the rest of it, and its events are bounded by what was in the ring when the dispatch began.
 */
enum { API_BURST_MAX = 1024 };

struct asterism_match {
	struct asterism_rules *unit;
	const struct program_match *found;
};

/* The callback of the executors; context is the unit. */
int api_on_match(void *context, const struct program_match *found);

/* Adds the processes of the session to the scope of an executor that has just been made. */
int api_processes_enter(struct asterism_session *session, struct executor *executor);

/* Handles the end of process pid, as its descriptor tells. */
void api_process_ended(struct asterism_session *session, pid_t pid);

/* Forgets all processes. */
void api_processes_fini(struct asterism_session *session);

/* Takes notice of an executor: its descriptor wakes the session, and the next dispatch is at once. */
int api_session_watch(struct asterism_session *session, struct executor *executor);

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
