// SPDX-License-Identifier: BSD-2-Clause
/*
 * Walks along wakers. Whoever is followed is followed back to where the thread that it woke had blocked; those that
 * wait for this are on a stack, the limits of which grow upwards. Each step ends at an earlier time; where none does,
 * as in a trace that somebody made up, so many hops end it.
 */

#include "report/walk.h"

#include "base/alloc.h"

#include <errno.h>

enum { DEPTH = 1024, HOPS = 64 };

/* Its time from limit on belongs to another one. */
struct frame {
	uint64_t limit;
	uint32_t thread;
};

struct walk_place {
	struct walk *walk;
	struct past *past;
	const struct report_view *view;
	uint64_t time, limit;
	uint32_t thread;
	uint32_t hops; /* since time went back */
	size_t depth;
	struct frame *frames;
};

static const uint8_t whats[REPORT_STATES] = {
	[REPORT_RUNNING] = WALK_RUNNING,
	[REPORT_READY] = WALK_READY,
	[REPORT_BLOCKED] = WALK_BLOCKED,
};

/* What the thread was from begin, or from the limit, until now. */
static int add_step(struct walk_place *at, uint64_t begin, struct walk_step what)
{
	struct walk *walk = at->walk;

	if (alloc_grow(&walk->steps, &walk->capacity, walk->count, sizeof *walk->steps))
		return -ENOMEM;
	what.begin = begin > at->limit ? begin : at->limit;
	what.end = at->time;
	what.thread = at->thread;
	walk->steps[walk->count++] = what;
	at->time = what.begin;
	at->hops = 0;
	return 0;
}

/* No slice tells of it: it is not known what it was, or it was not there yet, and this is the time of who made it. */
static int before_all(struct walk_place *at, uint64_t known_until)
{
	const struct report_thread *thread = &at->view->threads[at->thread];

	if (thread->is_born && thread->birth == at->time && thread->parent != REPORT_NONE && at->hops < HOPS) {
		at->thread = thread->parent;
		at->hops++;
		return 0;
	}
	if (thread->is_born && thread->birth > known_until && thread->birth < at->time)
		known_until = thread->birth;
	return add_step(at, known_until, (struct walk_step){ .by = REPORT_NONE });
}

/* Whether anything is known of what the thread was before now, behind limit. */
static bool is_followed(struct walk_place *at, uint32_t thread, uint64_t limit)
{
	const struct past_item *slice;

	if (thread >= at->view->thread_count || thread == at->thread)
		return false;
	if (at->hops >= HOPS || at->depth == DEPTH) {
		at->walk->too_deep++;
		return false;
	}
	slice = past_find(at->past, thread, at->time);
	return slice && slice->end > limit;
}

static int blocked(struct walk_place *at, const struct past_item *slice)
{
	struct walk_step what = { .what = WALK_BLOCKED, .by = slice->waker, .reason = slice->reason };
	uint64_t begin = slice->begin;
	uint32_t waker = slice->waker;

	if (waker == REPORT_TIMER || waker == REPORT_INTERRUPT) {
		what.what = waker == REPORT_TIMER ? WALK_TIMER : WALK_INTERRUPT;
		return add_step(at, begin, what);
	}
	if (!is_followed(at, waker, begin > at->limit ? begin : at->limit))
		return add_step(at, begin, what);
	if (begin > at->limit) {
		at->frames[at->depth++] = (struct frame){ at->limit, at->thread };
		at->limit = begin;
	}
	at->thread = waker;
	at->hops++;
	return 0;
}

static int go_back(struct walk_place *at)
{
	const struct past_item *slice = past_find(at->past, at->thread, at->time);
	struct walk_step what;

	if (!slice || slice->end < at->time)
		return before_all(at, slice ? slice->end : 0);
	if (slice->state == REPORT_BLOCKED)
		return blocked(at, slice);
	what = (struct walk_step){ .what = whats[slice->state], .by = REPORT_NONE };
	if (slice->state == REPORT_READY) {
		what.reason = slice->reason;
		what.by = past_ran(at->past, slice->cpu, slice->begin > at->limit ? slice->begin : at->limit, at->time);
	}
	return add_step(at, slice->begin, what);
}

int walk_back(struct walk *walk, struct past *past, const struct report_view *view, struct walk_step from)
{
	struct walk_place at = { walk, past, view, from.end, from.begin, from.thread, 0, 0, NULL };
	int result = 0;

	at.frames = alloc_zero(DEPTH, sizeof *at.frames);
	if (!at.frames)
		return -ENOMEM;
	while (!result && at.time > from.begin) {
		if (at.time > at.limit) {
			result = go_back(&at);
			continue;
		}
		at.depth--;
		at.limit = at.frames[at.depth].limit;
		at.thread = at.frames[at.depth].thread;
	}
	alloc_free(at.frames);
	return result;
}

void walk_fini(struct walk *walk)
{
	alloc_free(walk->steps);
	*walk = (struct walk){ 0 };
}
