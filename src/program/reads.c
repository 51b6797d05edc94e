// SPDX-License-Identifier: BSD-2-Clause
/* Collects the fields of events that a rule looks at. */

#include "program/reads.h"

#include "event/type.h"
#include "program/eval.h"
#include "program/query.h"

#include <string.h>

/* Whose fields are told to whom. */
struct reading {
	const struct program *program;
	const struct program_rule *rule;
	uint32_t type; /* NONE: all */
	bool ends;     /* only what a LIKE asks how it ends, */
	bool stored;   /* or stores, */
	bool *of_slot; /* set where one asks for something stored */
	program_read_fn *see;
	void *context;
};

static void read_end(const struct reading *reading, const struct program_node *like)
{
	const struct program_node *text = &reading->program->nodes[like->a];

	if (program_pattern_is_prefix(program_text(reading->program, reading->program->nodes[like->b].a)))
		return;
	if (text->op == PROGRAM_OP_FIELD)
		reading->see(reading->context, text->a, PROGRAM_READ_TO_END);
	else
		*reading->of_slot = true;
}

/* Recursion is bounded by PROGRAM_DEPTH_MAX, its breadth by PROGRAM_EXPANSION_MAX. */
static void read_node(const struct reading *reading, uint32_t index, enum program_read what_for)
{
	if (index == PROGRAM_NONE)
		return;
	const struct program_node *node = &reading->program->nodes[index];

	if (node->op == PROGRAM_OP_FIELD && !reading->ends)
		reading->see(reading->context, node->a, what_for);
	if (node->op == PROGRAM_OP_LIKE && reading->ends)
		read_end(reading, node);
	if (node->op < PROGRAM_OP_ADD)
		return;
	read_node(reading, node->a, what_for);
	if (node->op != PROGRAM_OP_CONVERT && node->op != PROGRAM_OP_LNOT)
		read_node(reading, node->b, what_for);
}

static void read_whole(const struct reading *reading, const struct program_type *type)
{
	for (uint32_t i = 0; i < EVENT_HEADER_FIELDS; i++)
		reading->see(reading->context, i, PROGRAM_READ_TO_KEEP);
	for (uint32_t i = 0; i < type->field_count; i++)
		reading->see(reading->context, type->first_field + i, PROGRAM_READ_TO_KEEP);
}

/* The right side of one, which may be stored. */
static void read_action(const struct reading *reading, uint32_t index)
{
	const struct program_node *node = index == PROGRAM_NONE ? NULL : &reading->program->nodes[index];

	if (reading->stored && node && node->op == PROGRAM_OP_FIELD && node->kind == PROGRAM_STRING)
		reading->see(reading->context, node->a, PROGRAM_READ_TO_END);
	read_node(reading, index, PROGRAM_READ_TO_STEP);
}

static void read_transition(const struct reading *reading, const struct program_transition *transition, bool opens)
{
	const struct program_action *actions = program_actions(reading->program, transition);

	read_node(reading, transition->fit, opens ? PROGRAM_READ_TO_FIND : PROGRAM_READ_TO_STEP);
	read_node(reading, transition->hold, PROGRAM_READ_TO_STEP);
	for (uint32_t i = 0; i < transition->action_count; i++)
		read_action(reading, actions[i].node);
	if (!reading->ends && reading->rule->flags & PROGRAM_RULE_SEQUENCE && transition->element != PROGRAM_NONE)
		read_whole(reading, &reading->program->types[transition->type]);
}

static void read_states(const struct reading *reading)
{
	if (reading->ends && reading->rule->except)
		read_node(reading, reading->rule->except - 1, PROGRAM_READ_TO_STEP);
	const struct program_state *states = program_states(reading->program, reading->rule);

	for (uint32_t i = 0; i < reading->rule->state_count; i++) {
		const struct program_transition *transitions = program_transitions(reading->program, &states[i]);

		for (uint32_t j = 0; j < states[i].transition_count; j++)
			if (reading->type == PROGRAM_NONE || transitions[j].type == reading->type)
				read_transition(reading, &transitions[j], i == 0);
	}
}

static void read_key(const struct reading *reading, const struct program_class *class, const struct program_key *key)
{
	const uint32_t *fields = program_key_fields(reading->program, key);

	for (uint32_t i = 0; i < class->slot_count; i++)
		if (fields[i] != PROGRAM_NONE) /* `*` of a machine */
			reading->see(reading->context, fields[i], PROGRAM_READ_TO_FIND);
}

static void read_keys(const struct reading *reading, const struct program_class *class)
{
	const struct program_key *keys = program_keys(reading->program, class);
	uint32_t count = class->key_count;

	if (reading->type != PROGRAM_NONE) {
		keys = program_key_for(reading->program, class, reading->type);
		count = keys != NULL;
	}
	for (uint32_t i = 0; i < count; i++)
		read_key(reading, class, &keys[i]);
}

void program_each_read(const struct program *program, uint32_t rule, uint32_t type, program_read_fn *see, void *context)
{
	const struct reading reading = {
		.program = program, .rule = &program->rules[rule], .type = type, .see = see, .context = context
	};

	read_states(&reading);
	for (uint32_t i = 0; i < reading.rule->class_count; i++)
		read_keys(&reading, &program_classes(program, reading.rule)[i]);
}

static void see_nothing(void *context, uint32_t field, enum program_read what_for)
{
	(void)context;
	(void)field;
	(void)what_for;
}

void program_each_end(const struct program *program, uint32_t rule, uint32_t type, program_read_fn *see, void *context)
{
	bool of_slot = false;
	struct reading reading = { .program = program,
				   .rule = &program->rules[rule],
				   .type = PROGRAM_NONE,
				   .see = see_nothing,
				   .ends = true,
				   .of_slot = &of_slot };

	read_states(&reading);
	reading.stored = of_slot;
	reading.type = type;
	reading.see = see;
	reading.context = context;
	read_states(&reading);
}

/* The body fields of a type. */
struct body {
	uint32_t first, count;
	bool *reads;
};

static void note_body(void *context, uint32_t field, enum program_read what_for)
{
	const struct body *body = context;

	(void)what_for;
	if (field >= body->first && field - body->first < body->count)
		body->reads[field - body->first] = true;
}

void program_rule_reads(const struct program *program, uint32_t rule, uint32_t type, bool *reads)
{
	struct body body = { program->types[type].first_field, program->types[type].field_count, reads };

	program_each_read(program, rule, type, note_body, &body);
}

void program_rule_ends(const struct program *program, uint32_t rule, uint32_t type, bool *ends)
{
	struct body body = { program->types[type].first_field, program->types[type].field_count, ends };

	program_each_end(program, rule, type, note_body, &body);
}
