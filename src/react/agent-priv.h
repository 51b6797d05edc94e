/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REACT_AGENT_PRIV_H
#define REACT_AGENT_PRIV_H

/* What actions share when this process does them. */

#include "react/agent.h"
#include "react/undo.h"

#include <sys/types.h>

struct react_agent {
	struct react_agent_options options;
	struct react_tallies tallies;
	struct undo *undo; /* what is reverted at the end */
};

/* Where an action is to take effect. */
struct react_target {
	pid_t pid; /* the process */
	pid_t tid; /* the one thread that is meant; 0: the process */
	pid_t id;  /* as it was named */
};

/*
 * The process or thread that the argument names, if it may be acted upon: it exists, is not pid 1, not this process,
 * and in scope unless the session acts anywhere. Returns 0, -ESRCH, -EPERM with a clause in call->why.
 */
int agent_target(struct react_agent *agent, struct react_call *call, uint32_t index, struct react_target *target);

/* The number that an argument holds, or fallback where it is not given. */
int64_t agent_integer(const struct react_call *call, uint32_t index, int64_t fallback);

/* Says why and returns error. */
int agent_refuse(struct react_call *call, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Sends a signal to the first argument. Returns as perform. */
int agent_signal(struct react_agent *agent, struct react_call *call, int signal);

/* perform of the actions with a signal of their own. */
int agent_send_own(struct react_agent *agent, struct react_call *call);

/* Makes room in the journal for a change about to be made. Returns as undo_add, an error with a clause in call->why. */
int agent_remember(struct react_agent *agent, struct react_call *call, const struct undo_change *change);

#endif
