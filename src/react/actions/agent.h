/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REACT_ACTIONS_AGENT_H
#define REACT_ACTIONS_AGENT_H

/*
 * Does in this process what actions ask for and the kernel's programs have not done: looks at the target first, limits
 * how often, remembers what has to be undone at the end. One agent belongs to one thread.
 */

#include "base/diag.h"
#include "react/react.h"
#include "react/tally.h"
#include "react/undo.h"

struct react_agent_options {
	/* Whether a process may be acted upon. */
	bool (*in_scope)(void *context, int pid);
	/* Wants a snapshot with this name. Returns 0 or -Exxx. NULL: nothing is recorded. */
	int (*snapshot)(void *context, const char *rule);
	/* Takes the stack of a thread. Returns 0, or -Exxx with a clause in why. NULL: nobody can. */
	int (*stack)(void *context, int tid, char *why, size_t size);
	void *context, *stack_context;
	bool anywhere;    /* processes out of scope may be acted upon, too */
	bool foreign_ids; /* ids of events are not those of our pid namespace: no target can be found */
	uint32_t statement_count;
};

int react_agent_new(const struct react_agent_options *options, struct asterism_diag *diag, struct react_agent **made);

/* Undoes what is to be undone: processes that were stopped go on. */
void react_agent_free(struct react_agent *agent);

/*
 * Does a call, if its statement has not asked too often: else -EAGAIN, which is counted. Returns as
 * react_action.perform.
 */
int react_agent_perform(struct react_agent *agent, struct react_call *call);

/*
 * The kernel has done a call already: what has to be undone of it is remembered. Returns 0; -ENOSPC, with a clause in
 * call->why: it cannot be remembered, so it was undone at once.
 */
int react_agent_note(struct react_agent *agent, struct react_call *call);

/* Does what is due. Stores how long it may be until the next call at most; UINT64_MAX: for ever. */
void react_agent_poll(struct react_agent *agent, uint64_t now_ns, uint64_t *wait_ns);

/* Counters and histograms of what was done here; the caller may add to them. */
struct react_tallies *react_agent_tallies(struct react_agent *agent);

/* How often the calls of a statement were refused because they came too often. *why: the last time's clause. */
uint64_t react_agent_refused(const struct react_agent *agent, uint32_t statement, const char **why);

/* What react_agent_free undoes; for a process that watches over this one. Lives as long as the agent. */
struct undo *react_agent_undo(const struct react_agent *agent);

#endif
