// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides which rules of a matcher raise events for each other. Rules that EMIT connects run in one place, and none may
 * get back what it raised: code for it would be in each program twice.
 */

#include "ebpf/matcher/matcher-priv.h"

#include "base/alloc.h"

#include <errno.h>

static bool is_taken(const struct ebpf_matcher *matcher, uint32_t type)
{
	for (uint32_t i = 0; i < matcher->program->rule_count; i++)
		if (matcher->rules[i].here && program_takes(matcher->program, i, type))
			return true;
	return false;
}

/* What can interrupt a rule can interrupt those that it feeds. */
static void pass_on_interrupts(struct ebpf_matcher *matcher, const struct matcher_rule *from)
{
	for (uint32_t i = 0; i < matcher->program->rule_count; i++) {
		struct matcher_rule *to = &matcher->rules[i];

		if (!to->here || to->interrupted || !from->interrupted ||
		    !program_feeds(matcher->program, from->index, i))
			continue;
		to->interrupted = true;
		pass_on_interrupts(matcher, to);
	}
}

static int find_due(struct ebpf_matcher *matcher, struct matcher_rule *rule)
{
	const struct program *program = matcher->program;
	struct program_reached fed;
	int error;

	rule->raises_due_ns = UINT64_MAX;
	if (!rule->raises || !(rule->rule->flags & (PROGRAM_RULE_DEADLINE | PROGRAM_RULE_TIMER)))
		return 0;
	error = program_reach(program, rule->index, PROGRAM_DOWNSTREAM, MATCHER_COMPANY_MAX, &fed);
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

int derived_find(struct ebpf_matcher *matcher)
{
	const struct program *program = matcher->program;
	int error = 0;

	for (uint32_t i = 0; i < program->rule_count; i++) {
		const struct program_rule *rule = &program->rules[i];

		for (uint32_t j = 0; j < rule->statement_count && matcher->rules[i].here; j++) {
			const struct program_statement *statement = &program_statements(program, rule)[j];

			if (!program_is_emission(statement) || !is_taken(matcher, statement->type))
				continue;
			matcher->rules[i].raises = true;
			matcher->types[statement->type].raised = true;
		}
	}
	for (uint32_t i = 0; i < program->rule_count && !error; i++) {
		for (uint32_t type = 0; type < program->type_count; type++)
			if (matcher->rules[i].here && matcher->types[type].raised && program_takes(program, i, type))
				matcher->rules[i].raised = true;
		if (matcher->rules[i].raises)
			pass_on_interrupts(matcher, &matcher->rules[i]);
		error = find_due(matcher, &matcher->rules[i]);
	}
	return error;
}
