// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides which conditions of a transition are counted, and how often a transition was tried. A condition was asked as
 * often as the one before it was true, and the last one was true as often as the whole: so only those in between have
 * numbers of their own.
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

/* Under SKIPTILLANY, and where a machine copies, a run may take two: docs/execution.md. */
bool program_why_precedes(const struct program_rule *rule, const struct program_transition *one,
			  const struct program_transition *other)
{
	uint32_t mask = rule->semantics == PROGRAM_MACHINE ? PROGRAM_COPY : PROGRAM_IN_PLACE;
	bool two = rule->semantics == PROGRAM_MACHINE || rule->semantics == PROGRAM_SKIP_TILL_ANY;

	return !two || one->flags & PROGRAM_FORBID || (one->flags & mask) == (other->flags & mask);
}

static const struct program_state *state_of(const struct program *program, const struct program_rule *rule,
					    const struct program_transition *transition)
{
	const struct program_state *state = program_states(program, rule);

	while ((uint32_t)(transition - program->transitions) - state->first_transition >= state->transition_count)
		state++;
	return state;
}

uint64_t program_why_tried(const struct program *program, const struct program_rule *rule, const uint64_t *counts,
			   const struct program_transition *transition)
{
	const struct program_state *state = state_of(program, rule, transition);
	const struct program_transition *first = transition;
	bool opens = state == program_states(program, rule) && rule->semantics != PROGRAM_MACHINE;
	uint64_t tried, taken = 0;

	while (first > program_transitions(program, state) && first[-1].type == transition->type)
		first--;
	tried = counts[opens ? program_why_type(program, rule, first->type) + PROGRAM_WHY_SEEN
			     : program_why_transition(program, rule, first) + PROGRAM_WHY_MET];
	for (; first < transition; first++)
		if (program_why_precedes(rule, first, transition))
			taken += counts[program_why_transition(program, rule, first) + PROGRAM_WHY_TAKEN];
	tried = tried > taken ? tried - taken : 0;
	taken = counts[program_why_transition(program, rule, transition) + PROGRAM_WHY_TAKEN];
	return tried > taken ? tried : taken; /* what ends all instances of a part of a key is tried once */
}
