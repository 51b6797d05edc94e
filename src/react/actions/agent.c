// SPDX-License-Identifier: BSD-2-Clause
/* Limits whom actions may touch, and leaves no process stopped behind. */

#include "react/actions/agent-priv.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/proc.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECOND_NS 1000000000ull

/* How long a command that has ended may stay unnoticed. */
#define CHILD_LOOK_NS 100000000ull

int react_agent_new(const struct react_agent_options *options, struct asterism_diag *diag, struct react_agent **made)
{
	struct react_agent *agent = alloc_zero(1, sizeof *agent);

	if (!agent)
		return diag_no_memory(diag);
	agent->options = *options;
	agent->limits = alloc_zero(options->statement_count, sizeof *agent->limits);
	int result = agent->limits ? undo_new(diag, &agent->undo) : diag_no_memory(diag);

	if (result)
		react_agent_free(agent);
	else
		*made = agent;
	return result;
}

void react_agent_free(struct react_agent *agent)
{
	if (!agent)
		return;
	if (agent->undo)
		undo_all(agent->undo);
	undo_free(agent->undo);
	agent_leave_children(agent);
	alloc_free(agent->children);
	alloc_free(agent->boosts);
	alloc_free(agent->limits);
	react_tallies_fini(&agent->tallies);
	alloc_free(agent);
}

/* Whether the statement may do one more call in this second. */
static bool has_turn(struct react_limit *limit, uint32_t per_second)
{
	uint64_t now = clock_now_ns();

	if (!limit->calls || now - limit->second_ns >= SECOND_NS) {
		limit->second_ns = now;
		limit->calls = 0;
	}
	if (limit->calls == per_second)
		return false;
	limit->calls++;
	return true;
}

int react_agent_perform(struct react_agent *agent, struct react_call *call)
{
	uint32_t per_second = call->action->per_second;

	assert(call->statement < agent->options.statement_count);
	if (per_second && !has_turn(&agent->limits[call->statement], per_second))
		return agent_refuse_too_often(agent, call, "more than %" PRIu32 " a second", per_second);
	return call->action->perform(agent, call);
}

void react_agent_poll(struct react_agent *agent, uint64_t now_ns, uint64_t *wait_ns)
{
	*wait_ns = UINT64_MAX;
	agent_poll_boosts(agent, now_ns, wait_ns);
	agent_poll_children(agent);
	if (agent->child_count && *wait_ns > CHILD_LOOK_NS)
		*wait_ns = CHILD_LOOK_NS;
}

struct react_tallies *react_agent_tallies(struct react_agent *agent)
{
	return &agent->tallies;
}

struct undo *react_agent_undo(const struct react_agent *agent)
{
	return agent->undo;
}

uint64_t react_agent_refused(const struct react_agent *agent, uint32_t statement, const char **why)
{
	*why = agent->limits[statement].why;
	return agent->limits[statement].refused;
}

static int send(struct react_call *call, const struct react_target *target, int signal)
{
	if (target->tid ? syscall(SYS_tgkill, target->pid, target->tid, signal) : kill(target->pid, signal))
		return agent_refuse(call, -errno, "%s", strerror(errno));
	return 0;
}

int agent_signal(struct react_agent *agent, struct react_call *call, int signal)
{
	struct react_target target;
	int result = agent_target(agent, call, 0, &target);

	if (result)
		return result;
	if (signal < 1 || signal > SIGRTMAX)
		return agent_refuse(call, -EINVAL, "invalid signal number: %d", signal);
	return send(call, &target, signal);
}

int agent_send_own(struct react_agent *agent, struct react_call *call)
{
	int signal = call->action->signal, added = 0;
	struct react_target target = { 0 };
	int result = agent_target(agent, call, 0, &target);
	struct undo_change change = { .kind = UNDO_STOPPED, .id = target.pid };

	if (!result && signal == SIGSTOP)
		result = added = agent_remember(agent, call, &change);
	if (result < 0)
		return result;
	result = send(call, &target, signal);
	if (result ? added : signal != SIGSTOP)
		undo_drop(agent->undo, &change);
	return result;
}

int react_agent_note(struct react_agent *agent, struct react_call *call)
{
	struct react_target target;

	if (!call->action->signal || agent_target(agent, call, 0, &target))
		return 0;
	struct undo_change change = { .kind = UNDO_STOPPED, .id = target.pid };

	if (call->action->signal != SIGSTOP) {
		undo_drop(agent->undo, &change);
		return 0;
	}
	int result = agent_remember(agent, call, &change);

	if (result != -ENOSPC)
		return 0;
	kill(target.pid, SIGCONT);
	return result;
}
