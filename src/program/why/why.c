// SPDX-License-Identifier: BSD-2-Clause
/* Decides where in the array of a rule each count stands: the rule's, its states', its types', its transitions'. */

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
