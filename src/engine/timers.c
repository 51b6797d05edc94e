// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides when runs are overdue and in which order. Per rule the parked runs stand by first_ts, and since the limit is
 * the rule's, by deadline: a new run is the latest, a copy stands with its original, so adding and removing take
 * constant time. A heap of rules by the deadline of their first run tells whose turn it is; its keys are lower bounds
 * (a rule's first deadline only ever moves forward) and are put right when they come up.
 */

#include "engine/engine-priv.h"

#include <stddef.h>
#include <string.h>

static uint64_t deadline_of(const struct engine_rule *rule, uint64_t first_ts)
{
	uint64_t at;

	return __builtin_add_overflow(first_ts, rule->image->within_ns, &at) ? UINT64_MAX : at;
}

static bool is_before(const struct engine_deadline *a, const struct engine_deadline *b)
{
	return a->at != b->at ? a->at < b->at : a->ordinal < b->ordinal;
}

static void sift_up(struct engine *engine, uint32_t at)
{
	struct engine_deadline *heap = engine->heap, moved = heap[at];

	for (; at && is_before(&moved, &heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = moved;
}

static void sift_down(struct engine *engine)
{
	struct engine_deadline *heap = engine->heap, moved = heap[0];
	uint32_t at = 0;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < engine->heap_count && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (child >= engine->heap_count || !is_before(&heap[child], &moved))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

static void set_next(struct engine *engine)
{
	engine->deadline = engine->heap_count ? engine->heap[0].at : UINT64_MAX;
}

/* The heap has room for every rule with a limit. */
static void push(struct engine *engine, struct engine_rule *rule, const struct engine_run *run)
{
	struct engine_deadline deadline = { deadline_of(rule, run->first_ts), run->ordinal, rule };

	engine->heap[engine->heap_count] = deadline;
	sift_up(engine, engine->heap_count++);
	rule->timers.in_heap = true;
	set_next(engine);
}

void engine_timers_add(struct engine *engine, struct engine_rule *rule, struct engine_run *run,
		       struct engine_run *original)
{
	struct engine_timers *timers = &rule->timers;

	run->earlier = original ? original : timers->last;
	run->later = original ? original->later : NULL;
	if (run->earlier)
		run->earlier->later = run;
	else
		timers->first = run;
	if (run->later)
		run->later->earlier = run;
	else
		timers->last = run;
	if (timers->sorted && run->first_ts == timers->sorted_ts)
		timers->sorted = false;
	if (!timers->in_heap)
		push(engine, rule, run);
}

void engine_timers_remove(struct engine_rule *rule, struct engine_run *run)
{
	if (run->earlier)
		run->earlier->later = run->later;
	else
		rule->timers.first = run->later;
	if (run->later)
		run->later->earlier = run->earlier;
	else
		rule->timers.last = run->earlier;
}

/* Puts the runs that share the earliest first_ts in opening order; only copies can have broken it. */
static void sort_front(struct engine_timers *timers)
{
	struct engine_run *last = timers->first, *rest, *run;

	if (timers->sorted && timers->sorted_ts == timers->first->first_ts)
		return;
	while (last->later && last->later->first_ts == timers->first->first_ts)
		last = last->later;
	rest = last->later;
	last->later = NULL;
	run = engine_runs_sort(timers->first, offsetof(struct engine_run, later));
	timers->first = run;
	run->earlier = NULL;
	for (; run->later; run = run->later)
		run->later->earlier = run;
	run->later = rest;
	if (rest)
		rest->earlier = run;
	else
		timers->last = run;
	timers->sorted = true;
	timers->sorted_ts = run->first_ts;
}

/* Whether the heap's first entry is true; if not, puts it right. */
static bool settle(struct engine *engine)
{
	struct engine_deadline *top = &engine->heap[0], truth = { .rule = top->rule };
	struct engine_timers *timers = &top->rule->timers;

	if (!timers->first) {
		timers->in_heap = false;
		*top = engine->heap[--engine->heap_count];
		if (engine->heap_count)
			sift_down(engine);
		return false;
	}
	if (top->rule->any)
		sort_front(timers);
	truth.at = deadline_of(top->rule, timers->first->first_ts);
	truth.ordinal = timers->first->ordinal;
	if (truth.at == top->at && truth.ordinal == top->ordinal)
		return true;
	*top = truth;
	sift_down(engine);
	return false;
}

/* The match of a run whose time is up: the deadline's time, the context of the last positive event. */
static void match(struct engine *engine, struct engine_rule *rule, struct engine_run *run)
{
	const struct program_slot *context =
		&engine->program->slots[rule->image->first_slot + rule->image->context_slot];
	struct engine_spared spared = {
		.limit = engine->ordinal,
		.opened = UINT64_MAX,
		.deadline = true,
		.first_ts = run->first_ts,
	};
	struct event_header header = { .ts = engine->now, .seq = engine->seq, .type = PROGRAM_NONE };
	uint64_t numbers[3];

	for (int i = 0; i < 3; i++)
		memcpy(&numbers[i], run->slots + context[i].offset, sizeof numbers[i]);
	header.cpu = (uint32_t)numbers[0];
	header.pid = (uint32_t)numbers[1];
	header.tid = (uint32_t)numbers[2];
	memcpy(header.comm, run->slots + context[3].offset,
	       strnlen(run->slots + context[3].offset, EVENT_COMM_BYTES - 1));
	if (engine_report(engine, rule, run, &header, rule->epoch) && rule->drop)
		engine_drop(rule, run->slots, &spared);
}

void engine_timers_expire(struct engine *engine, uint64_t now)
{
	while (engine->heap_count && engine->heap[0].at < now && !engine->failed) {
		struct engine_rule *rule = engine->heap[0].rule;

		if (!settle(engine))
			continue;
		struct engine_run *run = rule->timers.first;
		bool matches = rule->states[run->state].deadline;
		engine->now = deadline_of(rule, run->first_ts);
		engine_unpark(rule, run);
		if (matches)
			match(engine, rule, run);
		engine_runs_give(rule, run);
	}
	set_next(engine);
}
