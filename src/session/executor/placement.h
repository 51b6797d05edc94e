/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_EXECUTOR_PLACEMENT_H
#define SESSION_EXECUTOR_PLACEMENT_H

#include "program/load.h"

/* Where one rule runs in a live session. */
enum session_place {
	SESSION_KERNEL,
	SESSION_USER,    /* over events that the kernel ships */
	SESSION_NOWHERE, /* SYNCHRONOUS, but the kernel cannot */
	SESSION_VETO,    /* in user space, before the system calls that it looks at */
};

struct session_placement {
	enum session_place place;
	char reason[200]; /* why not in the kernel, one clause; empty for SESSION_KERNEL */
};

/*
 * Decides where rule (index in the program) runs if no system call is to be refused; veto_place (seccomp) decides for
 * rules that may do all that they say.
 */
void session_placement_of(const struct program *program, uint32_t rule, struct session_placement *placement);

#endif
