// SPDX-License-Identifier: BSD-2-Clause

#include "print-ast.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const kinds[] = {
	[LANG_I64] = "i64", [LANG_U64] = "u64", [LANG_F64] = "f64", [LANG_BOOL] = "bool", [LANG_STRING] = "string",
};

static const char *const operators[] = {
	[LANG_ADD] = "+", [LANG_SUB] = "-",     [LANG_MUL] = "*",    [LANG_DIV] = "/",  [LANG_MOD] = "%",
	[LANG_AND] = "&", [LANG_OR] = "|",      [LANG_XOR] = "^",    [LANG_SHL] = "<<", [LANG_SHR] = ">>",
	[LANG_EQ] = "==", [LANG_NE] = "!=",     [LANG_LT] = "<",     [LANG_LE] = "<=",  [LANG_GT] = ">",
	[LANG_GE] = ">=", [LANG_LIKE] = "like", [LANG_LAND] = "and", [LANG_LOR] = "or",
};

static const char *const functions[] = {
	[LANG_MIN] = "min", [LANG_MAX] = "max",     [LANG_AVG] = "avg",
	[LANG_SUM] = "sum", [LANG_FIRST] = "first", [LANG_LAST] = "last",
};

static void print_bounds(struct text_buffer *text, uint64_t min, uint64_t max)
{
	text_printf(text, "%" PRIu64 "..", min);
	if (max != LANG_UNBOUNDED)
		text_printf(text, "%" PRIu64, max);
}

static void print_element(struct text_buffer *text, const struct lang_element *element)
{
	text_append(text, element->type->name);
	if (element->is_array) {
		text_append(text, "[");
		print_bounds(text, element->length_min, element->length_max);
		text_append(text, "]");
	}
	if (element->name)
		text_printf(text, ":%s", element->name);
}

static void print_structure(struct text_buffer *text, const struct lang_rule *rule,
			    const struct lang_structure *structure)
{
	bool sequence = structure->kind == LANG_SEQUENCE;

	if (structure->kind == LANG_SPEC) {
		print_element(text, &rule->elements[structure->element]);
		return;
	}
	if (structure->kind == LANG_NEGATION) {
		text_append(text, "~");
		print_structure(text, rule, structure->children[0]);
		return;
	}
	text_append(text, sequence ? "[" : "(");
	for (uint32_t i = 0; i < structure->child_count; i++) {
		text_append(text, i == 0 ? "" : sequence ? " " : " | ");
		print_structure(text, rule, structure->children[i]);
	}
	text_append(text, sequence ? "]" : ")");
	if (structure->repeat_min != 1 || structure->repeat_max != 1) {
		text_append(text, "{");
		print_bounds(text, structure->repeat_min, structure->repeat_max);
		text_append(text, "}");
	}
}

void print_pattern(struct text_buffer *text, const struct lang_rule *rule)
{
	static const char *const semantics[] = {
		[LANG_STRICT_SEQUENCE] = "strictsequence",
		[LANG_STRICT_PARTITION] = "strictpartition",
		[LANG_SKIP_TILL_NEXT] = "skiptillnext",
		[LANG_SKIP_TILL_ANY] = "skiptillany",
	};

	text_printf(text, "%s ", semantics[rule->semantics]);
	print_structure(text, rule, rule->root);
}

static void print_const(struct text_buffer *text, const struct lang_expr *expr)
{
	if (expr->kind == LANG_I64)
		text_printf(text, "%" PRId64, (int64_t)expr->integer);
	else if (expr->kind == LANG_U64)
		text_printf(text, "%" PRIu64 ":u64", expr->integer);
	else if (expr->kind == LANG_F64)
		text_printf(text, "%g:f64", expr->real);
	else if (expr->kind == LANG_BOOL)
		text_append(text, expr->integer ? "true" : "false");
	else
		text_quote(text, expr->text);
}

static void print_reference(struct text_buffer *text, const struct lang_rule *rule, const struct lang_expr *expr)
{
	if (expr->op == LANG_VARIABLE || expr->op == LANG_KEY)
		text_printf(text, "%s%u", expr->op == LANG_KEY ? "key" : "var", expr->element);
	else if (expr->element != UINT32_MAX)
		text_append(text, rule->elements[expr->element].name);
	if (expr->op == LANG_VARIABLE || expr->op == LANG_KEY)
		;
	else if (expr->op == LANG_LEN)
		text_append(text, ".len");
	else if (expr->op == LANG_FIELD)
		text_printf(text, ".%s", expr->field->name);
	else
		text_printf(text, ".%s.%s", functions[expr->op], expr->field->name);
	if (expr->kind != LANG_I64)
		text_printf(text, ":%s", kinds[expr->kind]);
}

void print_expr(struct text_buffer *text, const struct lang_rule *rule, const struct lang_expr *expr)
{
	if (expr->op == LANG_CONST) {
		print_const(text, expr);
	} else if (expr->op <= LANG_KEY) {
		print_reference(text, rule, expr);
	} else if (expr->op == LANG_CONVERT || expr->op == LANG_LNOT) {
		text_printf(text, "%s(", expr->op == LANG_LNOT ? "not" : kinds[expr->kind]);
		print_expr(text, rule, expr->left);
		text_append(text, ")");
	} else {
		text_append(text, "(");
		print_expr(text, rule, expr->left);
		text_printf(text, " %s ", operators[expr->op]);
		print_expr(text, rule, expr->right);
		text_append(text, expr->kind == LANG_I64 || expr->kind == LANG_BOOL ? ")" : "):");
		if (expr->kind != LANG_I64 && expr->kind != LANG_BOOL)
			text_append(text, kinds[expr->kind]);
	}
}

static void print_condition(struct text_buffer *text, const struct lang_rule *rule,
			    const struct lang_condition *condition)
{
	static const char *const names[] = {
		[LANG_GUARD] = "guard",
		[LANG_CORRELATION] = "correlation",
		[LANG_RELATION] = "relation",
		[LANG_NEGATED] = "negated",
	};

	text_append(text, names[condition->kind]);
	if (condition->element != UINT32_MAX)
		text_printf(text, " %s", rule->elements[condition->element].name);
	text_append(text, " ");
	print_expr(text, rule, condition->expr);
	text_append(text, "\n");
}

static void print_arg(struct text_buffer *text, const struct lang_rule *rule, const struct lang_arg *arg)
{
	if (arg->field)
		text_printf(text, "%s=", arg->field->name);
	if (arg->kind == LANG_ARG_VALUE) {
		print_expr(text, rule, arg->expr);
		return;
	}
	if (arg->element != UINT32_MAX)
		text_append(text, rule->elements[arg->element].name);
	text_append(text, arg->kind == LANG_ARG_TID ? "#TID" : "#PID");
}

void print_statement(struct text_buffer *text, const struct lang_rule *rule, const struct lang_statement *statement)
{
	text_printf(text, "%s %s(", statement->is_emit ? "emit" : "call",
		    statement->is_emit ? statement->type->name : statement->function);
	for (uint32_t i = 0; i < statement->arg_count; i++) {
		text_append(text, i ? ", " : "");
		print_arg(text, rule, &statement->args[i]);
	}
	text_append(text, ")\n");
}

static void print_modifiers(struct text_buffer *text, const struct lang_rule *rule)
{
	if (rule->mode != LANG_ANY_MODE)
		text_append(text, rule->mode == LANG_SYNCHRONOUS ? "synchronous\n" : "asynchronous\n");
	if (rule->has_within)
		text_printf(text, "within %" PRIu64 "\n", rule->within_ns);
	if (rule->drop)
		text_append(text, "drop\n");
	if (rule->pool != LANG_POOL_DEFAULT)
		text_printf(text, "pool %" PRIu64 "\n", rule->pool);
	if (rule->loss != LANG_LOSS_TAINT)
		text_append(text, rule->loss == LANG_LOSS_KEEP ? "loss keep\n" : "loss discard\n");
	if (rule->return_sequence)
		text_append(text, "return sequence\n");
	text_append(text, "over");
	for (uint32_t i = 0; i < rule->over_count; i++)
		text_printf(text, " %s", rule->over[i]->name);
	text_append(text, rule->over_all ? " *\n" : "\n");
}

void print_rule(struct text_buffer *text, const struct lang_rule *rule)
{
	print_pattern(text, rule);
	text_append(text, "\n");
	for (uint32_t i = 0; i < rule->join_count; i++)
		text_printf(text, "join %s\n", rule->joins[i].name);
	for (uint32_t i = 0; i < rule->condition_count; i++)
		print_condition(text, rule, &rule->conditions[i]);
	for (uint32_t i = 0; i < rule->value_count; i++) {
		text_printf(text, "return %s = ", rule->values[i].name);
		print_expr(text, rule, rule->values[i].expr);
		text_append(text, "\n");
	}
	for (uint32_t i = 0; i < rule->statement_count; i++)
		print_statement(text, rule, &rule->statements[i]);
	print_modifiers(text, rule);
}
