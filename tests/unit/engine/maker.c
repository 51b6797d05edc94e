// SPDX-License-Identifier: BSD-2-Clause
/* Writes rows in the order that the image wants them. */

#include "maker.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

uint32_t maker_field(enum maker_type type, enum maker_field field)
{
	return EVENT_HEADER_FIELDS + (uint32_t)type * MAKER_FIELDS + (uint32_t)field;
}

struct program_build *maker_new(void)
{
	static const char *const types[] = { "A", "B", "C" }, *const fields[] = { "x", "u", "f", "b", "s" };
	static const uint32_t values[] = { EVENT_I64, EVENT_U64, EVENT_F64, EVENT_BOOL, EVENT_STRING };
	struct program_build *build = program_build_new();

	assert_non_null(build);
	for (int i = 0; i < EVENT_HEADER_FIELDS; i++) {
		const struct event_field *field = &event_header_fields[i];
		struct program_field row = { program_build_text(build, field->name), field->value, field->offset,
					     field->bytes };

		program_build_add(build, PROGRAM_FIELDS, &row, 1);
	}
	for (uint32_t i = 0; i < MAKER_TYPES; i++) {
		struct program_type type = { program_build_text(build, types[i]), maker_field(i, 0), MAKER_FIELDS,
					     sizeof(struct maker_record) };

		program_build_add(build, PROGRAM_TYPES, &type, 1);
		for (uint32_t j = 0; j < MAKER_FIELDS; j++) {
			struct program_field row = { program_build_text(build, fields[j]), values[j],
						     (uint32_t)sizeof(struct event_header) + 8 * j,
						     j == MAKER_S ? 16 : 8 };

			program_build_add(build, PROGRAM_FIELDS, &row, 1);
		}
	}
	return build;
}

uint32_t maker_const(struct program_build *build, enum program_kind kind, uint64_t imm)
{
	struct program_node node = { .op = PROGRAM_OP_CONST, .kind = (uint8_t)kind, .depth = 1, .imm = imm };

	return program_build_add(build, PROGRAM_NODES, &node, 1);
}

uint32_t maker_leaf(struct program_build *build, enum program_op op, enum program_kind kind, uint32_t a)
{
	struct program_node node = { .op = (uint8_t)op, .kind = (uint8_t)kind, .depth = 1, .a = a };

	return program_build_add(build, PROGRAM_NODES, &node, 1);
}

uint32_t maker_text(struct program_build *build, const char *text)
{
	struct program_node node = { .op = PROGRAM_OP_TEXT, .kind = PROGRAM_STRING, .depth = 1 };

	node.a = program_build_text(build, text);
	node.b = (uint32_t)strlen(text);
	return program_build_add(build, PROGRAM_NODES, &node, 1);
}

uint32_t maker_node(struct program_build *build, enum program_op op, enum program_kind kind, uint32_t a, uint32_t b)
{
	bool single = op == PROGRAM_OP_CONVERT || op == PROGRAM_OP_LNOT;
	const struct program_node *left = program_build_get(build, PROGRAM_NODES, a),
				  *right = single ? left : program_build_get(build, PROGRAM_NODES, b);
	struct program_node node = { .op = (uint8_t)op, .kind = (uint8_t)kind, .a = a, .b = single ? 0 : b };

	node.depth = (uint16_t)(1 + (left->depth > right->depth ? left->depth : right->depth));
	return program_build_add(build, PROGRAM_NODES, &node, 1);
}

static void add_transition(struct program_build *build, const struct maker_transition *from)
{
	struct program_transition row = { .type = from->type,
					  .target = from->target,
					  .fit = from->fit ? from->fit - 1 : PROGRAM_NONE,
					  .hold = from->hold ? from->hold - 1 : PROGRAM_NONE,
					  .element = from->element ? from->element - 1 : PROGRAM_NONE,
					  .flags = from->flags,
					  .note = program_build_text(build, "") };

	row.first_action = program_build_count(build, PROGRAM_ACTIONS);
	for (int i = 0; i < 6 && from->actions[i].op; i++) {
		struct program_action action = { .op = from->actions[i].op,
						 .slot = from->actions[i].slot,
						 .node = from->actions[i].node - 1 };

		program_build_add(build, PROGRAM_ACTIONS, &action, 1);
		row.action_count++;
	}
	program_build_add(build, PROGRAM_TRANSITIONS, &row, 1);
}

static void add_states(struct program_build *build, const struct maker_rule *rule)
{
	for (uint32_t i = 0; i < rule->state_count; i++) {
		const struct maker_state *state = &rule->states[i];
		struct program_state row = { .label = program_build_text(build, "s"),
					     .first_transition = program_build_count(build, PROGRAM_TRANSITIONS),
					     .transition_count = state->count,
					     .class = i ? state->class : PROGRAM_NONE,
					     .flags = state->flags };

		for (uint32_t j = 0; j < state->count; j++)
			add_transition(build, &state->transitions[j]);
		program_build_add(build, PROGRAM_STATES, &row, 1);
	}
}

static void add_classes(struct program_build *build, const struct maker_rule *rule)
{
	for (uint32_t i = 0; i < rule->class_count; i++) {
		const struct maker_class *class = &rule->classes[i];
		struct program_class row = { .slot_count = class->slot_count,
					     .key_count = class->key_count,
					     .first_key = program_build_count(build, PROGRAM_KEYS),
					     .label = program_build_text(build, "class") };

		row.first_slot = program_build_add(build, PROGRAM_INDICES, class->slots, class->slot_count);
		for (uint32_t j = 0; j < class->key_count; j++) {
			struct program_key key = { .type = class->keys[j].type };

			key.first_field =
				program_build_add(build, PROGRAM_INDICES, class->keys[j].fields, class->slot_count);
			program_build_add(build, PROGRAM_KEYS, &key, 1);
		}
		program_build_add(build, PROGRAM_CLASSES, &row, 1);
	}
}

static void add_results(struct program_build *build, const struct maker_rule *rule, struct program_rule *row)
{
	row->first_return = program_build_count(build, PROGRAM_RETURNS);
	row->return_count = rule->return_count;
	for (uint32_t i = 0; i < rule->return_count; i++) {
		char name[2] = { (char)('p' + i), 0 };
		struct program_return value = { program_build_text(build, name), rule->returns[i] };

		program_build_add(build, PROGRAM_RETURNS, &value, 1);
	}
	row->first_statement = program_build_count(build, PROGRAM_STATEMENTS);
	row->statement_count = rule->emit_count;
	for (uint32_t i = 0; i < rule->emit_count; i++) {
		struct program_arg arg = { rule->emit[i].node, rule->emit[i].field };
		struct program_statement statement = { .type = rule->emit[i].type,
						       .function = PROGRAM_NONE,
						       .arg_count = 1,
						       .notice = rule->emit[i].notice };

		statement.first_arg = program_build_add(build, PROGRAM_ARGS, &arg, 1);
		program_build_add(build, PROGRAM_STATEMENTS, &statement, 1);
	}
	row->first_notice = rule->notice_count ? program_build_count(build, PROGRAM_NOTICES) : 0;
	row->notice_count = rule->notice_count;
	row->notice_slot = rule->notice_slot;
	row->timer_slot = rule->timer_slot;
	for (uint32_t i = 0; i < rule->notice_count; i++) {
		struct program_notice notice = { .flags = rule->notices[i] };

		program_build_add(build, PROGRAM_NOTICES, &notice, 1);
	}
}

void maker_add(struct program_build *build, const struct maker_rule *rule)
{
	uint32_t over[MAKER_TYPES] = { MAKER_A, MAKER_B, MAKER_C };
	struct program_rule row = { .name = program_build_text(build, rule->name),
				    .semantics = (uint8_t)rule->semantics,
				    .loss = (uint8_t)rule->loss,
				    .flags = (uint8_t)rule->flags,
				    .pool = rule->pool,
				    .within_ns = rule->within_ns,
				    .slot_count = rule->slot_count,
				    .state_count = rule->state_count,
				    .class_count = rule->class_count,
				    .over_count = rule->over_c ? 3 : 2,
				    .context_slot = rule->context_slot ? rule->context_slot - 1 : PROGRAM_NONE,
				    .place = program_build_text(build, "test:1"),
				    .source = program_build_text(build, "RULE") };

	row.first_slot = program_build_count(build, PROGRAM_SLOTS);
	for (uint32_t i = 0; i < rule->slot_count; i++) {
		uint32_t bytes = rule->slots[i].bytes ? rule->slots[i].bytes : 8;
		struct program_slot slot = { program_build_text(build, "slot"), rule->slots[i].kind, row.slot_bytes,
					     bytes };

		row.slot_bytes += bytes;
		program_build_add(build, PROGRAM_SLOTS, &slot, 1);
	}
	row.first_element = program_build_count(build, PROGRAM_ELEMENTS);
	row.element_count = rule->semantics == PROGRAM_MACHINE ? 0 : 2;
	for (uint32_t i = 0; i < row.element_count; i++) {
		struct program_element element = { i, program_build_text(build, i ? "b" : "a"), 0, 0 };

		program_build_add(build, PROGRAM_ELEMENTS, &element, 1);
	}
	row.first_state = program_build_count(build, PROGRAM_STATES);
	add_states(build, rule);
	row.first_class = program_build_count(build, PROGRAM_CLASSES);
	add_classes(build, rule);
	row.first_over = program_build_add(build, PROGRAM_INDICES, over, row.over_count);
	add_results(build, rule, &row);
	program_build_add(build, PROGRAM_RULES, &row, 1);
}

struct program *maker_load(struct program_build *build)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct program *program = NULL;
	void *bytes = NULL;
	size_t length;

	assert_int_equal(program_build_finish(build, &bytes, &length), 0);
	program_build_free(build);
	int result = program_load(bytes, length, "made", diag, &program);
	if (result)
		print_error("%s\n", asterism_diag_get(diag, 0)->text);
	assert_int_equal(result, 0);
	alloc_free(bytes);
	asterism_diag_free(diag);
	return program;
}
