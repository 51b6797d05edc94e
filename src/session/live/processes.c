// SPDX-License-Identifier: BSD-2-Clause
#include "session/live/processes.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct live_process *find_live_process(const struct live_processes *processes, pid_t pid)
{
	for (size_t i = 0; i < processes->count; i++) {
		if (processes->items[i].pid == pid)
			return &processes->items[i];
	}
	return NULL;
}

static int enter_live_process(struct live_processes *processes, const struct live_process *process,
			      struct asterism_diag *diag)
{
	uint64_t what = (uint64_t)process->pid << LIVE_WAKE_BITS | LIVE_WAKE_PROCESS;
	int result;

	if (alloc_grow(&processes->items, &processes->capacity, processes->count, sizeof *processes->items))
		return diag_no_memory(diag);
	result = live_loop_watch(processes->loop, process->pidfd, what, diag);
	if (!result)
		processes->items[processes->count++] = *process;
	return result;
}

static int explain_process_error(pid_t pid, int error, struct asterism_diag *diag)
{
	switch (error) {
	case ESRCH:
		return diag_error(diag, NULL, -error, "process %d does not exist", (int)pid);
	case EINVAL:
	case ENOENT:
		return diag_error(diag, NULL, -EINVAL,
				  pid > 0 ? "%d is a thread, not a process" : "%d is not a valid process id", (int)pid);
	default:
		return diag_error(diag, NULL, -error, "cannot observe process %d: %s", (int)pid, strerror(error));
	}
}

int live_processes_add(struct live_processes *processes, pid_t pid, struct asterism_diag *diag)
{
	struct live_process process = { .pid = pid };
	int result;

	if (pid == getpid())
		return diag_error(diag, NULL, -EINVAL, "a session does not observe itself (process %d)", (int)pid);
	if (find_live_process(processes, pid))
		return 0;
	process.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (process.pidfd < 0)
		return explain_process_error(pid, errno, diag);
	result = enter_live_process(processes, &process, diag);
	if (!result)
		return 1;
	close(process.pidfd);
	return result;
}

int live_processes_launch(struct live_processes *processes, char *const *command, const struct sock_fprog *filter,
			  struct asterism_diag *diag)
{
	struct launch *launch = &processes->launch;
	int result = launch_prepare(command, filter, diag, launch);

	if (result)
		return result;
	result = enter_live_process(processes, &(struct live_process){ launch->pid, launch->pidfd, true }, diag);
	if (result)
		live_processes_drop_launch(processes);
	return result;
}

void live_processes_forget(struct live_processes *processes, pid_t pid)
{
	struct live_process *process = find_live_process(processes, pid);

	if (!process)
		return;
	live_loop_forget(processes->loop, process->pidfd);
	if (!process->launched)
		close(process->pidfd);
	*process = processes->items[--processes->count];
}

pid_t live_processes_ended(struct live_processes *processes, uint64_t woken, int *status)
{
	pid_t pid = (pid_t)(woken >> LIVE_WAKE_BITS);
	const struct live_process *process = find_live_process(processes, pid);

	if ((woken & ((1u << LIVE_WAKE_BITS) - 1)) != LIVE_WAKE_PROCESS || !process)
		return 0;
	*status = -ECHILD;
	if (process->launched && !launch_reap(&processes->launch, status))
		return 0;
	live_processes_forget(processes, pid);
	return pid;
}

void live_processes_drop_launch(struct live_processes *processes)
{
	if (!processes->launch.pid)
		return;
	live_processes_forget(processes, processes->launch.pid);
	launch_fini(&processes->launch);
	processes->launch = (struct launch){ 0 };
}

void live_processes_fini(struct live_processes *processes)
{
	while (processes->count)
		live_processes_forget(processes, processes->items[processes->count - 1].pid);
	live_processes_drop_launch(processes);
	alloc_free(processes->items);
	processes->items = NULL;
	processes->capacity = 0;
}
