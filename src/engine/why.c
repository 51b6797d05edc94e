// SPDX-License-Identifier: BSD-2-Clause
/* Counts what becomes of runs, for --why. Nothing here runs unless counts were asked for. */

#include "engine/step-priv.h"

#include "program/eval.h"
#include "program/query.h"

#include <errno.h>

/* Who opened a run. */
struct who {
	uint32_t pid, tid;
};

static struct who *who_of(const struct engine_rule *rule, struct engine_run *run)
{
	return (struct who *)((char *)run + rule->runs.who_offset);
}

static uint64_t *counts_of(const struct engine_rule *rule, const struct engine_transition *transition)
{
	return rule->why->counts + rule->why->places[transition - rule->why->transitions];
}

static void find_why_places(const struct engine *engine, const struct program_rule *rule, uint32_t *places)
{
	for (uint32_t i = 0; i < rule->state_count; i++) {
		const struct program_state *state = &program_states(engine->program, rule)[i];

		for (uint32_t j = 0; j < state->transition_count; j++)
			places[state->first_transition + j] = program_why_transition(
				engine->program, rule, &program_transitions(engine->program, state)[j]);
	}
}

static int init_rule(struct engine *engine, struct engine_rule *rule, uint32_t *places)
{
	rule->why = arena_zero(engine->arena, 1, sizeof *rule->why);
	if (!rule->why)
		return -ENOMEM;
	rule->why->program = engine->program;
	rule->why->now = &engine->now;
	rule->why->transitions = engine->transitions;
	rule->why->places = places;
	rule->why->counts =
		arena_zero(engine->arena, program_why_words(engine->program, rule->image), sizeof *rule->why->counts);
	find_why_places(engine, rule->image, places);
	return rule->why->counts ? 0 : -ENOMEM;
}

int engine_why_init(struct engine *engine)
{
	const struct program *program = engine->program;
	uint32_t *places;
	int result = 0;

	if (!engine->options.counts_why)
		return 0;
	places = arena_zero(engine->arena, program->header->sections[PROGRAM_TRANSITIONS].count, sizeof *places);
	engine->seen = arena_zero(engine->arena, program->type_count + 1, sizeof *engine->seen);
	if (!places || !engine->seen)
		return -ENOMEM;
	for (uint32_t i = 0; i < program->rule_count && !result; i++)
		result = init_rule(engine, &engine->rules[i], places);
	return result;
}

void engine_why_open(struct engine_rule *rule, struct engine_run *run, const struct event_header *record)
{
	if (rule->runs.who_offset)
		*who_of(rule, run) = (struct who){ record->pid, record->tid };
}

void engine_why_meet(struct engine_rule *rule, const struct engine_group *group)
{
	if (group->count)
		counts_of(rule, group->transitions)[PROGRAM_WHY_MET]++;
}

/* Counts, from `at`, which conditions of node are true, and returns whether all are. Divisions are counted elsewhere.
 */
static bool judge_conditions(const struct engine_step *step, uint32_t node, const char *slots, uint64_t *at)
{
	const struct engine_rule *rule = step->rule;
	const struct program_operand operand = { rule->why->program, rule->image, step->event->record, slots };
	struct program_why_conditions conditions;
	uint64_t divisions = 0;

	program_why_conditions(rule->why->program, node, &conditions);
	for (uint32_t i = 0; i < conditions.count; i++) {
		if (!program_holds(&operand, conditions.nodes[i], &divisions))
			return false;
		if (i + 1 < conditions.count)
			at[i]++;
	}
	return true;
}

static const struct program_transition *image_of(const struct engine_rule *rule,
						 const struct engine_transition *transition)
{
	return &rule->why->program->transitions[transition - rule->why->transitions];
}

void engine_why_judge(const struct engine_step *step, const struct engine_transition *transitions, uint32_t count,
		      const char *slots)
{
	const struct engine_rule *rule = step->rule;
	const struct engine_transition *fits = NULL, *fits_in_place = NULL;

	for (uint32_t i = 0; i < count; i++) {
		const struct engine_transition *transition = &transitions[i];
		bool aside = rule->any && transition->in_place && !transition->forbid;
		const struct engine_transition **found = aside ? &fits_in_place : &fits;

		if (!*found && judge_conditions(step, image_of(rule, transition)->fit, slots,
						counts_of(rule, transition) + PROGRAM_WHY_TRUE))
			*found = transition;
		if (fits && (!rule->any || fits->forbid))
			return;
	}
}

void engine_why_hold(const struct engine_step *step, const struct engine_transition *transition, const char *slots)
{
	const struct program_transition *image = image_of(step->rule, transition);
	uint64_t *counts = counts_of(step->rule, transition);

	judge_conditions(step, image->hold, slots, counts + program_why_hold_true(step->rule->why->program, image));
}

/* The event ends the run: by whom is it? */
static void count_others(const struct engine_rule *rule, struct engine_run *run, const struct event_header *record,
			 uint64_t *counts)
{
	if (!run || !rule->runs.who_offset)
		return;
	counts[PROGRAM_WHY_OTHER_PROCESS] += who_of(rule, run)->pid != record->pid;
	counts[PROGRAM_WHY_OTHER_THREAD] += who_of(rule, run)->tid != record->tid;
}

void engine_why_take(struct engine_rule *rule, struct engine_run *run, const struct engine_transition *transition,
		     const struct event_header *record)
{
	uint64_t *counts = counts_of(rule, transition);

	counts[PROGRAM_WHY_TAKEN]++;
	if (transition->target == PROGRAM_TARGET_END)
		count_others(rule, run, record, counts);
}

void engine_why_fail(struct engine_rule *rule, struct engine_run *run, const struct engine_transition *transition,
		     const struct event_header *record)
{
	uint64_t *counts = counts_of(rule, transition);

	counts[PROGRAM_WHY_FAILED]++;
	if (transition->target != PROGRAM_TARGET_END)
		count_others(rule, run, record, counts);
}

void engine_why_break(const struct engine *engine, struct engine_rule *rule, uint32_t type)
{
	rule->why->counts[program_why_type(engine->program, rule->image, type) + PROGRAM_WHY_BROKE]++;
}

void engine_why_expire(struct engine_rule *rule, const struct engine_run *run)
{
	rule->why->counts[program_why_state(run->state) + PROGRAM_WHY_EXPIRED]++;
}

void engine_why_come(struct engine_rule *rule, uint32_t state)
{
	rule->why->counts[program_why_state(state) + PROGRAM_WHY_STAYED] -= *rule->why->now;
}

void engine_why_leave(struct engine_rule *rule, const struct engine_run *run)
{
	rule->why->counts[program_why_state(run->state) + PROGRAM_WHY_STAYED] += *rule->why->now;
}

void engine_why_move(struct engine_rule *rule, const struct engine_run *run, uint32_t state)
{
	engine_why_leave(rule, run);
	engine_why_come(rule, state);
}

void engine_why_end(struct engine_rule *rule, enum program_why_rule how)
{
	rule->why->counts[how]++;
}

static void add_seen(const struct engine *engine, const struct program_rule *rule, uint64_t *counts)
{
	const uint32_t *over = program_over(engine->program, rule);

	for (uint32_t i = 0; i < rule->over_count; i++)
		if (program_why_looks_at(engine->program, rule, over[i]))
			counts[program_why_type(engine->program, rule, over[i]) + PROGRAM_WHY_SEEN] +=
				engine->seen[over[i]];
}

static void add_waiting_runs(const struct engine_rule *rule, uint64_t *counts)
{
	for (size_t i = 0; rule->live && i <= rule->by_key.mask; i++)
		for (const struct engine_run *chain = rule->by_key.buckets[i]; chain; chain = chain->aside)
			for (const struct engine_run *run = chain; run; run = run->next)
				counts[program_why_state(run->state) + PROGRAM_WHY_OPEN]++;
}

void engine_count_why(const struct engine *engine, uint32_t index, uint64_t *counts)
{
	const struct engine_rule *rule = &engine->rules[index];
	uint32_t words = program_why_words(engine->program, rule->image);

	for (uint32_t i = 0; i < words && rule->why; i++)
		counts[i] += rule->why->counts[i];
	if (!rule->why)
		return;
	add_seen(engine, rule->image, counts);
	add_waiting_runs(rule, counts);
}
