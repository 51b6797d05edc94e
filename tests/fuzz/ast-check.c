// SPDX-License-Identifier: BSD-2-Clause
/* Expressions and statements: what an automaton is built from may rely on their kinds and references. */

#include "ast-check.h"

#include <stdlib.h>

void ast_promise(bool kept)
{
	if (!kept)
		abort();
}

static bool is_leaf(const struct lang_expr *expr)
{
	return expr->op <= LANG_KEY;
}

static bool has_one_operand(const struct lang_expr *expr)
{
	return expr->op == LANG_CONVERT || expr->op == LANG_LNOT;
}

static bool is_arithmetic(const struct lang_expr *expr)
{
	return expr->op >= LANG_ADD && expr->op <= LANG_SHR;
}

static bool is_integer(const struct lang_expr *expr)
{
	return expr->kind == LANG_I64 || expr->kind == LANG_U64;
}

static void check_kinds(const struct lang_expr *expr)
{
	const struct lang_expr *left = expr->left, *right = expr->right;
	bool shift = expr->op == LANG_SHL || expr->op == LANG_SHR;

	if (is_arithmetic(expr)) {
		ast_promise(left->kind == expr->kind && (shift ? is_integer(right) : right->kind == expr->kind));
		ast_promise(is_integer(expr) || (expr->kind == LANG_F64 && expr->op <= LANG_DIV));
	} else if (expr->op >= LANG_EQ && expr->op <= LANG_GE) {
		ast_promise((is_integer(left) && is_integer(right)) || left->kind == right->kind);
		ast_promise(expr->op <= LANG_NE || is_integer(left) || left->kind == LANG_F64);
	} else if (expr->op == LANG_LIKE) {
		ast_promise(left->kind == LANG_STRING && right->op == LANG_CONST && right->text);
	} else if (expr->op == LANG_LAND || expr->op == LANG_LOR) {
		ast_promise(left->kind == LANG_BOOL && right->kind == LANG_BOOL);
	}
	ast_promise(is_arithmetic(expr) || expr->op == LANG_CONVERT || expr->kind == LANG_BOOL);
}

static void check_of_rule(const struct lang_rule *rule, const struct lang_expr *expr)
{
	ast_promise(expr->op <= LANG_LAST && expr->element < rule->element_count);
	const struct lang_element *element = &rule->elements[expr->element];

	ast_promise(expr->op == LANG_LEN || expr->field);
	ast_promise(expr->op == LANG_FIELD || (element->is_array && !element->is_negated));
}

/* Whether field is one of the header, or of type. */
static bool is_at_hand(const struct event_type *type, const struct event_field *field)
{
	for (uint32_t i = 0; type && i < type->field_count; i++) {
		if (field == &type->fields[i])
			return true;
	}
	return event_field_is_header(field);
}

static void check_of_machine(const struct ast_owner *owner, const struct lang_expr *expr)
{
	const struct lang_machine *machine = owner->machine;

	if (expr->op == LANG_VARIABLE) {
		ast_promise(expr->element < machine->variable_count);
		ast_promise(expr->kind == machine->variables[expr->element].kind);
	} else if (expr->op == LANG_KEY) {
		ast_promise(expr->element < machine->key_count);
		ast_promise(expr->kind == machine->keys[expr->element].kind);
	} else {
		ast_promise(expr->op == LANG_FIELD && expr->element == UINT32_MAX && expr->field);
		ast_promise(is_at_hand(owner->type, expr->field));
	}
}

static void check(const struct ast_owner *owner, const struct lang_expr *expr, unsigned depth)
{
	ast_promise(expr && depth <= LANG_DEPTH_MAX && expr->kind >= LANG_I64 && expr->kind <= LANG_STRING);
	if (is_leaf(expr)) {
		ast_promise(!expr->left && !expr->right);
		if (expr->op == LANG_CONST)
			ast_promise(expr->kind != LANG_STRING || expr->text);
		else if (owner->rule)
			check_of_rule(owner->rule, expr);
		else
			check_of_machine(owner, expr);
		return;
	}
	check(owner, expr->left, depth + 1);
	ast_promise(!has_one_operand(expr) == !!expr->right);
	if (expr->right)
		check(owner, expr->right, depth + 1);
	if (!has_one_operand(expr))
		check_kinds(expr);
}

void ast_check_expr(const struct ast_owner *owner, const struct lang_expr *expr)
{
	check(owner, expr, 1);
}

void ast_check_statement(const struct ast_owner *owner, const struct lang_statement *statement)
{
	ast_promise(statement->is_emit ? statement->type != NULL : statement->function && statement->action);
	for (uint32_t i = 0; i < statement->arg_count; i++) {
		const struct lang_arg *arg = &statement->args[i];

		ast_promise(arg->kind >= LANG_ARG_VALUE && arg->kind <= LANG_ARG_PID);
		if (arg->kind == LANG_ARG_VALUE)
			ast_check_expr(owner, arg->expr);
		else
			ast_promise(arg->element == UINT32_MAX ||
				    (owner->rule && arg->element < owner->rule->element_count));
		ast_promise(!statement->is_emit || arg->field);
	}
}
