// SPDX-License-Identifier: BSD-2-Clause
/* Finds which rules hand events to each other by EMIT. */

#include "program/emissions.h"

#include "base/alloc.h"

#include <errno.h>

bool program_emits(const struct program *program, const struct program_rule *rule)
{
	for (uint32_t i = 0; i < rule->statement_count; i++)
		if (program_is_emission(&program_statements(program, rule)[i]))
			return true;
	return false;
}

bool program_is_emitted(const struct program *program, uint32_t type)
{
	for (uint32_t i = 0; i < program->rule_count; i++) {
		const struct program_rule *rule = &program->rules[i];

		for (uint32_t j = 0; j < rule->statement_count; j++)
			if (program_statements(program, rule)[j].type == type)
				return true;
	}
	return false;
}

bool program_takes(const struct program *program, uint32_t index, uint32_t type)
{
	const struct program_rule *rule = &program->rules[index];

	if (!program_rule_sees(program, rule, type))
		return false;
	if (rule->semantics <= PROGRAM_STRICT_PARTITION)
		return true;
	for (uint32_t i = 0; i < rule->state_count; i++) {
		uint32_t count;

		program_transitions_on(program, &program_states(program, rule)[i], type, &count);
		if (count)
			return true;
	}
	return false;
}

bool program_is_taken(const struct program *program, uint32_t type)
{
	for (uint32_t i = 0; i < program->rule_count; i++)
		if (program_takes(program, i, type))
			return true;
	return false;
}

bool program_feeds(const struct program *program, uint32_t from, uint32_t to)
{
	const struct program_rule *rule = &program->rules[from];

	for (uint32_t i = 0; i < rule->statement_count; i++) {
		const struct program_statement *statement = &program_statements(program, rule)[i];

		if (program_is_emission(statement) && program_takes(program, to, statement->type))
			return true;
	}
	return false;
}

static bool any_emits(const struct program *program)
{
	for (uint32_t i = 0; i < program->rule_count; i++)
		if (program_emits(program, &program->rules[i]))
			return true;
	return false;
}

/* The search under way. */
struct search {
	const struct program *program;
	enum program_way way;
	bool *found;
	struct program_reached reached;
};

static void look_from(struct search *search, uint32_t rule)
{
	for (uint32_t other = 0; other < search->program->rule_count; other++) {
		if (search->found[other] ||
		    !(program_feeds(search->program, rule, other) ||
		      (search->way == PROGRAM_BOTH_WAYS && program_feeds(search->program, other, rule))))
			continue;
		search->found[other] = true;
		search->reached.rules[search->reached.count++] = other;
	}
}

int program_reach(const struct program *program, uint32_t rule, enum program_way way, uint32_t max,
		  struct program_reached *reached)
{
	struct search search = { .program = program, .way = way };
	int result = -ENOMEM;

	*reached = (struct program_reached){ 0 };
	if (!any_emits(program))
		return 0;
	search.found = alloc_zero(program->rule_count, sizeof *search.found);
	search.reached.rules = alloc_zero(program->rule_count, sizeof *search.reached.rules);
	if (!search.found || !search.reached.rules)
		goto out;
	look_from(&search, rule);
	for (uint32_t i = 0; i < search.reached.count && search.reached.count <= max; i++)
		look_from(&search, search.reached.rules[i]);
	result = search.reached.count > max ? -E2BIG : 0;
out:
	alloc_free(search.found);
	if (result)
		alloc_free(search.reached.rules);
	else
		*reached = search.reached;
	return result;
}
