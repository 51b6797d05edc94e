/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_WALK_H
#define REPORT_WALK_H

/*
 * The critical path: what the time of a thread went to. From an end on, time is walked through backwards. While the
 * thread runs or waits for a CPU that is what it went to. Where it was blocked, the time belongs to what the
 * thread that woke it did meanwhile, and so on through the wakers; before a thread was made, to who made it. The
 * intervals found cover the time from begin to end without gaps and overlaps.
 */

#include "report/past.h"

enum walk_what { WALK_UNKNOWN, WALK_RUNNING, WALK_READY, WALK_BLOCKED, WALK_TIMER, WALK_INTERRUPT, WALK_WHATS };

struct walk_step {
	uint64_t begin, end;
	uint32_t thread;
	uint32_t by;     /* READY: who ran there for longest; BLOCKED: who ended it, but what it did is not known */
	uint32_t reason; /* index of a name: of READY and what a thread was blocked in; 0: not known */
	uint32_t what;
};

struct walk {
	struct walk_step *steps; /* the last one first */
	size_t count, capacity;
	uint64_t too_deep; /* how many times a waker was not followed, as too many had been */
};

/* Walks once through the past, which is used up. Returns 0, -ENOMEM. */
int walk_back(struct walk *walk, struct past *past, const struct report_view *view, struct walk_step from);

void walk_fini(struct walk *walk);

#endif
