// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides which rules stay together: a rule that emits and those that see what it emits; and all rules that match when
 * their time is up, and machines with timers, because the order of their matches at one moment is that in which runs
 * were opened, whatever the rule. Everything else about a rule is its own.
 *
 * Where there are fewer such groups than parts wanted, rules that are alone in their group are divided by their key.
 */

#include "session/executor/split.h"

#include "base/alloc.h"
#include "program/emissions.h"

#include <errno.h>

/* No machine has so many processors that more threads would be of use. */
enum { DIVIDED_PARTS_MAX = 64 };

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

static void join_emission(const struct program *program, uint32_t *roots, uint32_t emitter,
			  const struct program_statement *statement)
{
	for (uint32_t i = 0; i < program->rule_count && program_is_emission(statement); i++) {
		if (program_rule_sees(program, &program->rules[i], statement->type))
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
			join_emission(program, roots, i, &program_statements(program, rule)[j]);
		if (!(rule->flags & (PROGRAM_RULE_DEADLINE | PROGRAM_RULE_TIMER)))
			continue;
		if (timed != PROGRAM_NONE)
			join(roots, timed, i);
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
			split->parts[part].rules[rule] = true;
			split->parts[part].rule = rule;
			weights[part] += weight_of(program, rule);
		}
	}
}

static uint32_t rules_of(const struct shard_split *split, uint32_t part)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < split->rule_count; i++)
		count += split->parts[part].rules[i];
	return count;
}

/* Finds the keys by which parts, each of which is one group, can be divided. */
static int find_keys(struct shard_split *split, const struct program *program)
{
	int result = 0;

	for (uint32_t i = 0; i < split->part_count && !result; i++) {
		uint32_t rule = split->parts[i].rule;

		if (rules_of(split, i) == 1)
			result = shard_key_init(&split->keys[rule], program, rule);
	}
	return result;
}

/* The part whose shares are the largest and can be made smaller, or PROGRAM_NONE. */
static uint32_t heaviest(const struct shard_split *split, const uint64_t *weights, uint32_t count)
{
	uint32_t found = PROGRAM_NONE;

	for (uint32_t i = 0; i < count; i++) {
		const struct shard_part *part = &split->parts[i],
					*best = &split->parts[found == PROGRAM_NONE ? i : found];

		if (!split->keys[part->rule].part_count)
			continue;
		if (found == PROGRAM_NONE || weights[i] * best->shard_count > weights[found] * part->shard_count)
			found = i;
	}
	return found;
}

/* Makes the part's shares, from one to shard_count, parts of their own; the new ones come last. */
static void divide(struct shard_split *split, uint32_t part)
{
	struct shard_part *first = &split->parts[part];

	first->key = &split->keys[first->rule];
	for (uint32_t shard = 1; shard < first->shard_count; shard++) {
		struct shard_part *added = &split->parts[split->part_count++];
		bool *rules = added->rules;

		*added = *first;
		added->rules = rules;
		added->rules[first->rule] = true;
		added->shard = shard;
	}
}

/* Divides the parts, each of which is one group, until there are as many as wanted or nothing can be divided. */
static int divide_all(struct shard_split *split, const struct program *program, const uint64_t *weights)
{
	uint32_t whole = split->part_count, part;
	int result = find_keys(split, program);

	for (uint32_t count = whole; !result && count < split->part_room; count++) {
		part = heaviest(split, weights, whole);
		if (part == PROGRAM_NONE)
			break;
		split->parts[part].shard_count++;
	}
	for (part = 0; part < whole && !result; part++) {
		if (split->parts[part].shard_count > 1)
			divide(split, part);
	}
	return result;
}

static int make_parts(struct shard_split *split)
{
	split->parts = alloc_zero(split->part_room, sizeof *split->parts);
	split->keys = alloc_zero(split->rule_count, sizeof *split->keys);
	if (!split->parts || !split->keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < split->part_room; i++) {
		split->parts[i].shard_count = 1;
		split->parts[i].rules = alloc_zero(split->rule_count, sizeof *split->parts[i].rules);
		if (!split->parts[i].rules)
			return -ENOMEM;
	}
	return 0;
}

static int split_groups(struct shard_split *split, const struct program *program, const uint32_t *roots)
{
	uint64_t *weights = alloc_zero(split->part_count, sizeof *weights);
	int result = weights ? make_parts(split) : -ENOMEM;

	if (!result)
		deal(program, roots, weights, split);
	if (!result && split->part_count < split->part_room)
		result = divide_all(split, program, weights);
	alloc_free(weights);
	return result;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

int shard_split_init(struct shard_split *split, const struct program *program,
		     const struct shard_split_options *options)
{
	uint32_t *roots = alloc_zero(program->rule_count, sizeof *roots), groups = 0, wanted;
	int result;

	*split = (struct shard_split){ .rule_count = program->rule_count };
	if (!roots)
		return -ENOMEM;
	join_rules(program, roots);
	for (uint32_t i = 0; i < program->rule_count; i++)
		groups += roots[i] == i;
	wanted = options->by_key ? smaller(options->part_max, DIVIDED_PARTS_MAX) : 0;
	split->part_count = smaller(groups, options->part_max);
	split->part_room = wanted > split->part_count ? wanted : split->part_count;
	result = split_groups(split, program, roots);
	alloc_free(roots);
	return result;
}

void shard_split_fini(struct shard_split *split)
{
	for (uint32_t i = 0; split->parts && i < split->part_room; i++)
		alloc_free(split->parts[i].rules);
	for (uint32_t i = 0; split->keys && i < split->rule_count; i++)
		shard_key_fini(&split->keys[i]);
	alloc_free(split->parts);
	alloc_free(split->keys);
	*split = (struct shard_split){ 0 };
}
