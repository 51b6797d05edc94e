// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes a plan step by step, in this order: the rules that run here, what they raise, their runs and acts, their
 * events.
 */

#include "ebpf/plan/plan-priv.h"

#include <errno.h>

/* Whether a program that holds a lock of this rule could be interrupted by one that wants it. */
static bool can_be_interrupted(const struct plan_draft *draft, const struct program_rule *rule)
{
	const bool *from_interrupt = draft->options->from_interrupt;

	for (uint32_t type = 0; from_interrupt && type < draft->program->type_count; type++)
		if (from_interrupt[type] && program_rule_sees(draft->program, rule, type))
			return true;
	return false;
}

static int choose_rules(struct plan_draft *draft)
{
	const struct program *program = draft->program;
	bool *can_run = arena_zero(draft->plan->arena, program->rule_count, sizeof *can_run);
	int error = can_run ? plan_choose(program, draft->nodes, can_run) : -ENOMEM;

	for (uint32_t i = 0; i < program->rule_count && !error; i++) {
		bool excluded = draft->options->excluded && draft->options->excluded[i];

		draft->rules[i] = (struct plan_rule){
			.rule = &program->rules[i],
			.index = i,
			.here = can_run[i] && !excluded,
			.interrupted = can_be_interrupted(draft, &program->rules[i]),
			.timer = { .rule = i, .type = PROGRAM_TIMER, .in_order = true },
			.deadline = { .rule = i, .type = PROGRAM_NONE, .in_order = true },
		};
	}
	return error;
}

static bool has_silence(const struct program *program, const struct plan_rule *rule)
{
	for (uint32_t i = 1; plan_is_machine(rule) && i <= rule->rule->notice_count; i++)
		if (program_notice(program, rule->rule, i)->flags & PROGRAM_NOTICE_SILENT)
			return true;
	return false;
}

/* What is true of the rule at all events. */
static int find_rule(struct plan_draft *draft, struct plan_rule *rule)
{
	int error = plan_runs(draft, rule);

	rule->locks_out_interrupts = rule->interrupted && draft->options->can_lock_out;
	rule->silences = has_silence(draft->program, rule);
	if (!error)
		error = plan_sums(draft, rule);
	rule->at_event = plan_acts(draft, rule, false);
	rule->at_deadline = plan_acts(draft, rule, true);
	rule->aside = rule->at_event.done || rule->rule->except || rule->sums.here;
	draft->plan->waits |= rule->at_event.alone != 0;
	if (!error && rule->timed)
		error = plan_walks(draft, rule, &rule->timer);
	return error;
}

/* The events of type, as far as they do not depend on other types'. */
static int plan_type_events(struct plan_draft *draft, uint32_t type)
{
	const struct program *program = draft->program;
	struct plan_event *events;
	uint32_t count = 0;
	int error = 0;

	for (uint32_t i = 0; i < program->rule_count; i++)
		count += draft->rules[i].here && program_rule_sees(program, &program->rules[i], type);
	events = arena_zero(draft->plan->arena, count, sizeof *events);
	if (!events)
		return -ENOMEM;
	draft->types[type].events = draft->events[type] = events;
	draft->types[type].event_count = count;
	for (uint32_t i = 0; i < program->rule_count && !error; i++) {
		struct plan_rule *rule = &draft->rules[i];

		if (!rule->here || !program_rule_sees(program, rule->rule, type))
			continue;
		events->rule = i;
		events->type = type;
		error = plan_one_event(draft, rule, events);
		events->scratch = plan_needs_scratch(draft, rule, type) ? rule->scratch_count++ : PROGRAM_NONE;
		rule->moves |= events->moves;
		rule->wide |= rule->has_runs && !error &&
			      (rule->rule->flags & PROGRAM_RULE_DROP_ALL || !plan_touches_one(draft, rule, events));
		events++;
	}
	return error;
}

static void settle_events(struct plan_draft *draft)
{
	for (uint32_t type = 0; type < draft->program->type_count; type++)
		for (uint32_t i = 0; i < draft->types[type].event_count; i++) {
			struct plan_event *event = &draft->events[type][i];

			plan_settle_event(&draft->rules[event->rule], event);
		}
}

static int find_draft_rules(struct plan_draft *draft)
{
	int error = choose_rules(draft);

	if (!error)
		error = plan_find_raised(draft);
	for (uint32_t i = 0; i < draft->program->rule_count && !error; i++)
		if (draft->rules[i].here)
			error = find_rule(draft, &draft->rules[i]);
	for (uint32_t type = 0; type < draft->program->type_count && !error; type++)
		error = plan_type_events(draft, type);
	if (!error)
		settle_events(draft);
	return error;
}

static int make_plan(struct plan *plan, const struct program *program, const struct plan_options *options)
{
	struct arena *arena = plan->arena = arena_new();
	struct plan_draft draft = { .plan = plan, .options = options, .program = program };

	plan->program = program;
	plan->live = options->live;
	plan->counts_why = options->counts_why;
	plan->acts = options->allowed != NULL;
	plan->nodes = draft.nodes = ebpf_node_info_new(program);
	if (!arena || !plan->nodes)
		return -ENOMEM;
	plan->rules = draft.rules = arena_zero(arena, program->rule_count, sizeof *draft.rules);
	plan->types = draft.types = arena_zero(arena, program->type_count, sizeof *draft.types);
	plan->transitions = draft.transitions =
		arena_zero(arena, program->header->sections[PROGRAM_TRANSITIONS].count, sizeof *draft.transitions);
	draft.events = arena_zero(arena, program->type_count, sizeof *draft.events);
	if (!plan->rules || !plan->types || !plan->transitions || !draft.events)
		return -ENOMEM;
	return find_draft_rules(&draft);
}

int plan_new(const struct program *program, const struct plan_options *options, struct plan **made)
{
	struct plan *plan = alloc_zero(1, sizeof *plan);
	int error = plan ? make_plan(plan, program, options) : -ENOMEM;

	if (error)
		plan_free(plan);
	else
		*made = plan;
	return error ? -ENOMEM : 0;
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	arena_free(plan->arena);
	alloc_free((void *)plan->nodes);
	alloc_free(plan);
}

const struct plan_event *plan_event(const struct plan *plan, uint32_t rule, uint32_t type)
{
	const struct plan_type *events = &plan->types[type];

	for (uint32_t i = 0; i < events->event_count; i++)
		if (events->events[i].rule == rule)
			return &events->events[i];
	return NULL;
}

const struct plan_event *plan_next(const struct plan *plan, uint32_t type, const struct plan_part *part, uint32_t *i)
{
	const struct plan_type *events = &plan->types[type];

	while (*i < events->event_count) {
		const struct plan_event *event = &events->events[(*i)++];

		if (event->wants && event->rule >= part->first && event->rule < part->end)
			return event;
	}
	return NULL;
}

uint32_t plan_wanting(const struct plan *plan, uint32_t type, const struct plan_part *part)
{
	uint32_t count = 0;

	for (uint32_t i = 0; plan_next(plan, type, part, &i);)
		count++;
	return count;
}
