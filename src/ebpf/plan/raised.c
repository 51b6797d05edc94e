// SPDX-License-Identifier: BSD-2-Clause
/*
 * Groups the rules that run here and raise events for each other. Rules that EMIT connects run in one place, and none
 * may get back what it raised: code for it would be in each program twice.
 */

#include "ebpf/plan/plan-priv.h"
#include "program/emissions.h"

static bool is_type_raised(const struct plan_draft *draft, uint32_t type)
{
	for (uint32_t i = 0; i < draft->program->rule_count; i++)
		if (draft->rules[i].here && program_takes(draft->program, i, type))
			return true;
	return false;
}

/* What can interrupt a rule can interrupt those that it feeds. */
static void pass_on_interrupts(struct plan_draft *draft, const struct plan_rule *from)
{
	for (uint32_t i = 0; i < draft->program->rule_count; i++) {
		struct plan_rule *to = &draft->rules[i];

		if (!to->here || to->interrupted || !from->interrupted ||
		    !program_feeds(draft->program, from->index, i))
			continue;
		to->interrupted = true;
		pass_on_interrupts(draft, to);
	}
}

static int find_due(struct plan_draft *draft, struct plan_rule *rule)
{
	const struct program *program = draft->program;
	struct program_reached fed;
	int error;

	rule->raises_due_ns = UINT64_MAX;
	if (!rule->raises || !(rule->rule->flags & (PROGRAM_RULE_DEADLINE | PROGRAM_RULE_TIMER)))
		return 0;
	error = program_reach(program, rule->index, PROGRAM_DOWNSTREAM, PLAN_COMPANY_MAX, &fed);
	for (uint32_t i = 0; i < fed.count; i++) {
		uint64_t within = program->rules[fed.rules[i]].within_ns;

		if (within && within < rule->raises_due_ns)
			rule->raises_due_ns = within;
		if (program->rules[fed.rules[i]].flags & PROGRAM_RULE_TIMER)
			rule->raises_due_ns = 0;
	}
	alloc_free(fed.rules);
	return error;
}

int plan_find_raised(struct plan_draft *draft)
{
	const struct program *program = draft->program;
	int error = 0;

	for (uint32_t i = 0; i < program->rule_count; i++) {
		const struct program_rule *rule = &program->rules[i];

		for (uint32_t j = 0; j < rule->statement_count && draft->rules[i].here; j++) {
			const struct program_statement *statement = &program_statements(program, rule)[j];

			if (!program_is_emission(statement) || !is_type_raised(draft, statement->type))
				continue;
			draft->rules[i].raises = true;
			draft->types[statement->type].raised = true;
		}
	}
	for (uint32_t i = 0; i < program->rule_count && !error; i++) {
		for (uint32_t type = 0; type < program->type_count; type++)
			if (draft->rules[i].here && draft->types[type].raised && program_takes(program, i, type))
				draft->rules[i].raised = true;
		if (draft->rules[i].raises)
			pass_on_interrupts(draft, &draft->rules[i]);
		error = find_due(draft, &draft->rules[i]);
	}
	return error;
}
