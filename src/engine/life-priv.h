/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ENGINE_LIFE_PRIV_H
#define ENGINE_LIFE_PRIV_H

/*
 * The life of a run. An instance of a machine is a run, too, of which there is one per key: what the two have in common
 * is here. A run is made by a first transition, as a new one or as a copy. If it lives on it is kept, where there is
 * room: it counts, and is linked to what finds it by its state and slots. While it is linked neither may change, so a
 * transition to another state or key stands between unlinking and linking. In the end it is unlinked, leaves what knows
 * its time, and its memory is given back.
 */

#include "engine/machine-priv.h"
#include "engine/places-priv.h"
#include "engine/step-priv.h"

#include <string.h>

static inline void engine_life_set_first_ts(struct engine_rule *rule, struct engine_run *run, uint64_t first_ts)
{
	if (rule->runs.timer_offset)
		engine_timer_of(&rule->runs, run)->first_ts = first_ts;
}

static inline __attribute__((always_inline)) void engine_life_first(struct engine_step *step, struct engine_run *run,
								    const struct engine_transition *transition)
{
	run->ordinal = step->engine->ordinal++;
	run->state = engine_step_take(step, run, transition);
}

/* A new run, its state where the transition leads to. NULL: memory is short, and nothing has happened. */
static inline __attribute__((always_inline)) struct engine_run *engine_life_open(
	struct engine_step *step, const struct engine_transition *transition)
{
	struct engine_rule *rule = step->rule;
	struct engine_run *run = engine_runs_take(rule);

	if (!run)
		return NULL;
	if (!transition->effect.fills)
		memset(run->slots, 0, rule->image->slot_bytes);
	engine_life_set_first_ts(rule, run, step->event->record->ts);
	run->epoch = rule->epoch;
	if (rule->why)
		engine_why_open(rule, run, step->event->record);
	engine_life_first(step, run, transition);
	return run;
}

/* The same of a copy, to which the transition happens in place of the original. */
static inline struct engine_run *engine_life_copy(struct engine_step *step, struct engine_run *original,
						  const struct engine_transition *transition)
{
	struct engine_rule *rule = step->rule;
	struct engine_run *run = engine_runs_take(rule);

	if (!run)
		return NULL;
	memcpy(run->slots, original->slots, rule->image->slot_bytes);
	run->epoch = original->epoch;
	if (rule->runs.timer_offset)
		engine_life_set_first_ts(rule, run, engine_timer_of(&rule->runs, original)->first_ts);
	if (rule->runs.who_offset)
		memcpy((char *)run + rule->runs.who_offset, (char *)original + rule->runs.who_offset, sizeof(uint64_t));
	if (rule->history) {
		*engine_history_of(&rule->runs, run) = *engine_history_of(&rule->runs, original);
		engine_history_share(*engine_history_of(&rule->runs, run));
	}
	engine_life_first(step, run, transition);
	return run;
}

/* Into what finds it by some parts of its key. */
static inline __attribute__((always_inline)) void engine_life_link_any(struct engine_rule *rule, struct engine_run *run)
{
	for (uint32_t i = 0; rule->machine && i < rule->machine->any_count; i++)
		engine_any_insert(&rule->machine->any[i], run);
}

/* Into what finds it. */
static inline __attribute__((always_inline)) void engine_life_link(struct engine_rule *rule, struct engine_run *run)
{
	engine_index_insert(rule, run);
	engine_life_link_any(rule, run);
}

static inline __attribute__((always_inline)) void engine_life_unlink(struct engine_rule *rule, struct engine_run *run)
{
	engine_index_remove(rule, run);
	for (uint32_t i = 0; rule->machine && i < rule->machine->any_count; i++)
		engine_any_remove(&rule->machine->any[i], run);
}

/* Of the process that opened the run. */
static inline uint32_t *engine_life_opened(const struct engine_rule *rule, const struct engine_run *run)
{
	return &rule->opened[engine_word_at(run->slots + rule->opener_offset) % PROGRAM_OPENERS];
}

/* Whether the process that opens the run has not had its share. */
static inline bool engine_life_may_open(const struct engine_rule *rule, const struct engine_run *run)
{
	return !rule->opened || *engine_life_opened(rule, run) < rule->image->per_process;
}

/* crowds: one more than there are places is taken in, as another will give way. */
static inline bool engine_life_has_room(struct engine_rule *rule, bool crowds)
{
	struct engine_machine *machine = rule->machine;

	if (rule->live >= rule->image->pool && !crowds)
		return false;
	if (2 * rule->live > rule->by_key.mask &&
	    ((machine && engine_any_grow(machine, 2 * (rule->by_key.mask + 1))) || engine_index_grow(rule)))
		return false;
	return !machine || !machine->has_timer || !engine_due_reserve(machine, rule->live);
}

/* There is room. The run is not linked yet; what knows its time is told of it by the caller. */
static inline __attribute__((always_inline)) void engine_life_count(struct engine_rule *rule, struct engine_run *run)
{
	rule->stats.runs_opened++;
	if (__builtin_expect(rule->why != NULL, false))
		engine_why_come(rule, run->state);
	if (rule->runs.age_offset)
		engine_ages_add(rule, run);
	if (rule->opened)
		++*engine_life_opened(rule, run);
	engine_live_add(rule);
	if (rule->live > rule->stats.runs_live_max && rule->live <= rule->image->pool)
		rule->stats.runs_live_max = rule->live;
}

static inline __attribute__((always_inline)) void engine_life_keep(struct engine_rule *rule, struct engine_run *run)
{
	engine_life_link(rule, run);
	engine_life_count(rule, run);
}

/* A run that was kept and is not linked any more has an end; its memory is the caller's to give back. */
static inline __attribute__((always_inline)) void engine_life_leave(struct engine_rule *rule, struct engine_run *run)
{
	if (__builtin_expect(rule->why != NULL, false))
		engine_why_leave(rule, run);
	if (rule->runs.timer_offset)
		engine_timers_remove(rule, run);
	if (rule->runs.age_offset)
		engine_ages_remove(rule, run);
	if (rule->opened)
		--*engine_life_opened(rule, run);
	if (rule->machine && rule->machine->has_timer)
		engine_due_set(rule->machine, run, 0);
	engine_live_remove(rule);
}

/* Ends a run that is kept, at once. */
static inline void engine_life_end(struct engine_rule *rule, struct engine_run *run)
{
	engine_life_unlink(rule, run);
	engine_life_leave(rule, run);
	engine_runs_give(rule, run);
}

#endif
