// SPDX-License-Identifier: BSD-2-Clause
/* Limits whom a call may touch, and reports one that is refused. */

#include "react/actions/agent-priv.h"

#include "base/proc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int agent_refuse(struct react_call *call, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(call->why, sizeof call->why, format, args);
	va_end(args);
	return error;
}

int agent_refuse_too_often(struct react_agent *agent, struct react_call *call, const char *format, ...)
{
	struct react_limit *limit = &agent->limits[call->statement];
	va_list args;

	va_start(args, format);
	vsnprintf(limit->why, sizeof limit->why, format, args);
	va_end(args);
	limit->refused++;
	return agent_refuse(call, -EAGAIN, "%s", limit->why);
}

int64_t agent_integer(const struct react_call *call, uint32_t index, int64_t fallback)
{
	return index < call->arg_count ? call->args[index].i64 : fallback;
}

int agent_target(struct react_agent *agent, struct react_call *call, uint32_t index, struct react_target *target)
{
	const struct react_value *value = &call->args[index];

	if (agent->options.foreign_ids)
		return agent_refuse(call, -EOPNOTSUPP,
				    "asterism runs in a pid namespace, so the ids in events are not valid for it");
	pid_t id = value->i64 > 0 && value->i64 <= INT32_MAX ? (pid_t)value->i64 : 0;
	pid_t pid = id ? proc_process_of(id) : 0;

	if (!pid)
		return agent_refuse(call, -ESRCH, "process or thread %lld does not exist", (long long)value->i64);
	if (pid == 1)
		return agent_refuse(call, -EPERM, "actions never affect process 1");
	if (pid == getpid())
		return agent_refuse(call, -EPERM, "actions never affect asterism itself");
	if (!agent->options.anywhere && !agent->options.in_scope(agent->options.context, pid))
		return agent_refuse(call, -EPERM, "process %d is out of scope", pid);
	*target = (struct react_target){ .pid = pid, .tid = value->naming == REACT_BY_TID ? id : 0, .id = id };
	return 0;
}

int agent_remember(struct react_agent *agent, struct react_call *call, const struct undo_change *change)
{
	int result = undo_add(agent->undo, change);

	if (result == -ENOSPC)
		return agent_refuse(call, result, "the limit of %d changes to undo is reached", UNDO_ENTRIES);
	if (result == -ESRCH)
		return agent_refuse(call, result, "process or thread %d has ended", change->id);
	return result < 0 ? agent_refuse(call, result, "%s", strerror(-result)) : result;
}
