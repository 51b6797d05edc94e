// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the runs that are overdue, in order. Per rule the parked runs stand by first_ts, and since the limit is the
 * rule's, by deadline: a new run is the latest, unless its event came late, a copy stands with its original, so adding
 * and removing take constant time. A heap of rules by the deadline of their first run tells whose turn it is; its keys
 * are lower bounds (a rule's first deadline only ever moves forward) and are put right when they come up. A machine's
 * instances have times of their own, and a heap of their own (due.c): where its first comes to be due earlier, its
 * place here changes.
 *
 * What is raised at a deadline is an event of that time, which is in time for every run that is due then and has not
 * matched yet. So the runs that only end at a time end after all that matches or goes off at it.
 */

#include "engine/life-priv.h"

#include "base/heap.h"
#include "engine/why-priv.h"
#include "program/query.h"

#include <stddef.h>
#include <string.h>

static uint64_t deadline_of(const struct engine_rule *rule, struct engine_run *run)
{
	uint64_t at;

	if (__builtin_add_overflow(engine_timer_of(&rule->runs, run)->first_ts, rule->image->within_ns, &at))
		return UINT64_MAX;
	return at;
}

static bool is_timer_before(const void *left, const void *right)
{
	const struct engine_deadline *a = left, *b = right;

	return a->at != b->at ? a->at < b->at : a->ordinal < b->ordinal;
}

static void on_timer_place(void *context, const void *item, size_t at)
{
	const struct engine_deadline *deadline = item;

	(void)context;
	deadline->rule->timers.place = (uint32_t)at;
}

static struct heap timer_heap(struct engine *engine)
{
	return (struct heap){
		.items = engine->heap,
		.count = engine->heap_count,
		.item_bytes = sizeof *engine->heap,
		.children = 4,
		.is_before = is_timer_before,
		.on_place = on_timer_place,
	};
}

static void set_next(struct engine *engine)
{
	engine->deadline = engine->heap_count ? engine->heap[0].at : UINT64_MAX;
}

/* The heap has room for every rule. */
static void push_deadline(struct engine *engine, struct engine_deadline deadline)
{
	size_t at = engine->heap_count++;
	struct heap heap = timer_heap(engine);

	heap_up(&heap, at, &deadline);
	deadline.rule->timers.in_heap = true;
	set_next(engine);
}

void engine_timers_hasten(struct engine *engine, struct engine_rule *rule, uint64_t at, uint64_t ordinal)
{
	struct engine_deadline deadline = { at, ordinal, rule };
	struct heap heap = timer_heap(engine);
	uint32_t place = rule->timers.place;

	if (!rule->timers.in_heap) {
		push_deadline(engine, deadline);
	} else if (is_timer_before(&deadline, &engine->heap[place])) {
		heap_up(&heap, place, &deadline);
		set_next(engine);
	}
}

/* The last run that was opened no later than first_ts; of those opened before others that came late, hardly ever far.
 */
static struct engine_run *last_before(const struct engine_rule *rule, uint64_t first_ts)
{
	struct engine_run *run = rule->timers.last;

	while (run && engine_timer_of(&rule->runs, run)->first_ts > first_ts)
		run = engine_timer_of(&rule->runs, run)->earlier;
	return run;
}

void engine_timers_add(struct engine *engine, struct engine_rule *rule, struct engine_run *run,
		       struct engine_run *original)
{
	struct engine_timers *timers = &rule->timers;
	struct engine_timer *timer = engine_timer_of(&rule->runs, run);

	timer->earlier = original ? original : last_before(rule, timer->first_ts);
	timer->later = timer->earlier ? engine_timer_of(&rule->runs, timer->earlier)->later : timers->first;
	if (timer->earlier)
		engine_timer_of(&rule->runs, timer->earlier)->later = run;
	else
		timers->first = run;
	if (timer->later)
		engine_timer_of(&rule->runs, timer->later)->earlier = run;
	else
		timers->last = run;
	if (timers->sorted && timer->first_ts == timers->sorted_ts)
		timers->sorted = false;
	if (!timer->earlier || !timers->in_heap)
		engine_timers_hasten(engine, rule, deadline_of(rule, run), run->ordinal);
}

void engine_timers_remove(struct engine_rule *rule, struct engine_run *run)
{
	struct engine_timer *timer = engine_timer_of(&rule->runs, run);

	if (timer->earlier)
		engine_timer_of(&rule->runs, timer->earlier)->later = timer->later;
	else
		rule->timers.first = timer->later;
	if (timer->later)
		engine_timer_of(&rule->runs, timer->later)->earlier = timer->earlier;
	else
		rule->timers.last = timer->earlier;
}

/* Puts the runs that share the earliest first_ts in opening order; only copies can have broken it. */
static void sort_front(struct engine_rule *rule)
{
	struct engine_timers *timers = &rule->timers;
	struct engine_timer *last = engine_timer_of(&rule->runs, timers->first);
	uint64_t first_ts = last->first_ts;
	struct engine_run *rest, *run;

	if (timers->sorted && timers->sorted_ts == first_ts)
		return;
	while (last->later && engine_timer_of(&rule->runs, last->later)->first_ts == first_ts)
		last = engine_timer_of(&rule->runs, last->later);
	rest = last->later;
	last->later = NULL;
	run = engine_runs_sort(timers->first, rule->runs.timer_offset + offsetof(struct engine_timer, later));
	timers->first = run;
	engine_timer_of(&rule->runs, run)->earlier = NULL;
	for (last = engine_timer_of(&rule->runs, run); last->later; last = engine_timer_of(&rule->runs, run)) {
		engine_timer_of(&rule->runs, last->later)->earlier = run;
		run = last->later;
	}
	last->later = rest;
	if (rest)
		engine_timer_of(&rule->runs, rest)->earlier = run;
	else
		timers->last = run;
	timers->sorted = true;
	timers->sorted_ts = first_ts;
}

/* The first of the runs with the earliest deadline that match at it; NULL: they all end. */
static struct engine_run *first_to_match(const struct engine_rule *rule)
{
	struct engine_run *run = rule->timers.first;
	uint64_t first_ts = engine_timer_of(&rule->runs, run)->first_ts;

	if (!(rule->image->flags & PROGRAM_RULE_DEADLINE))
		return NULL;
	for (; run && !rule->states[run->state].deadline; run = engine_timer_of(&rule->runs, run)->later) {
		if (engine_timer_of(&rule->runs, run)->first_ts != first_ts)
			return NULL;
	}
	return run && engine_timer_of(&rule->runs, run)->first_ts == first_ts ? run : NULL;
}

/* Whether any run of the rule can become overdue; fills in which is the first. */
static bool find_first_deadline(struct engine_rule *rule, struct engine_deadline *first)
{
	struct engine_timers *timers = &rule->timers;
	struct engine_run *run;

	if (rule->machine)
		return engine_machine_first(rule, first);
	if (!timers->first)
		return false;
	if (rule->any)
		sort_front(rule);
	run = first_to_match(rule);
	first->at = deadline_of(rule, timers->first);
	first->ordinal = run ? run->ordinal : timers->first->ordinal | ENGINE_ENDING;
	return true;
}

/* Whether the heap's first entry is true; if not, puts it right. What happens until it is due may change the order. */
static bool settle_first_timer(struct engine *engine, uint64_t now)
{
	struct engine_deadline *top = &engine->heap[0], truth = { .rule = top->rule };
	struct heap heap;

	if (!find_first_deadline(top->rule, &truth)) {
		top->rule->timers.in_heap = false;
		truth = engine->heap[--engine->heap_count];
		heap = timer_heap(engine);
		if (heap.count)
			heap_down(&heap, 0, &truth);
		return false;
	}
	if (truth.at == top->at && truth.ordinal == top->ordinal)
		return true;
	if (truth.at >= now)
		truth.ordinal = 0;
	heap = timer_heap(engine);
	heap_down(&heap, 0, &truth);
	return false;
}

/* The match of a run whose time is up: the deadline's time, the context of the last positive event. */
static void match_in_time(struct engine *engine, struct engine_rule *rule, struct engine_run *run)
{
	const struct program_slot *context = &program_slots(engine->program, rule->image)[rule->image->context_slot];
	struct engine_spared spared = {
		.limit = engine->ordinal,
		.opened = UINT64_MAX,
		.deadline = true,
		.first_ts = engine_timer_of(&rule->runs, run)->first_ts,
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

/* Ends the rule's first run of those that are overdue: one that matches, if there is one. */
static void end_first(struct engine *engine, struct engine_rule *rule, bool matches)
{
	struct engine_run *run = matches ? first_to_match(rule) : rule->timers.first;

	if (rule->why && !matches)
		engine_why_expire(rule, run);
	engine_life_unlink(rule, run);
	engine_life_leave(rule, run);
	if (matches)
		match_in_time(engine, rule, run);
	engine_runs_give(rule, run);
}

/* What was raised may have let runs come to wait for their deadline: nothing is known of the order at one time. */
static void forget_order(struct engine *engine)
{
	struct heap heap = timer_heap(engine);

	for (uint32_t i = 0; i < engine->heap_count; i++)
		engine->heap[i].ordinal = 0;
	for (uint32_t i = engine->heap_count; i-- > 0;) {
		struct engine_deadline deadline = engine->heap[i];

		heap_down(&heap, i, &deadline);
	}
}

void engine_timers_expire(struct engine *engine, uint64_t now)
{
	uint64_t raised = engine->raised.count;

	engine->expiring = true;
	while (engine->heap_count && engine->heap[0].at < now && !engine->failed) {
		struct engine_deadline *top = &engine->heap[0];
		bool ends = top->ordinal & ENGINE_ENDING;

		if (!settle_first_timer(engine, now))
			continue;
		if (ends && raised != engine->raised.count) {
			raised = engine->raised.count;
			forget_order(engine);
			continue;
		}
		if (top->at > engine->now) /* a timer may be set for the past */
			engine->now = top->at;
		if (top->rule->machine)
			engine_machine_expire(engine, top->rule);
		else
			end_first(engine, top->rule, !ends);
		if (engine->raised.used)
			engine_raise(engine);
	}
	engine->expiring = false;
	set_next(engine);
}
