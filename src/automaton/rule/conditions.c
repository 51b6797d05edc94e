// SPDX-License-Identifier: BSD-2-Clause
/*
 * Places each condition on the transition that can test it: guards, joins and correlations on the transition that takes
 * their event, relations on the first transition after which all they name is known.
 */

#include "automaton/rule/rule-priv.h"

#include <errno.h>

uint32_t conditions_tests(struct rule_build *build, const struct count_test *tests)
{
	static const enum program_op ops[] = {
		[COUNT_AT_LEAST] = PROGRAM_OP_GE,
		[COUNT_LESS] = PROGRAM_OP_LT,
		[COUNT_IS] = PROGRAM_OP_EQ,
	};
	uint32_t all = PROGRAM_NONE;

	for (const struct count_test *test = tests; test; test = test->next) {
		uint32_t count = node_slot(build, slots_counter(build, test->node));
		uint32_t value = node_const(build, PROGRAM_I64, test->value);

		all = node_and(build, all, node_op(build, ops[test->op], PROGRAM_BOOL, count, value));
	}
	return all;
}

static uint32_t is_bound_node(struct rule_build *build, uint32_t element)
{
	uint32_t word = node_slot(build, slots_find(build, SLOT_BOUND, 0, NULL));
	uint64_t bit = UINT64_C(1) << build->flags[element];
	uint32_t set = node_op(build, PROGRAM_OP_AND, PROGRAM_U64, word, node_const(build, PROGRAM_U64, bit));

	return node_op(build, PROGRAM_OP_NE, PROGRAM_BOOL, set, node_const(build, PROGRAM_U64, 0));
}

/* What is known of the elements that an expression names: all there, perhaps there (with the test in *node), none. */
enum presence { PRESENT, PERHAPS, ABSENT };

static enum presence presence(struct rule_build *build, const struct lang_expr *expr, const struct pattern_point *point,
			      uint32_t *node)
{
	enum presence left, right;

	if (!expr || expr->op == LANG_CONST)
		return PRESENT;
	if (expr->op > LANG_LAST) {
		left = presence(build, expr->left, point, node);
		right = presence(build, expr->right, point, node);
		return left > right ? left : right;
	}
	if (expr->element == point->current)
		return PRESENT;
	if (!point->may || !set_has(point->may, expr->element))
		return ABSENT;
	if (set_has(point->must, expr->element))
		return PRESENT;
	*node = node_and(build, *node, is_bound_node(build, expr->element));
	return PERHAPS;
}

uint32_t conditions_there(struct rule_build *build, const struct lang_expr *expr)
{
	if (!expr || expr->op == LANG_CONST)
		return PROGRAM_NONE;
	if (expr->op > LANG_LAST)
		return node_and(build, conditions_there(build, expr->left), conditions_there(build, expr->right));
	if (!slots_may_lack(build, expr->element))
		return PROGRAM_NONE;
	return is_bound_node(build, expr->element);
}

/* The condition as a node: NONE where something it names cannot be there, "absent or true" where it may not be. */
static uint32_t tested(struct rule_build *build, const struct lang_condition *condition,
		       const struct pattern_point *point)
{
	uint32_t there = PROGRAM_NONE, absent;

	if (presence(build, condition->expr, point, &there) == ABSENT)
		return PROGRAM_NONE;
	uint32_t node = node_expr(build, condition->expr, point->current);

	if (there == PROGRAM_NONE)
		return node;
	absent = node_op(build, PROGRAM_OP_LNOT, PROGRAM_BOOL, there, PROGRAM_NONE);
	return node_op(build, PROGRAM_OP_LOR, PROGRAM_BOOL, absent, node);
}

static bool same_bits(const struct event_field *a, const struct event_field *b)
{
	if (unit_kind(a->value) != unit_kind(b->value) || a->value == EVENT_F64)
		return false;
	return a->value != EVENT_STRING || a->bytes == b->bytes;
}

static void add_equality(struct rule_build *build, struct pending_transition *pending, uint32_t slot,
			 const struct event_field *field, bool differs)
{
	if (pending->equality_count == EQUALITIES_MAX) {
		rule_fail(build, -E2BIG);
		return;
	}
	pending->equalities[pending->equality_count++] = (struct equality){
		.slot = slot,
		.field = unit_field(build->unit, pending->type, field),
		.differs = differs,
	};
}

static void add_join(struct rule_build *build, struct pending_transition *pending, uint32_t join, uint32_t element)
{
	const struct event_field *field = build->rule->joins[join].fields[element];
	uint32_t slot = slots_join(build, join), node;

	bool differs = !same_bits(field, build->rule->joins[join].fields[0]);

	add_equality(build, pending, slot, field, differs);
	if (!differs)
		return;
	node = node_op(build, PROGRAM_OP_EQ, PROGRAM_BOOL, node_field(build, pending->type, field),
		       node_slot(build, slot));
	pending->fit = node_and(build, pending->fit, node);
}

/* `current.f == earlier.g`, both bare: is part of a key; whether that is all there is to it. */
static bool add_bare(struct rule_build *build, struct pending_transition *pending, const struct lang_expr *expr,
		     const struct pattern_point *point)
{
	const struct lang_expr *mine = expr->left, *other = expr->right;

	if (expr->op != LANG_EQ)
		return false;
	if (mine->op != LANG_FIELD || mine->element != point->current) {
		mine = expr->right;
		other = expr->left;
	}
	if (mine->op != LANG_FIELD || other->op != LANG_FIELD || mine->element != point->current)
		return false;
	if (other->element == point->current || !point->must || !set_has(point->must, other->element))
		return false;
	bool differs = !same_bits(mine->field, other->field);

	add_equality(build, pending, slots_find(build, SLOT_FIELD, other->element, other->field), mine->field, differs);
	return !differs;
}

void conditions_fit(struct rule_build *build, struct pending_transition *pending, const struct pattern_point *point,
		    bool opens)
{
	const struct lang_rule *rule = build->rule;

	for (uint32_t i = 0; i < rule->join_count && !opens; i++)
		add_join(build, pending, i, point->current);
	for (uint32_t i = 0; i < rule->condition_count; i++) {
		const struct lang_condition *condition = &rule->conditions[i];
		bool constant = condition->element == UINT32_MAX;

		if (condition->kind == LANG_RELATION || (constant ? !opens : condition->element != point->current))
			continue;
		if (condition->kind != LANG_GUARD && add_bare(build, pending, condition->expr, point))
			continue;
		pending->fit = node_and(build, pending->fit, tested(build, condition, point));
	}
}

uint32_t conditions_relations(struct rule_build *build, const struct pattern_point *point, uint32_t element)
{
	const struct lang_rule *rule = build->rule;
	uint32_t all = PROGRAM_NONE;

	for (uint32_t i = 0; i < rule->condition_count; i++) {
		const struct lang_condition *condition = &rule->conditions[i];

		if (condition->kind == LANG_RELATION && condition->element == element)
			all = node_and(build, all, tested(build, condition, point));
	}
	return all;
}
