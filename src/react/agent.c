// SPDX-License-Identifier: BSD-2-Clause
/* Decides whom actions may touch, and what is left behind: nobody stopped. */

#include "react/agent-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int react_agent_new(const struct react_agent_options *options, struct asterism_diag *diag, struct react_agent **made)
{
	struct react_agent *agent = alloc_zero(1, sizeof *agent);

	if (!agent)
		return diag_no_memory(diag);
	agent->options = *options;
	*made = agent;
	return 0;
}

void react_agent_free(struct react_agent *agent)
{
	if (!agent)
		return;
	for (size_t i = 0; i < agent->stopped_count; i++)
		kill(agent->stopped[i], SIGCONT);
	alloc_free(agent->stopped);
	react_tallies_fini(&agent->tallies);
	alloc_free(agent);
}

int react_agent_perform(struct react_agent *agent, struct react_call *call)
{
	return call->action->perform(agent, call);
}

void react_agent_poll(struct react_agent *agent, uint64_t now_ns, uint64_t *wait_ns)
{
	(void)agent;
	(void)now_ns;
	*wait_ns = UINT64_MAX;
}

struct react_tallies *react_agent_tallies(struct react_agent *agent)
{
	return &agent->tallies;
}

size_t react_agent_stopped(const struct react_agent *agent)
{
	return agent->stopped_count;
}

int agent_refuse(struct react_call *call, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(call->why, sizeof call->why, format, args);
	va_end(args);
	return error;
}

int64_t agent_integer(const struct react_call *call, uint32_t index, int64_t fallback)
{
	return index < call->arg_count ? call->args[index].i64 : fallback;
}

/* The process that thread belongs to; 0: there is no such thread. */
static pid_t process_of(pid_t thread)
{
	char path[64], line[128];
	pid_t pid = 0;

	snprintf(path, sizeof path, "/proc/%d/status", thread);
	FILE *file = fopen(path, "re");

	while (file && !pid && fgets(line, sizeof line, file))
		if (strncmp(line, "Tgid:", 5) == 0)
			pid = atoi(line + 5);
	if (file)
		fclose(file);
	return pid;
}

int agent_target(struct react_agent *agent, struct react_call *call, uint32_t index, struct react_target *target)
{
	const struct react_value *value = &call->args[index];
	pid_t id = value->i64 > 0 && value->i64 <= INT32_MAX ? (pid_t)value->i64 : 0;
	pid_t pid = id ? process_of(id) : 0;

	if (!pid)
		return agent_refuse(call, -ESRCH, "there is no process or thread %lld", (long long)value->i64);
	if (pid == 1)
		return agent_refuse(call, -EPERM, "process 1 is never acted upon");
	if (pid == getpid())
		return agent_refuse(call, -EPERM, "asterism does not act upon itself");
	if (!agent->options.anywhere && !agent->options.in_scope(agent->options.context, pid))
		return agent_refuse(call, -EPERM, "process %d is out of scope", pid);
	*target = (struct react_target){ .pid = pid, .tid = value->naming == REACT_BY_TID ? id : 0, .id = id };
	return 0;
}

int agent_signal(struct react_agent *agent, struct react_call *call, int signal)
{
	struct react_target target;
	int result = agent_target(agent, call, 0, &target);

	if (result)
		return result;
	if (signal < 1 || signal > SIGRTMAX)
		return agent_refuse(call, -EINVAL, "there is no signal %d", signal);
	if (target.tid ? syscall(SYS_tgkill, target.pid, target.tid, signal) : kill(target.pid, signal))
		return agent_refuse(call, -errno, "%s", strerror(errno));
	return 0;
}

int agent_send_own(struct react_agent *agent, struct react_call *call)
{
	int result = agent_signal(agent, call, call->action->signal);

	if (!result)
		react_agent_note(agent, call);
	return result;
}

int agent_add_stopped(struct react_agent *agent, pid_t pid)
{
	for (size_t i = 0; i < agent->stopped_count; i++)
		if (agent->stopped[i] == pid)
			return 0;
	if (alloc_grow(&agent->stopped, &agent->stopped_capacity, agent->stopped_count, sizeof *agent->stopped))
		return -ENOMEM;
	agent->stopped[agent->stopped_count++] = pid;
	return 0;
}

void agent_remove_stopped(struct react_agent *agent, pid_t pid)
{
	for (size_t i = 0; i < agent->stopped_count; i++)
		if (agent->stopped[i] == pid)
			agent->stopped[i--] = agent->stopped[--agent->stopped_count];
}

void react_agent_note(struct react_agent *agent, const struct react_call *call)
{
	struct react_call noted = *call;
	struct react_target target;

	if (!call->action->signal || agent_target(agent, &noted, 0, &target))
		return;
	if (call->action->signal == SIGSTOP)
		agent_add_stopped(agent, target.pid);
	else
		agent_remove_stopped(agent, target.pid);
}
