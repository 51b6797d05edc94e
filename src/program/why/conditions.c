// SPDX-License-Identifier: BSD-2-Clause
/*
 * Selects the conditions of a transition that are counted. A condition was asked as often as the one before it was
 * true, and the last one was true as often as the whole: so only those in between have numbers of their own.
 */

#include "program/query.h"
#include "program/why/why.h"

void program_why_conditions(const struct program *program, uint32_t node, struct program_why_conditions *found)
{
	uint32_t waiting[PROGRAM_WHY_CONDITIONS_MAX], count = 0;

	found->count = 0;
	if (node != PROGRAM_NONE)
		waiting[count++] = node;
	while (count) {
		const struct program_node *next = &program->nodes[waiting[--count]];

		if (next->op == PROGRAM_OP_LAND && found->count + count + 2 <= PROGRAM_WHY_CONDITIONS_MAX) {
			waiting[count++] = next->b;
			waiting[count++] = next->a;
		} else {
			found->nodes[found->count++] = (uint32_t)(next - program->nodes);
		}
	}
}

/* Numbers of a condition's own. */
static uint32_t own(const struct program *program, uint32_t node)
{
	struct program_why_conditions conditions;

	program_why_conditions(program, node, &conditions);
	return conditions.count ? conditions.count - 1 : 0;
}

uint32_t program_why_hold_true(const struct program *program, const struct program_transition *transition)
{
	return PROGRAM_WHY_TRUE + own(program, transition->fit);
}

uint32_t program_why_transition_words(const struct program *program, const struct program_transition *transition)
{
	return program_why_hold_true(program, transition) + own(program, transition->hold);
}
