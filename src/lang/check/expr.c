// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks expressions and gives them their meaning: operators by their operands' kinds, IN as OR of equalities, long
 * chains of AND and OR as balanced trees, which evaluate in the same order and stay shallow.
 */

#include "lang/check/constants-priv.h"

#include "meaning/meaning.h"

static struct lang_expr *check_const(struct lang_check *c, const struct lang_syntax_expr *syntax)
{
	struct lang_expr *expr = lang_new_expr(c, LANG_CONST, syntax->kind, &syntax->location);

	if (expr) {
		expr->integer = syntax->integer;
		expr->real = syntax->real;
		expr->text = syntax->text;
		expr->is_bare = syntax->is_bare;
	}
	return expr;
}

/* Whether expr can be asked for its truth. */
static bool is_truth(struct lang_check *c, const struct lang_expr *expr)
{
	if (expr->kind == LANG_BOOL)
		return true;
	lang_error(c->report, &expr->location, expr->kind == LANG_STRING ? NULL : "compare it, for example with '!= 0'",
		   "this is %s, not a condition", lang_kind_name(expr->kind));
	return false;
}

/* The count expressions from operands on, joined by op, as a tree of depth log2(count). */
static struct lang_expr *balance_operands(struct lang_check *c, enum lang_op op, struct lang_expr **operands,
					  size_t count)
{
	if (count == 1)
		return operands[0];
	struct lang_expr *left = balance_operands(c, op, operands, count / 2);
	struct lang_expr *right = balance_operands(c, op, operands + count / 2, count - count / 2);
	struct lang_expr *expr = left && right ? lang_new_expr(c, op, LANG_BOOL, &left->location) : NULL;

	if (expr) {
		expr->left = left;
		expr->right = right;
	}
	return expr;
}

static struct lang_expr **new_operands(struct lang_check *c, const struct lang_syntax_expr *list, size_t *count)
{
	*count = 0;
	for (const struct lang_syntax_expr *item = list; item; item = item->next)
		*count += 1;
	struct lang_expr **operands = arena_zero(c->scratch, *count, sizeof *operands);

	if (!operands)
		lang_no_memory(c->report);
	return operands;
}

static struct lang_expr *check_chain(struct lang_check *c, const struct lang_syntax_expr *syntax)
{
	size_t count, checked = 0;
	struct lang_expr **operands = new_operands(c, syntax->list, &count);

	for (const struct lang_syntax_expr *item = syntax->list; operands && item; item = item->next) {
		struct lang_expr *operand = lang_check_expr(c, item);

		if (operand && is_truth(c, operand))
			operands[checked++] = operand;
	}
	if (!operands || checked != count)
		return NULL;
	struct lang_expr *expr = balance_operands(c, syntax->op, operands, count);

	if (expr)
		expr->location = syntax->location;
	return expr;
}

/* Names, beside other. */
static struct lang_expr *constant_beside(struct lang_check *c, const struct lang_syntax_expr *syntax,
					 const struct lang_expr *other)
{
	if (other && !meaning_has_names(other->meaning))
		return lang_check_expr(c, syntax); /* which tells that they stand for nothing */
	return lang_check_constant(c, syntax, other);
}

/* left == item; left is NULL where it is a name, or has an error. */
static struct lang_expr *check_item(struct lang_check *c, const struct lang_syntax_expr *syntax, struct lang_expr *left,
				    const struct lang_syntax_expr *item)
{
	bool is_left_constant = lang_is_constant(c, syntax->left);
	struct lang_expr *value;

	if (lang_is_constant(c, item) && !is_left_constant)
		value = left ? constant_beside(c, item, left) : NULL;
	else
		value = lang_check_expr(c, item);
	if (is_left_constant)
		left = constant_beside(c, syntax->left, value);
	else if (left && left->op == LANG_CONST)
		left = check_const(c, syntax->left);
	value = lang_check_quoted(c, value, left);
	left = lang_check_quoted(c, left, value);
	if (!value || !left)
		return NULL;
	if (lang_is_address(left, value))
		return lang_check_address(c, left, value, true);
	lang_warn_of_hidden(c, item, left);
	return lang_type_equal(c, LANG_EQ, left, value, &item->location);
}

/* The left side is shared by all equalities, unless it is a constant, which each may turn to its own kind. */
static struct lang_expr *check_in(struct lang_check *c, const struct lang_syntax_expr *syntax)
{
	size_t count, checked = 0;
	struct lang_expr **operands = new_operands(c, syntax->list, &count), *left = NULL;

	if (!lang_is_constant(c, syntax->left))
		left = lang_check_expr(c, syntax->left);
	if (left && left->kind == LANG_BOOL) {
		lang_error(c->report, &left->location, NULL,
			   "IN needs a number or a string on its left, but this is %s", lang_kind_name(left->kind));
		left = NULL;
	}
	for (const struct lang_syntax_expr *item = syntax->list; operands && item; item = item->next) {
		operands[checked] = check_item(c, syntax, left, item);
		checked += operands[checked] != NULL;
	}
	if (!operands || checked != count)
		return NULL;
	struct lang_expr *expr = balance_operands(c, LANG_LOR, operands, count);

	if (expr)
		expr->location = syntax->location;
	return expr;
}

static struct lang_expr *check_not(struct lang_check *c, const struct lang_syntax_expr *syntax)
{
	struct lang_expr *operand = lang_check_expr(c, syntax->left);

	if (!operand || !is_truth(c, operand))
		return NULL;
	struct lang_expr *expr = lang_new_expr(c, LANG_LNOT, LANG_BOOL, &syntax->location);

	if (expr)
		expr->left = operand;
	return expr;
}

static bool takes_constants(enum lang_op op)
{
	return (op >= LANG_EQ && op <= LANG_GE) || op == LANG_AND || op == LANG_OR || op == LANG_XOR;
}

/* value == "127.0.0.1", the other way round, or != */
static struct lang_expr *compare_address(struct lang_check *c, const struct lang_syntax_expr *syntax,
					 struct lang_expr *value, struct lang_expr *text)
{
	struct lang_expr *equal = lang_check_address(c, value, text, false);

	if (!equal || syntax->op == LANG_EQ)
		return equal;
	struct lang_expr *differs = lang_new_expr(c, LANG_LNOT, LANG_BOOL, &syntax->location);

	if (differs)
		differs->left = equal;
	return differs;
}

/* A name on one side is a constant of what the other side means. */
static struct lang_expr *check_binary(struct lang_check *c, const struct lang_syntax_expr *syntax)
{
	bool takes = takes_constants(syntax->op);
	bool is_left = takes && lang_is_constant(c, syntax->left),
	     is_right = takes && lang_is_constant(c, syntax->right);
	struct lang_expr *left = is_left && !is_right ? NULL : lang_check_expr(c, syntax->left);
	struct lang_expr *right = is_right && !is_left ? NULL : lang_check_expr(c, syntax->right);

	if (is_left && !is_right)
		left = constant_beside(c, syntax->left, right);
	if (is_right && !is_left)
		right = constant_beside(c, syntax->right, left);
	if (takes) {
		left = lang_check_quoted(c, left, right);
		right = lang_check_quoted(c, right, left);
	}
	if (!left || !right)
		return NULL;
	if (syntax->op == LANG_EQ || syntax->op == LANG_NE) {
		if (lang_is_address(left, right))
			return compare_address(c, syntax, left, right);
		if (lang_is_address(right, left))
			return compare_address(c, syntax, right, left);
	}
	if (takes) {
		lang_warn_of_hidden(c, syntax->left, right);
		lang_warn_of_hidden(c, syntax->right, left);
	}
	return lang_type_binary(c, syntax, left, right);
}

struct lang_expr *lang_check_expr(struct lang_check *c, const struct lang_syntax_expr *syntax)
{
	switch (syntax->syntax) {
	case LANG_SYNTAX_CONST:
		return check_const(c, syntax);
	case LANG_SYNTAX_REFERENCE:
		return c->scope ? lang_check_machine_name(c, syntax) : lang_check_reference(c, syntax);
	case LANG_SYNTAX_BINARY:
		return check_binary(c, syntax);
	case LANG_SYNTAX_MINUS:
		return lang_type_minus(c, lang_check_expr(c, syntax->left), &syntax->location);
	case LANG_SYNTAX_NOT:
		return check_not(c, syntax);
	case LANG_SYNTAX_IN:
		return check_in(c, syntax);
	case LANG_SYNTAX_CHAIN:
		return check_chain(c, syntax);
	}
	return NULL;
}

/* The syntax is shallow, but conversions and balanced lists add to it. */
static uint32_t depth_of(const struct lang_expr *expr)
{
	if (!expr)
		return 0;
	uint32_t left = depth_of(expr->left), right = depth_of(expr->right);

	return (left > right ? left : right) + 1;
}

struct lang_expr *lang_check_value(struct lang_check *c, const struct lang_syntax_expr *syntax)
{
	struct lang_expr *expr = lang_check_expr(c, syntax);

	if (expr && depth_of(expr) > LANG_DEPTH_MAX) {
		lang_error(c->report, &expr->location, NULL, "the expression is nested more than %d levels deep",
			   LANG_DEPTH_MAX);
		return NULL;
	}
	return expr;
}

struct lang_expr *lang_check_condition(struct lang_check *c, const struct lang_syntax_expr *syntax)
{
	struct lang_expr *expr = lang_check_value(c, syntax);

	return expr && is_truth(c, expr) ? expr : NULL;
}
