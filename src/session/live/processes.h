/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_LIVE_PROCESSES_H
#define SESSION_LIVE_PROCESSES_H

/*
 * The processes that a live session was begun for, or waits for. Each is held by a descriptor until it ends, so that
 * no other process is taken for it that has got its number meanwhile, and wakes the session's loop when it does. One of
 * them may be a command that is launched.
 */

#include "session/live/launch.h"
#include "session/live/loop.h"

#include <stddef.h>

struct live_process {
	pid_t pid;
	int pidfd; /* the launch's where it was launched */
	bool launched;
};

struct live_processes {
	struct live_loop *loop;
	struct live_process *items;
	size_t count, capacity;
	struct launch launch; /* pid 0: nothing was launched */
};

/* Adds a process. Returns 1, 0 (it is there already), -ESRCH, -EINVAL (it is this one, or none), -errno; a message. */
int live_processes_add(struct live_processes *processes, pid_t pid, struct asterism_diag *diag);

/* As launch_prepare, and adds the child; launch_settle and launch_go are next. */
int live_processes_launch(struct live_processes *processes, char *const *command, const struct sock_fprog *filter,
			  struct asterism_diag *diag);

/*
 * Handles what woke the session. Returns the process that has ended by now, which is forgotten; 0: none. *status is as
 * launch_reap has it for one that was launched, else -ECHILD.
 */
pid_t live_processes_ended(struct live_processes *processes, uint64_t woken, int *status);

/* Forgets what was launched: something else may be. One that still waits is ended, one that runs is left alone. */
void live_processes_drop_launch(struct live_processes *processes);

/* Forgets pid; others take its place in items. */
void live_processes_forget(struct live_processes *processes, pid_t pid);
void live_processes_fini(struct live_processes *processes);

#endif
