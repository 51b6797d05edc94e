// SPDX-License-Identifier: BSD-2-Clause
/* Selects the rules of a part that a tree over the values of one field reaches. */

#include "ebpf/plan/guards.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>

enum { WORTH_A_TREE = 4 };

static int by_value(const void *left, const void *right)
{
	const struct plan_event *const *x = left, *const *y = right, *a = *x, *b = *y;

	if (a->guard.field != b->guard.field)
		return a->guard.field < b->guard.field ? -1 : 1;
	if (a->guard.value != b->guard.value)
		return a->guard.value < b->guard.value ? -1 : 1;
	return a->rule < b->rule ? -1 : a->rule > b->rule;
}

/* Keeps the rules about the field that most are about. */
static void keep_commonest(struct plan_guards *guards)
{
	uint32_t best = 0, best_count = 0;

	for (uint32_t first = 0, end; first < guards->count; first = end) {
		uint32_t field = guards->events[first]->guard.field;

		for (end = first; end < guards->count && guards->events[end]->guard.field == field;)
			end++;
		if (end - first > best_count) {
			best = first;
			best_count = end - first;
		}
	}
	if (best_count < WORTH_A_TREE)
		best_count = 0;
	for (uint32_t i = 0; i < best_count; i++)
		guards->events[i] = guards->events[best + i];
	guards->count = best_count;
}

int plan_guards(const struct plan *plan, uint32_t type, const struct plan_part *part, struct plan_guards *guards)
{
	const struct plan_event *event;

	guards->count = 0;
	guards->events = alloc_zero(part->end - part->first, sizeof *guards->events);
	if (!guards->events)
		return -ENOMEM;
	for (uint32_t i = 0; (event = plan_next(plan, type, part, &i));)
		if (event->guard.is_there)
			guards->events[guards->count++] = event;
	qsort(guards->events, guards->count, sizeof *guards->events, by_value);
	keep_commonest(guards);
	return 0;
}

void plan_guards_fini(struct plan_guards *guards)
{
	alloc_free(guards->events);
	guards->events = NULL;
}

bool plan_guards_has(const struct plan_guards *guards, const struct plan_event *event)
{
	for (uint32_t i = 0; i < guards->count; i++)
		if (guards->events[i] == event)
			return true;
	return false;
}
