/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_SECCOMP_ENDS_H
#define SESSION_SECCOMP_ENDS_H

/*
 * The ends of processes and threads whose calls were held, so that no run meets another process with the same number.
 * The kernel reports an end before it gives the number again: whoever asks ends_next before each call sees them in
 * their order. Of one thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ends_task {
	pid_t pid, tid; /* tid == pid: the whole process */
};

struct ends {
	int epoll_fd;
	uint8_t *watched;        /* a bit per number that the kernel may give */
	struct ends_task *of_fd; /* per descriptor; pid 0: none of ours */
	size_t fd_count;
};

/* Returns 0, -ENOMEM, -errno. To be ended with ends_fini either way. */
int ends_init(struct ends *ends);
void ends_fini(struct ends *ends);

/*
 * Reports the end of a process, and of one of its threads if tid != pid, from now on. Both must be alive. Returns 0,
 * also where it is watched already; -errno where it cannot be: -EMFILE, also where few descriptors are left, or
 * -EINVAL for threads before Linux 6.9.
 */
int ends_watch(struct ends *ends, struct ends_task task);

/* Takes an end that has come. False: there is none. */
bool ends_next(struct ends *ends, struct ends_task *ended);

/* Becomes readable when ends_next has one. */
static inline int ends_fd(const struct ends *ends)
{
	return ends->epoll_fd;
}

#endif
