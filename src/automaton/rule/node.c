// SPDX-License-Identifier: BSD-2-Clause
/* Compiles expressions of the language to nodes of the image. */

#include "automaton/rule/rule-priv.h"

#include <errno.h>
#include <string.h>

static uint16_t depth_of(struct rule_build *build, uint32_t index)
{
	const struct program_node *node;

	if (index == PROGRAM_NONE)
		return 0;
	node = program_build_get(build->unit->out, PROGRAM_NODES, index);
	return node ? node->depth : 0;
}

static uint32_t add_node(struct rule_build *build, struct program_node node)
{
	uint16_t a = 0, b = 0;

	if (node.op >= PROGRAM_OP_ADD) {
		a = depth_of(build, node.a);
		b = depth_of(build, node.b);
	}
	node.depth = (uint16_t)((a > b ? a : b) + 1);
	if (node.depth > PROGRAM_DEPTH_MAX) {
		if (!build->error)
			diag_error(build->unit->diag, &build->rule->location, 0,
				   "the conditions of %s '%s' are too deeply nested", build->sort, build->rule->name);
		rule_fail(build, -E2BIG);
		node.depth = 1;
	}
	return program_build_add(build->unit->out, PROGRAM_NODES, &node, 1);
}

uint32_t node_const(struct rule_build *build, enum program_kind kind, uint64_t bits)
{
	return add_node(
		build,
		(struct program_node){
			.op = PROGRAM_OP_CONST, .kind = kind, .imm = bits, .a = PROGRAM_NONE, .b = PROGRAM_NONE });
}

uint32_t node_slot(struct rule_build *build, uint32_t slot)
{
	return add_node(build,
			(struct program_node){
				.op = PROGRAM_OP_SLOT, .kind = build->slots[slot].kind, .a = slot, .b = PROGRAM_NONE });
}

uint32_t node_field(struct rule_build *build, const struct event_type *type, const struct event_field *field)
{
	return add_node(build, (struct program_node){ .op = PROGRAM_OP_FIELD,
						      .kind = unit_kind(field->value),
						      .a = unit_field(build->unit, type, field),
						      .b = PROGRAM_NONE });
}

uint32_t node_op(struct rule_build *build, enum program_op op, enum program_kind kind, uint32_t a, uint32_t b)
{
	return add_node(build, (struct program_node){ .op = op, .kind = kind, .a = a, .b = b });
}

uint32_t node_and(struct rule_build *build, uint32_t a, uint32_t b)
{
	if (a == PROGRAM_NONE)
		return b;
	return b == PROGRAM_NONE ? a : node_op(build, PROGRAM_OP_LAND, PROGRAM_BOOL, a, b);
}

uint32_t node_or(struct rule_build *build, uint32_t a, uint32_t b)
{
	if (a == PROGRAM_NONE)
		return b;
	return b == PROGRAM_NONE ? a : node_op(build, PROGRAM_OP_LOR, PROGRAM_BOOL, a, b);
}

uint32_t node_constant(struct rule_build *build, const struct lang_expr *expr)
{
	uint64_t bits = expr->integer;

	if (expr->kind == LANG_STRING) {
		uint32_t text = program_build_text(build->unit->out, expr->text);

		return add_node(build, (struct program_node){ .op = PROGRAM_OP_TEXT,
							      .kind = PROGRAM_STRING,
							      .a = text,
							      .b = (uint32_t)strlen(expr->text) });
	}
	if (expr->kind == LANG_F64)
		memcpy(&bits, &expr->real, sizeof bits);
	return node_const(build, (enum program_kind)expr->kind, bits);
}

/* The slot that an array function or a stored field reads. */
static uint32_t stored(struct rule_build *build, const struct lang_expr *expr)
{
	static const enum slot_purpose purposes[] = {
		[LANG_FIELD] = SLOT_FIELD, [LANG_MIN] = SLOT_MIN,     [LANG_MAX] = SLOT_MAX,
		[LANG_SUM] = SLOT_SUM,     [LANG_FIRST] = SLOT_FIRST, [LANG_LAST] = SLOT_LAST,
	};
	uint32_t slot = slots_find(build, purposes[expr->op], expr->element, expr->field);

	if (slot == PROGRAM_NONE) {
		rule_fail(build, -EINVAL);
		return node_const(build, PROGRAM_I64, 0);
	}
	return node_slot(build, slot);
}

static uint32_t element_count_node(struct rule_build *build, uint32_t element)
{
	for (uint32_t i = 0; i < build->pattern.position_count; i++) {
		if (build->pattern.positions[i].element == element)
			return node_slot(build, slots_counter(build, build->pattern.positions[i].node));
	}
	rule_fail(build, -EINVAL);
	return node_const(build, PROGRAM_I64, 0);
}

static uint32_t average(struct rule_build *build, const struct lang_expr *expr)
{
	uint32_t slot = slots_find(build, SLOT_SUM, expr->element, expr->field);
	uint32_t sum, count;

	if (slot == PROGRAM_NONE) {
		rule_fail(build, -EINVAL);
		return node_const(build, PROGRAM_F64, 0);
	}
	sum = node_slot(build, slot);
	if (build->slots[slot].kind != PROGRAM_F64)
		sum = node_op(build, PROGRAM_OP_CONVERT, PROGRAM_F64, sum, PROGRAM_NONE);
	count = node_op(build, PROGRAM_OP_CONVERT, PROGRAM_F64, element_count_node(build, expr->element), PROGRAM_NONE);
	return node_op(build, PROGRAM_OP_DIV, PROGRAM_F64, sum, count);
}

static uint32_t leaf(struct rule_build *build, const struct lang_expr *expr, uint32_t current)
{
	switch (expr->op) {
	case LANG_CONST:
		return node_constant(build, expr);
	case LANG_LEN:
		return element_count_node(build, expr->element);
	case LANG_AVG:
		return average(build, expr);
	case LANG_CONTEXT:
		return node_slot(build, slots_find(build, SLOT_CONTEXT, slots_context_part(expr->field), NULL));
	case LANG_FIELD:
		if (expr->element == current)
			return node_field(build, build->rule->elements[current].type, expr->field);
		return stored(build, expr);
	default:
		return stored(build, expr);
	}
}

enum program_op node_operation(enum lang_op op)
{
	static const uint8_t ops[] = {
		[LANG_ADD] = PROGRAM_OP_ADD, [LANG_SUB] = PROGRAM_OP_SUB,   [LANG_MUL] = PROGRAM_OP_MUL,
		[LANG_DIV] = PROGRAM_OP_DIV, [LANG_MOD] = PROGRAM_OP_MOD,   [LANG_AND] = PROGRAM_OP_AND,
		[LANG_OR] = PROGRAM_OP_OR,   [LANG_XOR] = PROGRAM_OP_XOR,   [LANG_SHL] = PROGRAM_OP_SHL,
		[LANG_SHR] = PROGRAM_OP_SHR, [LANG_EQ] = PROGRAM_OP_EQ,     [LANG_NE] = PROGRAM_OP_NE,
		[LANG_LT] = PROGRAM_OP_LT,   [LANG_LE] = PROGRAM_OP_LE,     [LANG_GT] = PROGRAM_OP_GT,
		[LANG_GE] = PROGRAM_OP_GE,   [LANG_LIKE] = PROGRAM_OP_LIKE, [LANG_LAND] = PROGRAM_OP_LAND,
		[LANG_LOR] = PROGRAM_OP_LOR, [LANG_LNOT] = PROGRAM_OP_LNOT, [LANG_CONVERT] = PROGRAM_OP_CONVERT,
	};

	return (enum program_op)ops[op];
}

uint32_t node_expr(struct rule_build *build, const struct lang_expr *expr, uint32_t current)
{
	uint32_t a, b;

	if (expr->op < LANG_ADD)
		return leaf(build, expr, current);
	a = node_expr(build, expr->left, current);
	b = expr->right ? node_expr(build, expr->right, current) : PROGRAM_NONE;
	return node_op(build, node_operation(expr->op), (enum program_kind)expr->kind, a, b);
}
