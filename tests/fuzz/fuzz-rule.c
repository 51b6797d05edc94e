// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rule texts of any sort. What is accepted must keep the promises of lang/ast.h: the walk below goes where the
 * automaton would go, and stops at anything that its author may rely on not to be.
 */

#include "base/alloc.h"
#include "lang/parse.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char declarations[] = "EVENT A { x: i64, s: string, r: f64, t: bool, u: u64, z: u8, w: time, p: addr }\n"
				   "EVENT B { x: i64, s: string } EVENT C { c: i32 } EVENT D {}\n"
				   "EVENT syscall { SyscallNr: u32 } EVENT lock { ObjAddress: addr, Flags: u16 }\n";

static void promise(bool kept)
{
	if (!kept)
		abort();
}

static bool is_leaf(const struct lang_expr *expr)
{
	return expr->op <= LANG_LAST;
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
		promise(left->kind == expr->kind && (shift ? is_integer(right) : right->kind == expr->kind));
		promise(is_integer(expr) || (expr->kind == LANG_F64 && expr->op <= LANG_DIV));
	} else if (expr->op >= LANG_EQ && expr->op <= LANG_GE) {
		promise((is_integer(left) && is_integer(right)) || left->kind == right->kind);
		promise(expr->op <= LANG_NE || is_integer(left) || left->kind == LANG_F64);
	} else if (expr->op == LANG_LIKE) {
		promise(left->kind == LANG_STRING && right->op == LANG_CONST && right->text);
	} else if (expr->op == LANG_LAND || expr->op == LANG_LOR) {
		promise(left->kind == LANG_BOOL && right->kind == LANG_BOOL);
	}
	promise(is_arithmetic(expr) || expr->op == LANG_CONVERT || expr->kind == LANG_BOOL);
}

static void check_reference(const struct lang_rule *rule, const struct lang_expr *expr)
{
	promise(expr->element < rule->element_count);
	const struct lang_element *element = &rule->elements[expr->element];

	promise(expr->op == LANG_LEN || expr->field);
	promise(expr->op == LANG_FIELD || (element->is_array && !element->is_negated));
}

static void check_expr(const struct lang_rule *rule, const struct lang_expr *expr, unsigned depth)
{
	promise(expr && depth <= LANG_DEPTH_MAX);
	if (is_leaf(expr)) {
		promise(!expr->left && !expr->right);
		if (expr->op != LANG_CONST)
			check_reference(rule, expr);
		promise(expr->op != LANG_CONST || expr->kind != LANG_STRING || expr->text);
		return;
	}
	check_expr(rule, expr->left, depth + 1);
	promise(!has_one_operand(expr) == !!expr->right);
	if (expr->right)
		check_expr(rule, expr->right, depth + 1);
	if (!has_one_operand(expr))
		check_kinds(expr);
}

static void check_condition(const struct lang_rule *rule, const struct lang_condition *condition)
{
	promise(condition->kind >= LANG_GUARD && condition->kind <= LANG_NEGATED);
	promise(condition->expr->kind == LANG_BOOL);
	promise(condition->element < rule->element_count || condition->kind == LANG_GUARD);
	if (condition->element < rule->element_count)
		promise(rule->elements[condition->element].is_negated == (condition->kind == LANG_NEGATED));
	promise(condition->kind != LANG_CORRELATION || condition->expr->op == LANG_EQ);
	check_expr(rule, condition->expr, 1);
}

static void check_structure(const struct lang_rule *rule, const struct lang_structure *structure, unsigned depth)
{
	promise(depth <= LANG_DEPTH_MAX && structure->repeat_max >= structure->repeat_min && structure->repeat_max > 0);
	if (structure->kind == LANG_SPEC) {
		const struct lang_element *element = &rule->elements[structure->element];

		promise(structure->element < rule->element_count && element->structure == structure);
		promise(element->type && element->length_min >= 1 && element->length_min <= element->length_max);
	}
	promise(structure->kind == LANG_SPEC || structure->child_count > 0);
	for (uint32_t i = 0; i < structure->child_count; i++) {
		promise(structure->children[i]->parent == structure);
		check_structure(rule, structure->children[i], depth + 1);
	}
}

static void check_actions(const struct lang_rule *rule)
{
	for (uint32_t i = 0; i < rule->value_count; i++) {
		promise(rule->values[i].name != NULL);
		check_expr(rule, rule->values[i].expr, 1);
	}
	for (uint32_t i = 0; i < rule->statement_count; i++) {
		const struct lang_statement *statement = &rule->statements[i];

		promise(statement->is_emit ? statement->type != NULL : statement->function != NULL);
		for (uint32_t k = 0; k < statement->arg_count; k++) {
			if (statement->args[k].kind == LANG_ARG_VALUE)
				check_expr(rule, statement->args[k].expr, 1);
			promise(!statement->is_emit || statement->args[k].field);
		}
	}
}

static void check_rule(const struct lang_rule *rule)
{
	promise(rule->name && rule->root && rule->pool >= 1 && rule->pool <= LANG_POOL_MAX);
	promise(!rule->has_within || (rule->within_ns >= 1 && rule->within_ns <= INT64_MAX));
	check_structure(rule, rule->root, 1);
	for (uint32_t i = 0; i < rule->condition_count; i++)
		check_condition(rule, &rule->conditions[i]);
	for (uint32_t i = 0; i < rule->join_count; i++) {
		for (uint32_t k = 0; k < rule->element_count; k++)
			promise(rule->joins[i].fields[k] != NULL);
	}
	promise(rule->over_all ? rule->over_count == 0 : rule->over_count > 0);
	check_actions(rule);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct lang_input inputs[] = {
		{ .file = "declarations", .text = declarations, .length = strlen(declarations) },
		{ .file = "input", .text = (const char *)data, .length = size },
	};
	struct event_catalog *catalog = event_catalog_new();
	struct asterism_diag *diag = asterism_diag_new();
	struct lang_program *program = NULL;
	int result = lang_read(inputs, 2, catalog, diag, &program);

	promise((result == 0) == (asterism_diag_count(diag, ASTERISM_ERROR) == 0));
	promise((result == 0) == (program != NULL));
	for (size_t i = 0; asterism_diag_get(diag, i); i++)
		promise(asterism_diag_get(diag, i)->text[0] != 0);
	if (program) {
		const struct lang_unit *unit = lang_program_unit(program);

		for (uint32_t i = 0; i < unit->rule_count; i++)
			check_rule(&unit->rules[i]);
	}
	lang_program_free(program);
	asterism_diag_free(diag);
	event_catalog_free(catalog);
	return 0;
}
