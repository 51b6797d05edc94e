// SPDX-License-Identifier: BSD-2-Clause
/*
 * Splits a program's rules into groups that must stay together: a rule that emits and those that see what it emits; and
 * all rules that match when their time is up, and machines with timers, because the order of their matches at one
 * moment is that in which runs were opened, whatever the rule. Everything else about a rule is its own.
 */

#include "session/executor/split.h"

#include "base/alloc.h"
#include "program/emissions.h"

#include <errno.h>

/* Rules that stay together have one root; a root is its own. */
static uint32_t root_of(const uint32_t *roots, uint32_t rule)
{
	while (roots[rule] != rule)
		rule = roots[rule];
	return rule;
}

/* The root of two is the one that comes first in the program. */
static void join_roots(uint32_t *roots, uint32_t a, uint32_t b)
{
	a = root_of(roots, a);
	b = root_of(roots, b);
	roots[a < b ? b : a] = a < b ? a : b;
}

static void join_emission(const struct program *program, uint32_t *roots, uint32_t emitter,
			  const struct program_statement *statement)
{
	for (uint32_t i = 0; i < program->rule_count && program_is_emission(statement); i++) {
		if (program_rule_sees(program, &program->rules[i], statement->type))
			join_roots(roots, emitter, i);
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
			join_emission(program, roots, i, &program_statements(program, rule)[j]);
		if (!(rule->flags & (PROGRAM_RULE_DEADLINE | PROGRAM_RULE_TIMER)))
			continue;
		if (timed != PROGRAM_NONE)
			join_roots(roots, timed, i);
		timed = i;
	}
}

/* How much work a rule is: more or less, what it has to look at. */
static uint32_t weight_of(const struct program *program, uint32_t rule)
{
	const struct program_state *states = program_states(program, &program->rules[rule]);
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
static void deal(const struct program *program, const uint32_t *roots, uint64_t *weights, struct shard_split *split)
{
	uint32_t count = program->rule_count;

	for (uint32_t root = 0; root < count; root++) {
		if (root_of(roots, root) != root)
			continue;
		uint32_t part = lightest(weights, split->part_count);

		for (uint32_t rule = root; rule < count; rule++) {
			if (root_of(roots, rule) != root)
				continue;
			split->parts[part][rule] = true;
			weights[part] += weight_of(program, rule);
		}
	}
}

static int split_groups(struct shard_split *split, const struct program *program, const uint32_t *roots)
{
	uint64_t *weights = alloc_zero(split->part_count, sizeof *weights);
	int result = weights ? 0 : -ENOMEM;

	split->parts = alloc_zero(split->part_count, sizeof(bool *));
	if (!split->parts)
		result = -ENOMEM;
	for (uint32_t i = 0; i < split->part_count && !result; i++) {
		split->parts[i] = alloc_zero(program->rule_count, sizeof *split->parts[i]);
		result = split->parts[i] ? 0 : -ENOMEM;
	}
	if (!result)
		deal(program, roots, weights, split);
	alloc_free(weights);
	return result;
}

int split_init(struct shard_split *split, const struct program *program, uint32_t part_max)
{
	uint32_t *roots = alloc_zero(program->rule_count, sizeof *roots), groups = 0;
	int result;

	*split = (struct shard_split){ 0 };
	if (!roots)
		return -ENOMEM;
	join_rules(program, roots);
	for (uint32_t i = 0; i < program->rule_count; i++)
		groups += roots[i] == i;
	split->part_count = groups < part_max ? groups : part_max;
	result = split_groups(split, program, roots);
	alloc_free(roots);
	return result;
}

void split_fini(struct shard_split *split)
{
	for (uint32_t i = 0; split->parts && i < split->part_count; i++)
		alloc_free(split->parts[i]);
	alloc_free(split->parts);
	*split = (struct shard_split){ 0 };
}
