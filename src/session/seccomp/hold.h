/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_SECCOMP_HOLD_H
#define SESSION_SECCOMP_HOLD_H

/*
 * System calls of a launched command that wait for an answer (seccomp user notification). The child takes a filter upon
 * itself before it becomes the command, and hands over the listener to which held calls are reported. It then waits
 * inside execve, which every filter must hold, and whose answer is the word to go. Nobody but this process keeps the
 * listener: when it dies, however it dies, held calls fail with ENOSYS, and nobody waits for ever.
 */

#include "base/diag.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/types.h>

/* A held call. Kernels to come may tell more of it than this header knows. */
union hold_call {
	struct seccomp_notif told;
	char room[512];
};

struct hold_page;

struct hold {
	const struct sock_fprog *filter;
	struct hold_page *page; /* shared with the child until it has been taken over */
	pid_t parent;
	int listener;
	union hold_call start; /* the execve that the child waits in */
};

/* Before the fork. Returns 0, -EOPNOTSUPP, -ENOMEM. */
int hold_init(struct hold *hold, const struct sock_fprog *filter, struct asterism_diag *diag);

/* In the child: what is left to do is execve. Ends the child when it fails. */
void hold_be_child(const struct hold *hold);

/* In the parent: returns once the child waits inside execve. Returns 0, -EOPNOTSUPP, -EPERM, -EAGAIN. */
int hold_take(struct hold *hold, int pidfd, struct asterism_diag *diag);

/* Closes the listener. A child that hold_take has failed on is to be killed. */
void hold_fini(struct hold *hold);

/* Waits for the next held call. Returns 0; -ENOENT (it is over already), -EINTR; other -errno: there will be none. */
int hold_receive(int listener, union hold_call *call);

/* Answers a held call: it goes on, or fails with error (> 0). Returns 0, or -ENOENT: its thread has ended. */
int hold_answer(int listener, const union hold_call *call, int error);

/* Whether the call is still held; then what was read about its thread was about no other. */
bool hold_is_valid(int listener, const union hold_call *call);

#endif
