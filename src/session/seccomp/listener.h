/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_SECCOMP_LISTENER_H
#define SESSION_SECCOMP_LISTENER_H

/*
 * System calls of a launched command that wait for an answer (seccomp user notification). The child takes a filter upon
 * itself before it becomes the command, and hands over the listener to which held calls are reported. It then waits
 * inside execve, which every filter must hold, and whose answer is the word to go. This process alone keeps the
 * listener: when it dies, however it dies, held calls fail with ENOSYS, and no thread waits for ever.
 */

#include "base/diag.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/types.h>

/* A held call. Kernels to come may tell more of it than this header knows. */
union listener_call {
	struct seccomp_notif reported;
	char room[512];
};

struct listener_page;

struct listener {
	const struct sock_fprog *filter;
	struct listener_page *page; /* shared with the child until it has been taken over */
	pid_t parent;
	int fd;
	union listener_call start; /* the execve that the child waits in */
};

/* Before the fork. Returns 0, -EOPNOTSUPP, -ENOMEM. */
int listener_init(struct listener *listener, const struct sock_fprog *filter, struct asterism_diag *diag);

/* In the child: what is left to do is execve. Ends the child when it fails. */
void listener_be_child(const struct listener *listener);

/* In the parent: returns once the child waits inside execve. Returns 0, -EOPNOTSUPP, -EPERM, -EAGAIN. */
int listener_take(struct listener *listener, int pidfd, struct asterism_diag *diag);

/* Closes the listener. A child that listener_take has failed on is to be killed. */
void listener_fini(struct listener *listener);

/* Waits for the next held call. Returns 0; -ENOENT (it is over already), -EINTR; other -errno: there will be none. */
int listener_receive(int listener, union listener_call *call);

/* Answers a held call: it goes on, or fails with error (> 0). Returns 0, or -ENOENT: its thread has ended. */
int listener_answer(int listener, const union listener_call *call, int error);

/* Whether the call is still held; then what was read about its thread was about no other. */
bool listener_is_valid(int listener, const union listener_call *call);

#endif
