// SPDX-License-Identifier: BSD-2-Clause
/* Estimates what a condition costs, in comparisons of numbers, and whether it may fail. */

#include "program/order/order-priv.h"

#include "program/eval.h"
#include "program/query.h"

/* Of a string compared as words, and of one that is looked through byte by byte. */
enum { COST_STRING = 4, COST_SEARCH = 64 };

static bool compares_text(const struct program *program, const struct program_node *node)
{
	return node->op >= PROGRAM_OP_EQ && node->op <= PROGRAM_OP_LIKE &&
	       program->nodes[node->a].kind == PROGRAM_STRING;
}

static uint32_t of_text(const struct program *program, const struct program_node *node)
{
	bool searches = node->op == PROGRAM_OP_LIKE &&
			!program_pattern_is_prefix(program_text(program, program->nodes[node->b].a));

	return searches ? COST_SEARCH : COST_STRING;
}

/* Recursion is bounded by PROGRAM_DEPTH_MAX, its breadth by PROGRAM_EXPANSION_MAX. */
static uint32_t cost(const struct program *program, uint32_t index)
{
	const struct program_node *node = &program->nodes[index];

	if (node->op < PROGRAM_OP_ADD)
		return 0;
	if (compares_text(program, node))
		return of_text(program, node);
	if (node->op == PROGRAM_OP_LNOT)
		return cost(program, node->a);
	if (node->op == PROGRAM_OP_CONVERT)
		return cost(program, node->a) + 1;
	uint32_t both = cost(program, node->a) + cost(program, node->b);

	return node->op == PROGRAM_OP_LAND || node->op == PROGRAM_OP_LOR ? both : both + 1;
}

uint32_t order_cost(const struct program *program, uint32_t node)
{
	uint32_t found = cost(program, node);

	return found ? found : 1;
}

/* Reals are divided by zero, too, but that has a result. */
static bool divides(const struct program *program, const struct program_node *node)
{
	const struct program_node *divisor = &program->nodes[node->b];

	if ((node->op != PROGRAM_OP_DIV && node->op != PROGRAM_OP_MOD) || node->kind == PROGRAM_F64)
		return false;
	return divisor->op != PROGRAM_OP_CONST || !divisor->imm;
}

bool program_may_fail(const struct program *program, uint32_t index)
{
	const struct program_node *node = &program->nodes[index];

	if (node->op < PROGRAM_OP_ADD)
		return false;
	if (divides(program, node) || program_may_fail(program, node->a))
		return true;
	return node->op != PROGRAM_OP_CONVERT && node->op != PROGRAM_OP_LNOT && program_may_fail(program, node->b);
}
