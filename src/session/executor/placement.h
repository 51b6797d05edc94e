/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_EXECUTOR_PLACEMENT_H
#define SESSION_EXECUTOR_PLACEMENT_H

#include "base/diag.h"
#include "program/load.h"

#include <stdbool.h>

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
 * Determines where rule (index in the program) runs if no system call is to be refused; veto_place (seccomp) does so
 * for rules that may do all that they say.
 */
void session_placement_of(const struct program *program, uint32_t rule, struct session_placement *placement);

/*
 * Notes for who would expect the kernel; chosen says which rules they are about, per rule of the program. A few have a
 * note each, many have one together. They run in user space, for the reason why (one clause about "it"), or NULL: for
 * that of their placement; their matches are delivered to be added up, which programs cannot do, though nothing else
 * is wanted of them.
 */
void session_note_user_space(const struct program *program, const bool *chosen, const char *why,
			     struct asterism_diag *diag);
void session_note_delivered(const struct program *program, const bool *chosen, struct asterism_diag *diag);

#endif
