// SPDX-License-Identifier: BSD-2-Clause
/* Compiles a machine's expressions to nodes: its keys and variables are slots once there is an instance. */

#include "automaton/machine/machine-priv.h"

#include <errno.h>
#include <string.h>

uint32_t machine_word(struct machine_build *build, uint64_t word)
{
	return node_const(&build->base, PROGRAM_U64, word);
}

uint32_t machine_header(struct machine_build *build, uint32_t field)
{
	struct program_node node = {
		.op = PROGRAM_OP_FIELD,
		.kind = unit_kind(event_header_fields[field].value),
		.depth = 1,
		.a = field,
		.b = PROGRAM_NONE,
	};

	return program_build_add(build->base.unit->out, PROGRAM_NODES, &node, 1);
}

uint32_t machine_convert(struct machine_build *build, enum program_kind kind, uint32_t node)
{
	const struct program_node *row = program_build_get(build->base.unit->out, PROGRAM_NODES, node);

	if (!row || row->kind == kind)
		return node;
	return node_op(&build->base, PROGRAM_OP_CONVERT, kind, node, PROGRAM_NONE);
}

/* A text as a variable of that capacity keeps it. */
static uint32_t cut_text(struct machine_build *build, const struct lang_variable *variable)
{
	const char *text = variable->initial ? variable->initial->text : "";
	size_t length = strnlen(text, variable->bytes - 1);
	struct lang_expr expr = { .op = LANG_CONST, .kind = LANG_STRING };

	expr.text = arena_text(build->base.arena, text, length);
	if (!expr.text) {
		rule_fail(&build->base, -ENOMEM);
		expr.text = "";
	}
	return node_constant(&build->base, &expr);
}

uint32_t machine_initial(struct machine_build *build, const struct lang_variable *variable)
{
	enum program_kind kind = (enum program_kind)variable->kind;

	if (kind == PROGRAM_STRING)
		return cut_text(build, variable);
	if (!variable->initial)
		return node_const(&build->base, kind, 0);
	if (kind == PROGRAM_F64)
		return node_constant(&build->base, variable->initial);
	return node_const(&build->base, kind, event_value_narrow(variable->type, variable->initial->integer));
}

static uint32_t field_node(struct machine_build *build, const struct lang_transition *transition,
			   const struct event_field *field)
{
	if (event_field_is_header(field))
		return machine_header(build, (uint32_t)(field - event_header_fields));
	if (!transition || !transition->type) {
		rule_fail(&build->base, -EINVAL);
		return machine_word(build, 0);
	}
	return node_field(&build->base, transition->type, field);
}

uint32_t machine_key_field(struct machine_build *build, uint32_t key, const struct lang_transition *transition,
			   const struct event_field *field)
{
	return machine_convert(build, (enum program_kind)build->machine->keys[key].kind,
			       field_node(build, transition, field));
}

static uint32_t leaf(struct machine_build *build, const struct lang_expr *expr, const struct machine_scope *scope)
{
	switch (expr->op) {
	case LANG_CONST:
		return node_constant(&build->base, expr);
	case LANG_FIELD:
		return field_node(build, scope->transition, expr->field);
	case LANG_KEY:
		if (scope->opens)
			return machine_key_field(build, expr->element, scope->transition,
						 scope->transition->by[expr->element]);
		if (scope->copies)
			return machine_key_field(build, expr->element, scope->transition,
						 scope->transition->copy_by[expr->element]);
		return node_slot(&build->base, expr->element);
	case LANG_VARIABLE:
		if (scope->opens)
			return machine_initial(build, &build->machine->variables[expr->element]);
		return node_slot(&build->base, build->machine->key_count + expr->element);
	default: /* patterns have these, machines do not */
		rule_fail(&build->base, -EINVAL);
		return machine_word(build, 0);
	}
}

uint32_t machine_expr(struct machine_build *build, const struct lang_expr *expr, const struct machine_scope *scope)
{
	uint32_t a, b = PROGRAM_NONE;

	if (expr->op < LANG_ADD)
		return leaf(build, expr, scope);
	a = machine_expr(build, expr->left, scope);
	if (expr->right)
		b = machine_expr(build, expr->right, scope);
	return node_op(&build->base, node_operation(expr->op), (enum program_kind)expr->kind, a, b);
}

/* The bits of an integer that is narrower than a word; 0: it is none. */
static uint32_t integer_bits(enum event_value type)
{
	switch (type) {
	case EVENT_U8:
	case EVENT_I8:
		return 8;
	case EVENT_U16:
	case EVENT_I16:
		return 16;
	case EVENT_U32:
	case EVENT_I32:
		return 32;
	default:
		return 0;
	}
}

uint32_t machine_narrow(struct machine_build *build, const struct lang_variable *variable, uint32_t node)
{
	const struct program_node *row = program_build_get(build->base.unit->out, PROGRAM_NODES, node);
	uint32_t bits = integer_bits(variable->type);
	enum program_kind kind = (enum program_kind)variable->kind;

	if (!bits || !row)
		return node;
	if (row->op == PROGRAM_OP_CONST)
		return node_const(&build->base, kind, event_value_narrow(variable->type, row->imm));
	if (variable->type <= EVENT_U32)
		return node_op(&build->base, PROGRAM_OP_AND, kind, node,
			       node_const(&build->base, kind, (UINT64_C(1) << bits) - 1));
	node = node_op(&build->base, PROGRAM_OP_SHL, PROGRAM_I64, machine_convert(build, PROGRAM_I64, node),
		       machine_word(build, 64 - bits));
	node = node_op(&build->base, PROGRAM_OP_SHR, PROGRAM_I64, node, machine_word(build, 64 - bits));
	return machine_convert(build, kind, node);
}

void machine_set(struct machine_build *build, struct program_transition *out, uint32_t slot, uint32_t node)
{
	struct program_action action = { .op = PROGRAM_SET, .slot = slot, .node = node };
	uint32_t index = program_build_add(build->base.unit->out, PROGRAM_ACTIONS, &action, 1);

	if (!out->action_count)
		out->first_action = index;
	out->action_count++;
}
