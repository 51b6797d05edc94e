/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_LIVE_SEED_H
#define SESSION_LIVE_SEED_H

/*
 * What is there when a session begins - processes with their parents, users, directories; their descriptors - told as
 * events (process_state, descriptor_state), so that rules need not have seen it come about. A process may change while
 * it is looked at: what is told may then be a moment old, and its own events may come before.
 */

#include "program/load.h"
#include "session/record/selection.h"

#include <stdbool.h>

/* Whether a rule or a recording takes these events; either may be NULL. */
bool seed_is_wanted(const struct program *program, const struct selection *what);

struct seed_options {
	bool (*in_scope)(void *context, int pid);
	/* Called after every few events, to take what came of them, as rings are small. False: no more is wanted. */
	bool (*pause)(void *context);
	void *context;
	int waiting; /* a process that is about to become another program; 0: none */
};

/*
 * Raises them for every process in scope, each process before its descriptors, the lowest ids first; of the waiting one
 * only what its program will have open. Returns 0; -ENOMEM: nothing was told.
 */
int seed_report(const struct seed_options *options);

#endif
