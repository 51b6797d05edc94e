/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ENGINE_STEP_PRIV_H
#define ENGINE_STEP_PRIV_H

/* What a step of a rule's run and one of a machine's instance have in common: to judge transitions and to take them. */

#include "engine/index-priv.h"
#include "engine/why-priv.h"

struct engine_step {
	struct engine *engine;
	struct engine_rule *rule;
	const struct engine_event *event;
	uint64_t limit;                     /* ordinals from here on are of this event */
	uint64_t epoch;                     /* the rule's loss epoch before this event */
	struct engine_run *matched, **tail; /* runs whose match is to be told */
	/* Runs that come to another state when the event is done (LATEST); the one that was opened; */
	struct engine_run *entered, **entered_tail;
	bool dropped;               /* a match has ended the others of its key */
	bool crowded;               /* there is one run more than there are places */
	struct engine_run *refused; /* one that found no place, where others of its key depend on it */
	bool marks_all;             /* the same, and its key is not known */
	uint32_t known_state;       /* the state whose transitions are these */
	const struct engine_group *known;
};

/* rest: as in a plan, and there is something. */
static inline bool engine_step_rest_holds(const struct engine_step *step, uint32_t rest, const char *slots)
{
	struct engine_frame *frame = &step->engine->frame;

	frame->base[ENGINE_BASE_RECORD] = (char *)step->event->record; /* read only */
	frame->base[ENGINE_BASE_SLOTS] = (char *)slots;
	frame->divisions = &step->rule->stats.divisions_by_zero;
	return engine_code_holds(&step->engine->code.ops[rest - 1], frame);
}

static inline bool engine_step_fits(const struct engine_step *step, const struct engine_transition *transition,
				    const char *slots)
{
	const struct engine_condition *fit = &transition->fit;

	return engine_range_holds(&fit->range, (const char *)step->event->record, slots) &&
	       (!fit->rest || engine_step_rest_holds(step, fit->rest, slots));
}

/* The first of count transitions that fits, judged on slots; or NULL. */
static inline const struct engine_transition *engine_step_find(const struct engine_step *step,
							       const struct engine_transition *transition,
							       uint32_t count, const char *slots)
{
	for (uint32_t i = 0; i < count; i++) { /* where there are none, transition may be NULL */
		if (engine_step_fits(step, &transition[i], slots))
			return &transition[i];
	}
	return NULL;
}

/*
 * Lets the run take the transition as far as it concerns itself: actions, hold, history. Returns the new state or
 * PROGRAM_TARGET_*. A run that cannot keep its history is refused.
 */
static inline __attribute__((always_inline)) uint32_t engine_step_take(struct engine_step *step, struct engine_run *run,
								       const struct engine_transition *transition)
{
	struct engine_rule *rule = step->rule;
	const struct engine_effect *effect = &transition->effect;
	const char *record = (const char *)step->event->record;

	bool holds;

	engine_copies_do(effect, record, run->slots);
	holds = (!effect->rest || engine_step_rest_holds(step, effect->rest, run->slots)) &&
		engine_range_holds(&effect->hold, record, run->slots);
	if (rule->why)
		engine_why_hold(step, transition, run->slots);
	if (!holds) {
		if (rule->why)
			engine_why_fail(rule, run, transition, step->event->record);
		return PROGRAM_TARGET_END;
	}
	if (transition->element != PROGRAM_NONE && transition->target != PROGRAM_TARGET_END &&
	    engine_history_append(rule->history, engine_history_of(&rule->runs, run), step->event,
				  transition->element)) {
		engine_refuse(rule);
		rule->stats.events_refused++;
		step->marks_all |= rule->drop;
		return PROGRAM_TARGET_END;
	}
	return transition->target;
}

static const struct engine_group engine_no_group;

/* The transitions of the state for events of type. */
static inline const struct engine_group *engine_step_group(const struct engine_state *state, uint32_t type)
{
	for (uint32_t i = 0; i < state->group_count; i++) {
		if (state->groups[i].type == type)
			return &state->groups[i];
	}
	return &engine_no_group;
}

#endif
