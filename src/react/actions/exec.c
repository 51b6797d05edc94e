// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exec: a command with arguments, without a shell in between. Children are waited for by their descriptors: the
 * process that a session is part of may have others, and handlers of its own.
 */

#include "react/actions/actions-priv.h"
#include "react/actions/agent-priv.h"
#include "react/actions/show.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGS_MAX = 32, RUNNING_MAX = 8, OWN_VARIABLES = 3, VARIABLE_BYTES = 512, LOOK_MS = 20 };

/* How long commands that still run at the end are waited for. */
#define GRACE_NS 2000000000ull

static const struct react_param exec_params[] = {
	{ .name = "command", .type = REACT_TEXT },
	{ .name = "argument", .type = REACT_ANY, .repeats = true },
};

/* What posix_spawnp takes; the texts are one allocation each. */
struct command {
	char *argv[ARGS_MAX + 1];
	char own[OWN_VARIABLES][VARIABLE_BYTES];
	char **envp; /* ours, then everybody's */
};

static void command_fini(struct command *command)
{
	for (size_t i = 0; i < ARGS_MAX; i++)
		free(command->argv[i]);
	alloc_free(command->envp);
}

static char *shown(const struct react_value *value)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	if (!stream)
		return NULL;
	react_show(stream, value);
	if (fclose(stream) == 0)
		return text;
	free(text);
	return NULL;
}

static bool is_own_variable(const char *variable)
{
	return strncmp(variable, "ASTERISM_RULE=", 14) == 0 || strncmp(variable, "ASTERISM_PID=", 13) == 0 ||
	       strncmp(variable, "ASTERISM_TID=", 13) == 0;
}

static int command_init(struct command *command, const struct react_call *call)
{
	size_t count = 0, used = 0;

	*command = (struct command){ .envp = NULL };
	for (uint32_t i = 0; i < call->arg_count && i < ARGS_MAX; i++) {
		command->argv[i] = shown(&call->args[i]);
		if (!command->argv[i])
			return -ENOMEM;
	}
	while (environ && environ[count])
		count++;
	command->envp = alloc_zero(count + OWN_VARIABLES + 1, sizeof *command->envp);
	if (!command->envp)
		return -ENOMEM;
	snprintf(command->own[0], sizeof command->own[0], "ASTERISM_RULE=%s", call->rule);
	snprintf(command->own[1], sizeof command->own[1], "ASTERISM_PID=%" PRIu32, call->pid);
	snprintf(command->own[2], sizeof command->own[2], "ASTERISM_TID=%" PRIu32, call->tid);
	for (; used < OWN_VARIABLES; used++)
		command->envp[used] = command->own[used];
	for (size_t i = 0; i < count; i++)
		if (!is_own_variable(environ[i]))
			command->envp[used++] = environ[i];
	return 0;
}

/*
 * The command reads nothing and writes to our standard error: standard output holds matches. It has no signal blocked
 * or ignored because we have, and Ctrl-C at a terminal does not meet it.
 */
static int spawn(struct command *command, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int result = posix_spawn_file_actions_init(&files);

	if (result)
		return -result;
	result = posix_spawnattr_init(&attributes);
	if (result) {
		posix_spawn_file_actions_destroy(&files);
		return -result;
	}
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	result = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!result)
		result = posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
	if (!result)
		result = posix_spawnp(pid, command->argv[0], &files, &attributes, command->argv, command->envp);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return -result;
}

/* Whether the child has ended; one of which we cannot be told has, too. */
static bool has_ended(const struct react_child *child)
{
	siginfo_t info = { .si_pid = 0 };
	int result = child->pidfd < 0 ? waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG)
				      : waitid(P_PIDFD, (id_t)child->pidfd, &info, WEXITED | WNOHANG);

	return result < 0 ? errno != EINTR : info.si_pid != 0;
}

static void close_child(const struct react_child *child)
{
	if (child->pidfd >= 0)
		close(child->pidfd);
}

void agent_poll_children(struct react_agent *agent)
{
	for (size_t i = 0; i < agent->child_count;) {
		struct react_child *child = &agent->children[i];

		if (!has_ended(child)) {
			i++;
			continue;
		}
		close_child(child);
		agent->limits[child->statement].running--;
		*child = agent->children[--agent->child_count];
	}
}

void agent_leave_children(struct react_agent *agent)
{
	uint64_t end = clock_now_ns() + GRACE_NS, now;

	agent_poll_children(agent);
	while (agent->child_count && (now = clock_now_ns()) < end) {
		struct pollfd first = { .fd = agent->children[0].pidfd, .events = POLLIN };
		int left_ms = (int)((end - now) / 1000000 + 1);

		poll(&first, 1, first.fd < 0 && left_ms > LOOK_MS ? LOOK_MS : left_ms);
		agent_poll_children(agent);
	}
	for (size_t i = 0; i < agent->child_count; i++)
		close_child(&agent->children[i]);
	agent->child_count = 0;
}

static int perform_exec(struct react_agent *agent, struct react_call *call)
{
	struct react_limit *limit = &agent->limits[call->statement];
	struct command command;
	pid_t pid;

	agent_poll_children(agent);
	if (limit->running == RUNNING_MAX)
		return agent_refuse_too_often(agent, call, "%d instances of it are still running", RUNNING_MAX);
	if (alloc_grow(&agent->children, &agent->child_capacity, agent->child_count, sizeof *agent->children))
		return agent_refuse(call, -ENOMEM, "out of memory");
	int result = command_init(&command, call);

	if (!result)
		result = spawn(&command, &pid);
	if (result)
		agent_refuse(call, result, "cannot run %s: %s", call->args[0].text, strerror(-result));
	command_fini(&command);
	if (result)
		return result;
	/* Without a descriptor left for it, the number has to do. */
	agent->children[agent->child_count++] = (struct react_child){
		.pid = pid,
		.pidfd = (int)syscall(SYS_pidfd_open, pid, 0),
		.statement = call->statement,
	};
	limit->running++;
	return 0;
}

const struct react_action react_exec = {
	.name = "Exec",
	REACT_PARAMS(exec_params),
	.summary = "runs a command with the values as arguments, without a shell",
	.guarantee = "Started by asterism when it learns of the match; the thread that completed it may have run on. "
		     "At most 8 commands of one statement run at a time, and at most 10 start per second; the rest is "
		     "refused and counted.",
	.changes_system = true,
	.per_second = REACT_RUNS_PER_SECOND,
	.perform = perform_exec,
};
