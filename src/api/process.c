// SPDX-License-Identifier: BSD-2-Clause
/* Tells the units of a session of a process that is added or launched, or has ended. */

#include "api/api-priv.h"

#include <errno.h>
#include <string.h>

static int enter_in_unit(struct asterism_session *session, struct live_unit *work, pid_t pid)
{
	int result = work->executor ? executor_add(work->executor, pid) : 0;

	if (result == -ENOMEM)
		return diag_no_memory(session->diag);
	if (result == -ESRCH)
		return diag_error(session->diag, NULL, result, "process %d does not exist", (int)pid);
	return result ? diag_error(session->diag, NULL, result, "cannot observe process %d: %s", (int)pid,
				   strerror(-result))
		      : 0;
}

int api_processes_enter(struct asterism_session *session, struct live_unit *work)
{
	for (size_t i = 0; i < session->processes.count; i++) {
		int result = enter_in_unit(session, work, session->processes.items[i].pid);

		if (result && result != -ESRCH)
			return result;
	}
	return 0;
}

/* Adds a process of the session to the scope of all active units. */
static int enter_all(struct asterism_session *session, pid_t pid)
{
	int result = 0;

	for (struct asterism_rules *unit = session->units; unit && !result; unit = unit->next)
		result = enter_in_unit(session, &unit->work, pid);
	result = result ? result : api_recordings_enter(session, pid);
	return result ? result : api_monitors_enter(session, pid);
}

int asterism_session_add_process(struct asterism_session *session, pid_t pid)
{
	int result;

	asterism_diag_clear(session->diag);
	if (session->options.scope == ASTERISM_SCOPE_ALL)
		return diag_error(session->diag, NULL, -EINVAL, "the session already observes every process");
	result = live_processes_add(&session->processes, pid, session->diag);
	if (result <= 0)
		return result;
	result = enter_all(session, pid);
	if (result)
		live_processes_forget(&session->processes, pid);
	return result;
}

int asterism_session_launch(struct asterism_session *session, char *const argv[], pid_t *pid)
{
	struct live_processes *processes = &session->processes;
	int result;

	asterism_diag_clear(session->diag);
	if (!argv || !argv[0])
		return diag_error(session->diag, NULL, -EINVAL, "no command was given to launch");
	if (processes->launch.pid)
		return diag_error(session->diag, NULL, -EBUSY, "the previous command (process %d) is still running",
				  (int)processes->launch.pid);
	result = live_processes_launch(processes, argv, NULL, session->diag);
	if (result)
		return result;
	launch_settle(&processes->launch);
	result = enter_all(session, processes->launch.pid);
	if (!result)
		result = launch_go(&processes->launch, argv[0], session->diag);
	if (result)
		live_processes_drop_launch(processes);
	else if (pid)
		*pid = processes->launch.pid;
	return result;
}

void api_process_ended(struct asterism_session *session, uint64_t woken)
{
	int status;
	pid_t pid = live_processes_ended(&session->processes, woken, &status);

	if (!pid)
		return;
	if (pid == session->processes.launch.pid)
		live_processes_drop_launch(&session->processes);
	if (session->options.on_exit)
		session->options.on_exit(session->options.context, pid, status);
}
