// SPDX-License-Identifier: BSD-2-Clause
/* Where in the array of a rule each count stands - the rule's, its states', its types', its transitions' - and what
 * follows from them. */

#include "program/why/why.h"

#include "base/alloc.h"
#include "program/query.h"

#include <errno.h>

static uint32_t types_at(const struct program_rule *rule)
{
	return program_why_state(rule->state_count);
}

static uint32_t transitions_at(const struct program_rule *rule)
{
	return types_at(rule) + (rule->over_count + 1) * PROGRAM_WHY_TYPE_WORDS;
}

bool program_why_has_others(const struct program_rule *rule)
{
	return rule->flags & PROGRAM_RULE_OVER_ALL && rule->semantics <= PROGRAM_STRICT_PARTITION;
}

bool program_why_looks_at(const struct program *program, const struct program_rule *rule, uint32_t type)
{
	bool is_strict = rule->semantics <= PROGRAM_STRICT_PARTITION && rule->state_count > 1, looks = false;
	uint32_t count = 0;

	for (uint32_t i = 0; i < rule->state_count && !count; i++)
		program_transitions_on(program, &program_states(program, rule)[i], type, &count);
	for (uint32_t i = 0; i < rule->class_count && is_strict && !looks; i++)
		looks = program_key_for(program, &program_classes(program, rule)[i], type);
	return count || looks;
}

uint32_t program_why_state(uint32_t state)
{
	return PROGRAM_WHY_RULE_WORDS + state * PROGRAM_WHY_STATE_WORDS;
}

uint32_t program_why_type(const struct program *program, const struct program_rule *rule, uint32_t type)
{
	uint32_t i = 0;

	while (i < rule->over_count && program_over(program, rule)[i] != type)
		i++;
	return types_at(rule) + i * PROGRAM_WHY_TYPE_WORDS;
}

static uint32_t words_of_state(const struct program *program, const struct program_state *state)
{
	uint32_t words = 0;

	for (uint32_t i = 0; i < state->transition_count; i++)
		words += program_why_transition_words(program, &program_transitions(program, state)[i]);
	return words;
}

/* The rows of a rule's states, one after the other. */
uint32_t program_why_transition(const struct program *program, const struct program_rule *rule,
				const struct program_transition *transition)
{
	const struct program_state *state = program_states(program, rule);
	uint32_t row = (uint32_t)(transition - program->transitions), before = 0;

	while (row - state->first_transition >= state->transition_count) /* it belongs to a state of the rule */
		before += words_of_state(program, state++);
	for (const struct program_transition *other = program_transitions(program, state); other < transition; other++)
		before += program_why_transition_words(program, other);
	return transitions_at(rule) + before;
}

uint32_t program_why_words(const struct program *program, const struct program_rule *rule)
{
	const struct program_state *states = program_states(program, rule);
	uint32_t words = transitions_at(rule);

	for (uint32_t i = 0; i < rule->state_count; i++)
		words += words_of_state(program, &states[i]);
	return words;
}

/* Under SKIPTILLANY, and where a machine copies, a run may take two: docs/internals/execution.md. */
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

int program_why_new(const struct program *program, struct program_why **made)
{
	struct program_why *why = alloc_zero(1, sizeof *why);
	bool whole;

	if (!why)
		return -ENOMEM;
	why->program = program;
	why->rules = alloc_zero(program->rule_count, sizeof *why->rules);
	whole = why->rules;
	for (uint32_t i = 0; i < program->rule_count && whole; i++) {
		why->rules[i] = alloc_zero(program_why_words(program, &program->rules[i]), sizeof **why->rules);
		whole = why->rules[i];
	}
	if (whole)
		*made = why;
	else
		program_why_free(why);
	return whole ? 0 : -ENOMEM;
}

void program_why_free(struct program_why *why)
{
	if (!why)
		return;
	for (uint32_t i = 0; why->rules && i < why->program->rule_count; i++)
		alloc_free(why->rules[i]);
	alloc_free(why->rules);
	alloc_free(why);
}
