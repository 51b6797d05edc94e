// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides which processes a session observes. Each is held by a descriptor until it ends, so that a unit which is
 * activated later never takes somebody else for it who has got its number meanwhile.
 */

#include "api/api-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct api_process *find(struct asterism_session *session, pid_t pid)
{
	for (size_t i = 0; i < session->process_count; i++) {
		if (session->processes[i].pid == pid)
			return &session->processes[i];
	}
	return NULL;
}

static void forget(struct asterism_session *session, struct api_process *process)
{
	epoll_ctl(session->epoll_fd, EPOLL_CTL_DEL, process->pidfd, NULL);
	if (!process->launched)
		close(process->pidfd);
	*process = session->processes[--session->process_count];
}

void api_processes_fini(struct asterism_session *session)
{
	while (session->process_count)
		forget(session, &session->processes[session->process_count - 1]);
	alloc_free(session->processes);
	if (session->launch.pid)
		launch_fini(&session->launch);
}

static int explain(struct asterism_session *session, pid_t pid, int error)
{
	switch (error) {
	case -ESRCH:
		return diag_error(session->diag, NULL, error, "there is no process %d", (int)pid);
	case -EINVAL:
	case -ENOENT:
		return diag_error(session->diag, NULL, -EINVAL, "%d is not the number of a process", (int)pid);
	case -ENOMEM:
		return diag_no_memory(session->diag);
	default:
		return diag_error(session->diag, NULL, error, "process %d cannot be observed: %s", (int)pid,
				  strerror(-error));
	}
}

int api_processes_enter(struct asterism_session *session, struct executor *executor)
{
	for (size_t i = 0; i < session->process_count; i++) {
		pid_t pid = session->processes[i].pid;
		int result = executor_add(executor, pid);

		if (result && result != -ESRCH)
			return explain(session, pid, result);
	}
	return 0;
}

/* Adds pid, which pidfd holds, to the session and to the scope of all active units. */
static int enter(struct asterism_session *session, const struct api_process *process)
{
	uint64_t wake = (uint64_t)process->pid << API_WAKE_BITS | API_WAKE_PROCESS;
	int result;

	if (alloc_grow(&session->processes, &session->process_capacity, session->process_count,
		       sizeof *session->processes))
		return diag_no_memory(session->diag);
	result = api_session_wake_on(session, process->pidfd, wake);
	if (result)
		return result;
	session->processes[session->process_count++] = *process;
	for (struct asterism_rules *unit = session->units; unit && !result; unit = unit->next) {
		if (unit->executor)
			result = executor_add(unit->executor, process->pid);
	}
	if (!result)
		return 0;
	forget(session, &session->processes[session->process_count - 1]);
	return explain(session, process->pid, result);
}

int asterism_session_add_process(struct asterism_session *session, pid_t pid)
{
	struct api_process process = { .pid = pid };
	int result;

	asterism_diag_clear(session->diag);
	if (session->options.scope == ASTERISM_SCOPE_ALL)
		return diag_error(session->diag, NULL, -EINVAL, "the session observes every process already");
	if (pid == getpid())
		return diag_error(session->diag, NULL, -EINVAL, "a session does not observe its own process (%d)",
				  (int)pid);
	if (find(session, pid))
		return 0;
	process.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (process.pidfd < 0)
		return explain(session, pid, -errno);
	result = enter(session, &process);
	if (result)
		close(process.pidfd);
	return result;
}

/* From the waiting child to the running command. */
static int start(struct asterism_session *session, const char *name)
{
	struct launch *launch = &session->launch;
	struct api_process process = { .pid = launch->pid, .pidfd = launch->pidfd, .launched = true };
	int result;

	launch_settle(launch);
	result = enter(session, &process);
	if (result)
		return result;
	result = launch_go(launch, name, session->diag);
	if (result)
		forget(session, find(session, process.pid));
	return result;
}

int asterism_session_launch(struct asterism_session *session, char *const argv[], pid_t *pid)
{
	int result;

	asterism_diag_clear(session->diag);
	if (!argv || !argv[0])
		return diag_error(session->diag, NULL, -EINVAL, "there is no command to launch");
	if (session->launch.pid)
		return diag_error(session->diag, NULL, -EBUSY, "the command launched before (%d) still runs",
				  (int)session->launch.pid);
	result = launch_prepare(argv, NULL, session->diag, &session->launch);
	if (!result)
		result = start(session, argv[0]);
	if (result) {
		launch_fini(&session->launch);
		session->launch.pid = 0;
	} else if (pid) {
		*pid = session->launch.pid;
	}
	return result;
}

void api_process_ended(struct asterism_session *session, pid_t pid)
{
	struct api_process *process = find(session, pid);
	int status = -ECHILD;

	if (!process)
		return;
	if (process->launched && !launch_reap(&session->launch, &status))
		return;
	bool launched = process->launched;

	forget(session, process);
	if (launched) {
		launch_fini(&session->launch);
		session->launch.pid = 0;
	}
	if (session->options.on_exit)
		session->options.on_exit(session->options.context, pid, status);
}
