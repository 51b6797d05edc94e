/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_SECCOMP_CALLER_H
#define SESSION_SECCOMP_CALLER_H

/* What can be learnt of a thread while one of its system calls is held. */

#include "event/type.h"

#include <stddef.h>
#include <sys/types.h>

struct caller_who {
	pid_t pid;                   /* its process; 0: the thread is gone */
	char comm[EVENT_COMM_BYTES]; /* NUL-filled */
};

/* Reads which process tid belongs to and what it is called. */
void caller_who_is(pid_t tid, struct caller_who *who);

/* Reads Name and Tgid out of the text of /proc/TID/status, length bytes and a NUL. */
void caller_parse(const char *status, struct caller_who *who);

/* As read of struct veto_memory; context points to the thread's id. */
int caller_text(void *context, uint64_t address, char *text, size_t size);

#endif
