// SPDX-License-Identifier: BSD-2-Clause
/* Finds the rows of an image that concern an event type. */

#include "program/query.h"

#include "event/type.h"

bool program_rule_lists(const struct program *program, const struct program_rule *rule, uint32_t type)
{
	const uint32_t *over = program_over(program, rule);

	for (uint32_t i = 0; i < rule->over_count; i++)
		if (over[i] == type)
			return true;
	return false;
}

bool program_rule_lists_sensor(const struct program *program, const struct program_rule *rule)
{
	for (uint32_t i = 0; i < rule->over_count; i++)
		if (program->types[program_over(program, rule)[i]].sensor)
			return true;
	return false;
}

bool program_rule_sees(const struct program *program, const struct program_rule *rule, uint32_t type)
{
	return rule->flags & PROGRAM_RULE_OVER_ALL || program_rule_lists(program, rule, type);
}

const struct program_transition *program_transitions_on(const struct program *program,
							const struct program_state *state, uint32_t type,
							uint32_t *count)
{
	const struct program_transition *first = program_transitions(program, state);
	const struct program_transition *end = first + state->transition_count;

	while (first < end && first->type != type)
		first++;
	for (*count = 0; first + *count < end && first[*count].type == type;)
		++*count;
	return first;
}

const struct program_key *program_key_for(const struct program *program, const struct program_class *class,
					  uint32_t type)
{
	const struct program_key *keys = program_keys(program, class), *other = NULL;

	for (uint32_t i = 0; i < class->key_count; i++) {
		if (keys[i].type == type)
			return &keys[i];
		if (keys[i].type == PROGRAM_NONE)
			other = &keys[i];
	}
	return other;
}

uint32_t program_key_given(const struct program *program, const struct program_class *class,
			   const struct program_key *key)
{
	const uint32_t *fields = program_key_fields(program, key);
	uint32_t mask = 0;

	for (uint32_t i = 0; i < class->slot_count; i++)
		mask |= (uint32_t)(fields[i] != PROGRAM_NONE) << i;
	return mask;
}

uint32_t program_value_bytes(const struct program *program, uint32_t rule, uint32_t node)
{
	const struct program_node *value = &program->nodes[node];

	if (value->kind != PROGRAM_STRING)
		return sizeof(uint64_t);
	if (value->op == PROGRAM_OP_SLOT)
		return program_slots(program, &program->rules[rule])[value->a].bytes;
	return (value->b + 8) / 8 * 8; /* a constant, and its end */
}

uint32_t program_record_bytes_max(const struct program *program)
{
	uint32_t bytes = sizeof(struct event_header);

	for (uint32_t i = 0; i < program->type_count; i++)
		if (program->types[i].record_bytes > bytes)
			bytes = program->types[i].record_bytes;
	return bytes;
}

bool program_same_key(const struct program *program, const struct program_rule *rule, uint32_t a, uint32_t b)
{
	const struct program_state *states = program_states(program, rule);
	const struct program_class *of_a = &program_classes(program, rule)[states[a].class],
				   *of_b = &program_classes(program, rule)[states[b].class];
	uint32_t count_a, count_b;
	const uint32_t *more_a = program_state_more(program, &states[a], &count_a),
		       *more_b = program_state_more(program, &states[b], &count_b);

	return of_a->slot_count == of_b->slot_count && count_a == count_b &&
	       !memcmp(program_class_slots(program, of_a), program_class_slots(program, of_b),
		       of_a->slot_count * sizeof *program->indices) &&
	       !memcmp(more_a, more_b, count_a * sizeof *more_a);
}
