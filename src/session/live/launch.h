/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_LIVE_LAUNCH_H
#define SESSION_LIVE_LAUNCH_H

/*
 * Starting the command to observe in two steps, so that everything is attached before its first instruction: the child
 * exists and waits, and only launch_go lets it become the command. When the parent dies in between, so does the child.
 */

#include "base/diag.h"
#include "session/seccomp/listener.h"

#include <stdbool.h>
#include <sys/types.h>

struct launch {
	pid_t pid; /* 0: nothing launched */
	int pidfd; /* polls readable when the command has ended */
	int go_fd, error_fd;
	bool reaped;
	struct listener listener; /* of the command's system calls */
};

/*
 * Looks the command up and forks the waiting child, which keeps the caller's signal mask and dispositions as they are
 * now. filter: what system calls are held from its execve on, on which it then waits; NULL: none. Returns 0, or -EINVAL
 * (no such command, or it may not be run), -ENOMEM, -EAGAIN with a message.
 */
int launch_prepare(char *const *command, const struct sock_fprog *filter, struct asterism_diag *diag,
		   struct launch *launch);

/* Whether the command stands still as after SIGSTOP. */
bool launch_is_stopped(const struct launch *launch);

/*
 * Returns once the child waits for launch_go, so that nothing it does before will be taken for the command's. Gives up
 * after half a second.
 */
void launch_settle(const struct launch *launch);

/*
 * Lets the child run the command. Returns 0, also when something has ended the child
 * before (launch_reap tells what), or -EINVAL with a message when the system refused to run the command.
 */
int launch_go(struct launch *launch, const char *name, struct asterism_diag *diag);

/*
 * Reaps the command if it has ended. Returns 1 and its status as a shell has it (128 + signal; -ECHILD where somebody
 * else has reaped it), or 0 while it runs.
 */
int launch_reap(struct launch *launch, int *status);

/* Ends a child that still waits, closes everything; a running command is left alone. */
void launch_fini(struct launch *launch);

#endif
