/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REACT_AGENT_H
#define REACT_AGENT_H

/*
 * Does in this process what actions ask for and the kernel's programs have not done: looks at the target first, limits
 * how often, remembers what has to be undone at the end. One agent belongs to one thread.
 */

#include "base/diag.h"
#include "react/react.h"
#include "react/tally.h"

struct react_agent_options {
	/* Whether a process may be acted upon. */
	bool (*in_scope)(void *context, int pid);
	/* Wants a snapshot with this name. Returns 0 or -Exxx. NULL: nothing is recorded. */
	int (*snapshot)(void *context, const char *rule);
	void *context;
	bool anywhere; /* processes out of scope may be acted upon, too */
};

int react_agent_new(const struct react_agent_options *options, struct asterism_diag *diag, struct react_agent **made);

/* Undoes what is to be undone: processes that were stopped go on. */
void react_agent_free(struct react_agent *agent);

/* Does a call. Returns as react_action.perform. */
int react_agent_perform(struct react_agent *agent, struct react_call *call);

/* What was done in the kernel has to be undone as well. */
void react_agent_note(struct react_agent *agent, const struct react_call *call);

/* Does what is due. Stores how long it may be until the next call at most; UINT64_MAX: for ever. */
void react_agent_poll(struct react_agent *agent, uint64_t now_ns, uint64_t *wait_ns);

/* Counters and histograms of what was done here; the caller may add to them. */
struct react_tallies *react_agent_tallies(struct react_agent *agent);

/* Processes that react_agent_free would let go on: how many. */
size_t react_agent_stopped(const struct react_agent *agent);

#endif
