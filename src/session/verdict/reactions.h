/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_VERDICT_REACTIONS_H
#define SESSION_VERDICT_REACTIONS_H

/*
 * What a session does at a match beyond telling it: the calls of the rule that the kernel's programs have not done
 * already. Belongs to the session's thread.
 */

#include "program/match.h"
#include "react/actions/agent.h"
#include "react/stops.h"
#include "session/load/policy.h"
#include "session/output/totals.h"

struct reactions;

struct reactions_options {
	const struct session_policy *policy; /* NULL: nothing that changes the system */
	struct asterism_diag *stops;         /* whom a rule has stopped and no rule lets go on; outlives this; NULL */
	bool recorded;                       /* the events are long past: only counters and histograms make sense */
	struct react_agent_options agent;
};

int reactions_new(const struct program *program, const struct reactions_options *options, struct asterism_diag *diag,
		  struct reactions **made);
/* Process pid is observed from now on; it may end before its matches are handed out. */
void reactions_follow(struct reactions *reactions, pid_t pid);
void reactions_free(struct reactions *reactions);

/* Who does what is left to this process. */
struct react_agent *reactions_agent(const struct reactions *reactions);

/* Per statement of the program: whether the kernel's programs may do it. */
const bool *reactions_allowed(const struct reactions *reactions);

/*
 * Does what match asks for. *told is the match with what became of its calls, valid until the next call; false: it
 * need not be reported.
 */
bool reactions_do(struct reactions *reactions, const struct program_match *match, struct program_match *reported);

/* Whether a rule may change the system. */
bool reactions_may_act(const struct reactions *reactions);

/* Whether some rule calls action. */
bool reactions_call(const struct reactions *reactions, const struct react_action *action);

/* The kernel's programs note their stops there; what the undo knows is no longer theirs. The table outlives this. */
void reactions_set_stops(struct reactions *reactions, struct react_stop_table *stops);

/* What has to be undone at the end. */
struct undo *reactions_undo(const struct reactions *reactions);

/* As react_agent_poll. */
void reactions_poll(struct reactions *reactions, uint64_t now_ns, uint64_t *wait_ns);

/* The counters and histograms, with what the kernel has counted: add is asked for each statement that counts. */
typedef void reactions_tally_fn(void *context, uint32_t statement, uint64_t *buckets);
int reactions_tallies(struct reactions *reactions, reactions_tally_fn *add, void *context,
		      struct react_tallies *tallies);

/* Adds what was refused. Returns 0 or -ENOMEM. */
int reactions_refusals(const struct reactions *reactions, struct session_refusals *refusals);

#endif
