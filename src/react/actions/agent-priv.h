/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REACT_ACTIONS_AGENT_PRIV_H
#define REACT_ACTIONS_AGENT_PRIV_H

/* What actions share when this process does them. */

#include "react/actions/agent.h"
#include "react/cgroup.h"
#include "react/undo.h"

#include <sys/types.h>

/* What a statement has used up. */
struct react_limit {
	uint64_t second_ns; /* when the current second began */
	uint32_t calls;     /* in it */
	uint32_t running;   /* commands */
	uint64_t refused;
	char why[48];
};

/* A priority that holds for a time. */
struct react_boost {
	pid_t tid;
	uint64_t until_ns;
};

/* A command that runs. */
struct react_child {
	pid_t pid;
	int pidfd; /* -1: there was none */
	uint32_t statement;
};

struct react_agent {
	struct react_agent_options options;
	struct react_tallies tallies;
	struct undo *undo;          /* what is reverted at the end */
	struct react_limit *limits; /* per statement */
	struct react_boost *boosts;
	size_t boost_count, boost_capacity;
	struct react_child *children;
	size_t child_count, child_capacity;
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

/* The cgroup of the process that the first argument names. Returns as agent_target. */
int agent_cgroup(struct react_agent *agent, struct react_call *call, struct cgroup *cgroup);

/* As agent_refuse, of a call that came too often: it is counted. */
int agent_refuse_too_often(struct react_agent *agent, struct react_call *call, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Sends a signal to the first argument. Returns as perform. */
int agent_signal(struct react_agent *agent, struct react_call *call, int signal);

/* perform of the actions with a signal of their own. */
int agent_send_own(struct react_agent *agent, struct react_call *call);

/* Makes room in the journal for a change about to be made. Returns as undo_add, an error with a clause in call->why. */
int agent_remember(struct react_agent *agent, struct react_call *call, const struct undo_change *change);

/*
 * Schedules a thread otherwise until the session ends: what was before the first such change is remembered. Returns 0,
 * or an error with a clause in call->why.
 */
int agent_reschedule(struct react_agent *agent, struct react_call *call, pid_t tid, const struct sched_attr *attr);

/* A thread that is scheduled otherwise by now is no longer boosted for a time. */
void agent_end_boost(struct react_agent *agent, pid_t tid);

/* Ends the boosts that are over; the earliest time of the others goes to *wait_ns, if it is less. */
void agent_poll_boosts(struct react_agent *agent, uint64_t now_ns, uint64_t *wait_ns);

/* Takes notice of commands that have ended. */
void agent_poll_children(struct react_agent *agent);

/* Waits for commands that still run, but not long; forgets those that go on. */
void agent_leave_children(struct react_agent *agent);

#endif
