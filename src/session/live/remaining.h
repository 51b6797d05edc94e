/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_LIVE_REMAINING_H
#define SESSION_LIVE_REMAINING_H

/* Observed processes that still run when what the session was begun for has ended: nothing more is seen of them. */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { SESSION_REMAINING_NAMED = 8 };

/* Observed processes that run on without the session: how many, and the first of them. */
struct session_remaining {
	size_t count;
	pid_t pids[SESSION_REMAINING_NAMED];
};

/* Finds those for which in_scope is true; the caller itself and those that have ended but are not waited for yet are
 * none. */
void remaining_find(bool (*in_scope)(void *context, int pid), void *context, struct session_remaining *found);

#endif
