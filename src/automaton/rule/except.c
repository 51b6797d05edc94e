// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compiles the exceptions of a rule to one condition: a match is excepted if some exception holds, all of whose
 * conditions can be asked.
 */

#include "automaton/rule/rule-priv.h"

#include <errno.h>

/* count nodes from parts on joined by op, as a tree of depth log2(count). */
static uint32_t balance_nodes(struct rule_build *build, enum program_op op, const uint32_t *parts, uint32_t count)
{
	if (count == 1)
		return parts[0];
	uint32_t left = balance_nodes(build, op, parts, count / 2);

	return node_op(build, op, PROGRAM_BOOL, left, balance_nodes(build, op, parts + count / 2, count - count / 2));
}

static uint32_t one(struct rule_build *build, const struct lang_exception *exception)
{
	uint32_t *parts = arena_zero(build->arena, exception->count, sizeof *parts);

	if (!parts) {
		rule_fail(build, -ENOMEM);
		return 0;
	}
	for (uint32_t i = 0; i < exception->count; i++) {
		uint32_t there = conditions_there(build, exception->conditions[i]);

		parts[i] = node_and(build, there, node_expr(build, exception->conditions[i], PROGRAM_NONE));
	}
	return balance_nodes(build, PROGRAM_OP_LAND, parts, exception->count);
}

uint32_t except_node(struct rule_build *build)
{
	const struct lang_properties *properties = &build->rule->properties;
	uint32_t *parts = arena_zero(build->arena, properties->exception_count + 1, sizeof *parts);

	if (!parts)
		rule_fail(build, -ENOMEM);
	if (!parts || !properties->exception_count)
		return PROGRAM_NONE;
	for (uint32_t i = 0; i < properties->exception_count; i++)
		parts[i] = one(build, &properties->exceptions[i]);
	return balance_nodes(build, PROGRAM_OP_LOR, parts, properties->exception_count);
}
