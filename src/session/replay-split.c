// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides which rules stay together: a rule that emits and those that see what it emits; and all rules that match when
 * their time is up, because the order of their matches at one moment is that in which runs were opened, whatever the
 * rule. Everything else about a rule is its own.
 */

#include "session/replay-split.h"

#include "base/alloc.h"

#include <errno.h>

/* Rules that stay together have one root; a root is its own. */
static uint32_t root_of(const uint32_t *roots, uint32_t rule)
{
	while (roots[rule] != rule)
		rule = roots[rule];
	return rule;
}

/* The root of two is the one that comes first in the program. */
static void join(uint32_t *roots, uint32_t a, uint32_t b)
{
	a = root_of(roots, a);
	b = root_of(roots, b);
	roots[a < b ? b : a] = a < b ? a : b;
}

static bool sees(const struct program *program, const struct program_rule *rule, uint32_t type)
{
	if (rule->flags & PROGRAM_RULE_OVER_ALL)
		return true;
	for (uint32_t i = 0; i < rule->over_count; i++) {
		if (program->indices[rule->first_over + i] == type)
			return true;
	}
	return false;
}

static void join_emission(const struct program *program, uint32_t *roots, uint32_t emitter, uint32_t type)
{
	for (uint32_t i = 0; i < program->rule_count && type != PROGRAM_NONE; i++) {
		if (sees(program, &program->rules[i], type))
			join(roots, emitter, i);
	}
}

static void join_rules(const struct program *program, uint32_t *roots)
{
	uint32_t timed = PROGRAM_NONE;

	for (uint32_t i = 0; i < program->rule_count; i++)
		roots[i] = i;
	for (uint32_t i = 0; i < program->rule_count; i++) {
		const struct program_rule *rule = &program->rules[i];

		for (uint32_t j = 0; j < rule->statement_count; j++)
			join_emission(program, roots, i, program->statements[rule->first_statement + j].type);
		if (!(rule->flags & PROGRAM_RULE_DEADLINE))
			continue;
		if (timed != PROGRAM_NONE)
			join(roots, timed, i);
		timed = i;
	}
}

/* How much work a rule is: more or less, what it has to look at. */
static uint32_t weight_of(const struct program *program, uint32_t rule)
{
	const struct program_state *states = program->states + program->rules[rule].first_state;
	uint32_t weight = 1;

	for (uint32_t i = 0; i < program->rules[rule].state_count; i++)
		weight += states[i].transition_count;
	return weight;
}

static uint32_t lightest(const uint64_t *weights, uint32_t count)
{
	uint32_t found = 0;

	for (uint32_t i = 1; i < count; i++) {
		if (weights[i] < weights[found])
			found = i;
	}
	return found;
}

/* Each group goes, in the order of the program, to the part that has the least to do. */
static void deal(const struct program *program, const uint32_t *roots, uint64_t *weights, struct replay_split *split)
{
	uint32_t count = program->rule_count;

	for (uint32_t root = 0; root < count; root++) {
		if (root_of(roots, root) != root)
			continue;
		uint32_t part = lightest(weights, split->part_count);

		for (uint32_t rule = root; rule < count; rule++) {
			if (root_of(roots, rule) != root)
				continue;
			split->rules[(size_t)part * count + rule] = true;
			weights[part] += weight_of(program, rule);
		}
	}
}

int replay_split_init(struct replay_split *split, const struct program *program, uint32_t part_max)
{
	uint32_t *roots = alloc_zero(program->rule_count, sizeof *roots), groups = 0;
	uint64_t *weights = NULL;
	int result = -ENOMEM;

	*split = (struct replay_split){ 0 };
	if (!roots)
		return result;
	join_rules(program, roots);
	for (uint32_t i = 0; i < program->rule_count; i++)
		groups += roots[i] == i;
	split->part_count = groups < part_max ? groups : part_max;
	weights = alloc_zero(split->part_count, sizeof *weights);
	split->rules = alloc_zero((size_t)split->part_count * program->rule_count, sizeof *split->rules);
	if (weights && split->rules) {
		deal(program, roots, weights, split);
		result = 0;
	}
	alloc_free(roots);
	alloc_free(weights);
	return result;
}

void replay_split_fini(struct replay_split *split)
{
	alloc_free(split->rules);
	*split = (struct replay_split){ 0 };
}
