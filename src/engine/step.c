// SPDX-License-Identifier: BSD-2-Clause
/*
 * Steps the runs of one rule by an event: which it concerns, in which order they are stepped, which transition each
 * takes, what opens and what is dropped. docs/internals/execution.md is the text, this its letter.
 *
 * Runs are visited along their chains while steps change those very chains. That is safe because a step only takes its
 * own run out and only appends at the ends, and what it appends is known by its ordinal: a copy's is not below the
 * limit taken at the start, a moved run's not above that of the run just stepped.
 */

#include "engine/life-priv.h"

#include <assert.h>
#include <string.h>

/* What almost every step does is one function, and what few do is none of it: calls would cost as much as they do. */
#define PART  static inline __attribute__((always_inline))
#define ASIDE static __attribute__((noinline))

/* No place for a run, or no memory for it (NULL): one of its key is kept until what depends on it is marked. */
ASIDE void refuse(struct engine_step *step, struct engine_run *run)
{
	struct engine_rule *rule = step->rule;

	engine_refuse(rule);
	if (run && (!rule->drop || step->refused))
		engine_runs_give(rule, run);
	else if (run)
		step->refused = run;
	else if (rule->drop)
		step->marks_all = true;
}

/* The run, in no list, comes to its state when the event is done. */
ASIDE void enter_later(struct engine_step *step, struct engine_run *run)
{
	run->next = NULL;
	*step->entered_tail = run;
	step->entered_tail = &run->next;
}

/* Whether there is a place for an opened run, perhaps that of another one. */
ASIDE bool find_place(struct engine_step *step, struct engine_run *run)
{
	struct engine_rule *rule = step->rule;

	struct engine_run *given = NULL;

	if (!engine_life_may_open(rule, run))
		return false;
	if (rule->latest) /* a match will end what it replaces anyway */
		engine_places_enter(rule, run, !(rule->drop && step->matched));
	if (rule->image->per_key && !engine_places_share(rule, run, &given))
		return false;
	if (given && rule->drop && !step->refused)
		step->refused = given;
	else if (given)
		engine_runs_give(rule, given);
	step->crowded = rule->replaces && rule->live >= rule->image->pool;
	return true;
}

/* Parks a run that was opened or copied, or refuses it. */
PART void park(struct engine_step *step, struct engine_run *run, struct engine_run *original)
{
	struct engine_rule *rule = step->rule;

	if ((rule->shares && !original && !find_place(step, run)) ||
	    !engine_life_has_room(rule, step->crowded && !original)) {
		refuse(step, run);
		return;
	}
	engine_life_count(rule, run);
	if (rule->latest)
		enter_later(step, run);
	else
		engine_life_link(rule, run);
	if (rule->runs.timer_offset)
		engine_timers_add(step->engine, rule, run, original);
}

/* The run, in no list any more, has matched. */
ASIDE void match(struct engine_step *step, struct engine_run *run)
{
	struct engine_rule *rule = step->rule;

	if (rule->defers) {
		run->next = NULL;
		*step->tail = run;
		step->tail = &run->next;
		return;
	}
	engine_report(step->engine, rule, run, step->event->record, step->epoch);
	engine_runs_give(rule, run);
}

/* A parked run takes a transition. It leaves its chain beforehand where its key may change, since the chain is found by
 * it. counts: here and below, whether what becomes of runs is counted; where a constant is given, it costs nothing. */
PART void advance_run(struct engine_step *step, struct engine_run *run, const struct engine_transition *transition,
		      bool counts)
{
	struct engine_rule *rule = step->rule;

	if (counts)
		engine_why_take(rule, run, transition, step->event->record);
	if (transition->leaves)
		engine_life_unlink(rule, run);
	uint32_t target = engine_step_take(step, run, transition);
	if (target < PROGRAM_TARGET_MATCH) {
		if (counts)
			engine_why_move(rule, run, target);
		run->state = target;
		if (transition->leaves && rule->latest)
			enter_later(step, run);
		else if (transition->leaves)
			engine_life_link(rule, run);
		return;
	}
	if (!transition->leaves)
		engine_life_unlink(rule, run);
	engine_life_leave(rule, run);
	if (target == PROGRAM_TARGET_MATCH)
		match(step, run);
	else
		engine_runs_give(rule, run);
}

/* A run that was opened or copied, and has taken its first transition, is parked if it lives. */
PART void settle(struct engine_step *step, struct engine_run *run, struct engine_run *original)
{
	if (run->state < PROGRAM_TARGET_MATCH) {
		park(step, run, original);
		return;
	}
	step->rule->stats.runs_opened++;
	if (run->state == PROGRAM_TARGET_MATCH)
		match(step, run);
	else
		engine_runs_give(step->rule, run);
}

ASIDE void copy(struct engine_step *step, struct engine_run *original, const struct engine_transition *transition)
{
	struct engine_run *run;

	if (step->rule->why)
		engine_why_take(step->rule, original, transition, step->event->record);
	run = engine_life_copy(step, original, transition);
	if (run)
		settle(step, run, original);
	else
		refuse(step, NULL);
}

/* SKIPTILLANY: what is forbidden ends the run; progress is a copy's; what is in place the run does itself. */
ASIDE void step_any(struct engine_step *step, struct engine_run *run, const struct engine_group *group)
{
	const struct engine_transition *transition = group->transitions, *progress = NULL, *in_place = NULL;

	for (uint32_t i = 0; i < group->count; i++, transition++) {
		const struct engine_transition **found = transition->in_place ? &in_place : &progress;

		if ((*found && !transition->forbid) || !engine_step_fits(step, transition, run->slots))
			continue;
		if (transition->forbid) {
			advance_run(step, run, transition, step->rule->why);
			return;
		}
		*found = transition;
	}
	if (progress)
		copy(step, run, progress);
	if (in_place)
		advance_run(step, run, in_place, step->rule->why);
}

PART void step_run(struct engine_step *step, struct engine_run *run, bool counts)
{
	struct engine_rule *rule = step->rule;

	if (run->state != step->known_state) {
		step->known_state = run->state;
		step->known = engine_step_group(&rule->states[run->state], step->event->record->type);
	}
	if (counts) {
		engine_why_meet(rule, step->known);
		engine_why_judge(step, step->known->transitions, step->known->count, run->slots);
	}
	if (rule->any) {
		step_any(step, run, step->known);
		return;
	}
	const struct engine_transition *transition =
		engine_step_find(step, step->known->transitions, step->known->count, run->slots);
	if (transition) {
		advance_run(step, run, transition, counts);
	} else if (rule->strict) {
		if (counts)
			engine_why_break(step->engine, rule, step->event->record->type);
		engine_life_end(rule, run);
	}
}

/* Whether a run met on a chain was there before this event and has not been stepped: see the head of this file. */
static inline bool is_due(const struct engine_step *step, const struct engine_run *run, uint64_t stepped)
{
	return run && run->ordinal < step->limit && run->ordinal >= stepped;
}

/* stepped is one more than the ordinal of the run stepped last. */
PART void step_chain(struct engine_step *step, struct engine_run *run, bool counts)
{
	uint64_t stepped = 0;

	while (is_due(step, run, stepped)) {
		struct engine_run *next = run->next;

		stepped = run->ordinal + 1;
		step_run(step, run, counts);
		run = next;
	}
}

/* Steps the runs of several chains in opening order. */
static void step_chains(struct engine_step *step, struct engine_run **cursors, uint32_t count)
{
	uint64_t stepped = 0;

	for (;;) {
		struct engine_run **least = NULL;

		for (uint32_t i = 0; i < count; i++) {
			if (is_due(step, cursors[i], stepped) && (!least || cursors[i]->ordinal < (*least)->ordinal))
				least = &cursors[i];
		}
		if (!least)
			return;
		struct engine_run *run = *least;
		*least = run->next;
		stepped = run->ordinal + 1;
		step_run(step, run, step->rule->why);
	}
}

static uint64_t steps_counted(const struct engine_run *run, const struct engine_counting *counting)
{
	uint64_t count;

	memcpy(&count, run->slots + counting->slot_offset, sizeof count);
	return count;
}

static void set_count(struct engine_run *run, const struct engine_counting *counting, uint64_t count)
{
	memcpy(run->slots + counting->slot_offset, &count, sizeof count);
}

/*
 * Steps a chain that is counted as a whole: the oldest runs as long as they have reached the threshold, each of which
 * leaves, and all others at once. A transition is judged on the count as it is; leaving the chain adds what is pending.
 */
ASIDE void step_counting(struct engine_step *step, const struct engine_counting *counting, struct engine_run *run)
{
	struct engine_runs *runs = &step->rule->runs;

	while (run) {
		struct engine_run *next = run->next;
		uint64_t stored = steps_counted(run, counting), count = stored + *engine_pending_of(runs, run);

		if ((int64_t)count < counting->threshold)
			break;
		const struct engine_group *group = engine_step_group(&step->rule->states[run->state], counting->type);
		set_count(run, counting, count);
		const struct engine_transition *transition =
			engine_step_find(step, group->transitions, group->count, run->slots);
		set_count(run, counting, stored);
		assert(transition && transition->leaves);
		advance_run(step, run, transition, false); /* such a class is not counted as a whole where runs are */
		run = next;
	}
	if (run)
		++*engine_pending_of(runs, run);
}

/* Steps the runs of the one class that the event concerns. */
PART void step_class(struct engine_step *step, const struct engine_key *key, bool counts)
{
	const struct engine_counting *counting = key->class->counting;
	struct engine_run *first = engine_index_look(step->rule, key, (const char *)step->event->record);

	if (!first)
		return;
	if (counting && counting->type == step->event->record->type) {
		step_counting(step, counting, first);
		return;
	}
	if (counting)
		engine_index_spread(step->rule, counting, first);
	step_chain(step, first, counts);
}

ASIDE void step_classes(struct engine_step *step, const struct engine_entry *entry)
{
	struct engine_run **cursors = step->engine->cursors;
	uint32_t count = 0;

	for (uint32_t i = 0; i < entry->key_count; i++) {
		const struct engine_key *key = &entry->keys[i];
		struct engine_run *first = engine_index_look(step->rule, key, (const char *)step->event->record);

		if (!first)
			continue;
		cursors[count++] = first;
		if (key->class->counting)
			engine_index_spread(step->rule, key->class->counting, first);
	}
	step_chains(step, cursors, count);
}

/* Returns the ordinal of the run that was opened, or that of none. */
PART uint64_t open_run(struct engine_step *step, const struct engine_group *start, bool counts)
{
	const struct engine_transition *transition;

	if (counts)
		engine_why_judge(step, start->transitions, start->count, step->engine->zeros);
	transition = engine_step_find(step, start->transitions, start->count, step->engine->zeros);
	if (!transition)
		return UINT64_MAX;
	if (counts)
		engine_why_take(step->rule, NULL, transition, step->event->record);
	struct engine_run *run = engine_life_open(step, transition);
	if (!run) {
		refuse(step, NULL);
		return UINT64_MAX;
	}
	settle(step, run, NULL);
	return step->engine->ordinal - 1;
}

/* Runs on their way to another state end before they are there, but for the one opened. */
ASIDE void end_entering(struct engine_step *step, uint64_t opened)
{
	struct engine_rule *rule = step->rule;
	struct engine_run *run = step->entered, *next;

	step->entered = NULL;
	step->entered_tail = &step->entered;
	for (; run; run = next) {
		next = run->next;
		if (run->ordinal == opened) {
			enter_later(step, run);
			continue;
		}
		if (rule->why)
			engine_why_end(rule, PROGRAM_WHY_DROPPED);
		engine_life_leave(rule, run);
		engine_runs_give(rule, run);
	}
}

/* They are there: in opening order, each in the place of the one of its key. */
ASIDE void enter(struct engine_step *step)
{
	struct engine_run *run = step->entered, *next;

	for (; run; run = next) {
		next = run->next;
		engine_places_enter(step->rule, run, true);
		engine_life_link(step->rule, run);
	}
}

/* All runs that matched have the join key of the event, so any of them tells which others to drop. */
ASIDE void report(struct engine_step *step, uint64_t opened)
{
	struct engine_rule *rule = step->rule;
	struct engine_run *run = step->matched, *next;
	struct engine_spared spared = { .limit = step->engine->ordinal, .opened = opened };
	bool has_match = false;

	for (; run; run = run->next)
		has_match |= engine_report(step->engine, rule, run, step->event->record, step->epoch);
	if (has_match && rule->drop) {
		end_entering(step, opened);
		engine_drop(rule, step->matched->slots, &spared);
	}
	for (run = step->matched; run; run = next) {
		next = run->next;
		engine_runs_give(rule, run);
	}
}

/* What depends on the runs that this event could not open or copy, which all have its join key. */
ASIDE void mark(struct engine_step *step, uint64_t opened)
{
	if (step->rule->image->loss == PROGRAM_DISCARD)
		end_entering(step, opened);
	for (struct engine_run *run = step->entered; run; run = run->next)
		if (run->ordinal != opened)
			run->epoch = ENGINE_EPOCH_MARKED;
	if (step->marks_all)
		engine_mark_all(step->rule);
	else
		engine_mark_key(step->rule, step->refused->slots, opened);
	if (step->refused)
		engine_runs_give(step->rule, step->refused);
}

PART void step_rule(struct engine *engine, const struct engine_entry *entry, const struct engine_event *event,
		    bool counts)
{
	struct engine_rule *rule = entry->rule;
	uint64_t opened = UINT64_MAX;
	struct engine_step step; /* as known is not yet, zeroing all of it is work for nothing */

	step.engine = engine;
	step.rule = rule;
	step.event = event;
	step.limit = engine->ordinal;
	step.epoch = rule->epoch + rule->doubts;
	step.matched = NULL;
	step.tail = &step.matched;
	step.entered = NULL;
	step.entered_tail = &step.entered;
	step.crowded = false;
	step.refused = NULL;
	step.marks_all = false;
	step.known_state = PROGRAM_NONE;
	if (rule->live && entry->key_count == 1)
		step_class(&step, entry->keys, counts);
	else if (rule->live && entry->key_count)
		step_classes(&step, entry);
	if (entry->start.count)
		opened = open_run(&step, &entry->start, counts);
	if (step.matched)
		report(&step, opened);
	if (step.refused || step.marks_all)
		mark(&step, opened);
	if (step.entered)
		enter(&step);
	if (step.crowded)
		engine_places_free(rule, opened);
}

ASIDE __attribute__((cold)) void step_counted_rule(struct engine *engine, const struct engine_entry *entry,
						   const struct engine_event *event)
{
	step_rule(engine, entry, event, true);
}

void engine_step(struct engine *engine, const struct engine_entry *entry, const struct engine_event *event)
{
	if (__builtin_expect(entry->rule->why != NULL, false))
		step_counted_rule(engine, entry, event);
	else
		step_rule(engine, entry, event, false);
}
