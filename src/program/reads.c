// SPDX-License-Identifier: BSD-2-Clause
/* Decides which fields of an event type a rule looks at. */

#include "program/reads.h"
#include "program/query.h"

/* Whose fields are noted where. */
struct reading {
	const struct program *program;
	const struct program_rule *rule;
	uint32_t type;
	bool *reads;
};

static void read_field(const struct reading *reading, uint32_t field)
{
	const struct program_type *type = &reading->program->types[reading->type];

	if (field >= type->first_field && field - type->first_field < type->field_count)
		reading->reads[field - type->first_field] = true;
}

/* Recursion is bounded by PROGRAM_DEPTH_MAX, its breadth by PROGRAM_EXPANSION_MAX. */
static void read_node(const struct reading *reading, uint32_t index)
{
	if (index == PROGRAM_NONE)
		return;
	const struct program_node *node = &reading->program->nodes[index];

	if (node->op == PROGRAM_OP_FIELD)
		read_field(reading, node->a);
	if (node->op < PROGRAM_OP_ADD)
		return;
	read_node(reading, node->a);
	if (node->op != PROGRAM_OP_CONVERT && node->op != PROGRAM_OP_LNOT)
		read_node(reading, node->b);
}

static void read_transition(const struct reading *reading, const struct program_transition *transition)
{
	read_node(reading, transition->fit);
	read_node(reading, transition->hold);
	for (uint32_t i = 0; i < transition->action_count; i++)
		read_node(reading, program_actions(reading->program, transition)[i].node);
	if (!(reading->rule->flags & PROGRAM_RULE_SEQUENCE) || transition->element == PROGRAM_NONE)
		return;
	for (uint32_t i = 0; i < reading->program->types[reading->type].field_count; i++)
		reading->reads[i] = true; /* the event is kept as it is */
}

static void read_states(const struct reading *reading)
{
	const struct program *program = reading->program;

	for (uint32_t i = 0; i < reading->rule->state_count; i++) {
		const struct program_state *state = &program_states(program, reading->rule)[i];

		for (uint32_t j = 0; j < state->transition_count; j++) {
			const struct program_transition *transition = &program_transitions(program, state)[j];

			if (transition->type == reading->type)
				read_transition(reading, transition);
		}
	}
}

static void read_keys(const struct reading *reading, const struct program_class *class)
{
	const struct program *program = reading->program;

	for (uint32_t i = 0; i < class->key_count; i++) {
		const struct program_key *key = &program_keys(program, class)[i];

		for (uint32_t j = 0; j < class->slot_count && key->type == reading->type; j++)
			read_field(reading, program_key_fields(program, key)[j]);
	}
}

void program_rule_reads(const struct program *program, uint32_t rule, uint32_t type, bool *reads)
{
	const struct reading reading = {
		.program = program, .rule = &program->rules[rule], .type = type, .reads = reads
	};

	read_states(&reading);
	for (uint32_t i = 0; i < reading.rule->class_count; i++)
		read_keys(&reading, &program_classes(program, reading.rule)[i]);
}
