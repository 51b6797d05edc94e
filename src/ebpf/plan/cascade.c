// SPDX-License-Identifier: BSD-2-Clause
/* Lists what one program must deal with after an event: rules that raise events, those that take these, and so on. */

#include "ebpf/plan/cascade.h"

#include "base/alloc.h"
#include "program/query.h"

#include <errno.h>
#include <string.h>

/* The type that a statement of rule raises, or NONE. */
static uint32_t raised_type(const struct plan *plan, uint32_t rule, uint32_t statement)
{
	return plan_raised_type(plan, &program_statements(plan->program, &plan->program->rules[rule])[statement]);
}

/* Whether some run of rule may match, or an instance tell something, by a transition on type. */
static bool tells(const struct plan *plan, const struct program_rule *rule, uint32_t type)
{
	const struct program_state *states = program_states(plan->program, rule);
	uint32_t count;

	for (uint32_t i = 0; i < rule->state_count; i++) {
		const struct program_transition *transitions =
			program_transitions_on(plan->program, &states[i], type, &count);

		for (uint32_t j = 0; j < count; j++)
			if (transitions[j].target == PROGRAM_TARGET_MATCH || transitions[j].flags & PROGRAM_TELL)
				return true;
	}
	return false;
}

/* Whether rule may raise something at an event of type, which lets a timer go off first that is due. */
static bool raises_at(const struct plan *plan, uint32_t rule, uint32_t type)
{
	const struct program_rule *of = &plan->program->rules[rule];
	const struct plan_event *event = plan_event(plan, rule, type);

	return plan->rules[rule].raises && event && event->wants &&
	       (tells(plan, of, type) || (of->flags & PROGRAM_RULE_TIMER && tells(plan, of, PROGRAM_TIMER)));
}

/* Marks a rule that raises, and those that what it raises reaches. Depth: at most PLAN_COMPANY_MAX. */
static void reach(const struct plan *plan, uint32_t rule, struct plan_cascade *cascade)
{
	const struct program *program = plan->program;

	if (cascade->rules[rule])
		return;
	cascade->rules[rule] = true;
	for (uint32_t i = 0; i < program->rules[rule].statement_count; i++) {
		uint32_t type = raised_type(plan, rule, i);

		if (type == PROGRAM_NONE || cascade->type_places[type] != PROGRAM_NONE)
			continue;
		cascade->type_places[type] = 0;
		for (uint32_t j = 0; j < plan->types[type].event_count; j++)
			if (raises_at(plan, plan->types[type].events[j].rule, type))
				reach(plan, plan->types[type].events[j].rule, cascade);
	}
}

/* One place per event that a rule raises, and one per type. */
static void number_places(const struct plan *plan, struct plan_cascade *cascade)
{
	const struct program *program = plan->program;
	uint32_t next = 1;

	for (uint32_t rule = 0; rule < program->rule_count; rule++) {
		cascade->rule_places[rule] = next;
		for (uint32_t i = 0; i < program->rules[rule].statement_count && cascade->rules[rule]; i++)
			next += raised_type(plan, rule, i) != PROGRAM_NONE;
	}
	for (uint32_t type = 0; type < program->type_count; type++) {
		if (cascade->type_places[type] != PROGRAM_NONE)
			cascade->type_places[type] = next++;
	}
	cascade->place_count = next - 1;
}

/* Whether rule may raise something at an event of type, or at a deadline. */
static bool may_begin_cascade(const struct plan *plan, uint32_t rule, uint32_t type)
{
	if (type == PROGRAM_NONE)
		return plan->rules[rule].raises &&
		       plan->program->rules[rule].flags & (PROGRAM_RULE_DEADLINE | PROGRAM_RULE_TIMER);
	return raises_at(plan, rule, type);
}

static int init_cascade(const struct plan *plan, struct plan_cascade *cascade)
{
	const struct program *program = plan->program;

	cascade->rules = alloc_zero(program->rule_count, sizeof *cascade->rules);
	cascade->rule_places = alloc_zero(program->rule_count, sizeof *cascade->rule_places);
	cascade->type_places = alloc_zero(program->type_count, sizeof *cascade->type_places);
	if (!cascade->rules || !cascade->rule_places || !cascade->type_places)
		return -ENOMEM;
	memset(cascade->type_places, 0xff, program->type_count * sizeof *cascade->type_places);
	return 0;
}

int plan_cascade(const struct plan *plan, uint32_t type, const struct plan_part *part, struct plan_cascade *cascade)
{
	if (!plan_cascade_begins(plan, type, part))
		return 0;
	if (!cascade->rules && init_cascade(plan, cascade)) {
		plan_cascade_fini(cascade);
		return -ENOMEM;
	}
	for (uint32_t rule = part->first; rule < part->end; rule++)
		if (may_begin_cascade(plan, rule, type))
			reach(plan, rule, cascade);
	number_places(plan, cascade);
	return 1;
}

bool plan_cascade_begins(const struct plan *plan, uint32_t type, const struct plan_part *part)
{
	for (uint32_t rule = part->first; rule < part->end; rule++)
		if (may_begin_cascade(plan, rule, type))
			return true;
	return false;
}

void plan_cascade_fini(struct plan_cascade *cascade)
{
	alloc_free(cascade->rules);
	alloc_free(cascade->rule_places);
	alloc_free(cascade->type_places);
	*cascade = (struct plan_cascade){ .rules = NULL };
}
