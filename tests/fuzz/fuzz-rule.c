// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rule texts of any sort. What is accepted must keep the promises of lang/syntax/ast.h: the walk below goes where the
 * automaton would go, and stops at anything that its author may rely on not to be. Then it is compiled and executed.
 */

#include "ast-check.h"
#include "image-use.h"

#include "automaton/compile.h"
#include "base/alloc.h"
#include "lang/parse.h"
#include "program/section.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char declarations[] = "EVENT A { x: i64, s: string, r: f64, t: bool, u: u64, z: u8, w: time, p: addr }\n"
				   "EVENT B { x: i64, s: string } EVENT C { c: i32 } EVENT D {}\n"
				   "EVENT syscall { SyscallNr: u32 } EVENT lock { ObjAddress: addr, Flags: u16 }\n";

static void check_condition(const struct lang_rule *rule, const struct lang_condition *condition)
{
	ast_promise(condition->kind >= LANG_GUARD && condition->kind <= LANG_NEGATED);
	ast_promise(condition->expr->kind == LANG_BOOL);
	ast_promise(condition->element < rule->element_count || condition->kind == LANG_GUARD);
	if (condition->element < rule->element_count)
		ast_promise(rule->elements[condition->element].is_negated == (condition->kind == LANG_NEGATED));
	ast_promise(condition->kind != LANG_CORRELATION || condition->expr->op == LANG_EQ);
	ast_check_expr(&(struct ast_owner){ .rule = rule }, condition->expr);
}

static void check_structure(const struct lang_rule *rule, const struct lang_structure *structure, unsigned depth)
{
	ast_promise(depth <= LANG_DEPTH_MAX && structure->repeat_max >= structure->repeat_min &&
		    structure->repeat_max > 0);
	if (structure->kind == LANG_SPEC) {
		const struct lang_element *element = &rule->elements[structure->element];

		ast_promise(structure->element < rule->element_count && element->structure == structure);
		ast_promise(element->type && element->length_min >= 1 && element->length_min <= element->length_max);
	}
	ast_promise(structure->kind == LANG_SPEC || structure->child_count > 0);
	for (uint32_t i = 0; i < structure->child_count; i++) {
		ast_promise(structure->children[i]->parent == structure);
		check_structure(rule, structure->children[i], depth + 1);
	}
}

static void check_actions(const struct lang_rule *rule)
{
	const struct ast_owner owner = { .rule = rule };

	for (uint32_t i = 0; i < rule->value_count; i++) {
		ast_promise(rule->values[i].name != NULL);
		ast_check_expr(&owner, rule->values[i].expr);
	}
	for (uint32_t i = 0; i < rule->statement_count; i++)
		ast_check_statement(&owner, &rule->statements[i]);
}

static void check_rule(const struct lang_rule *rule)
{
	ast_promise(rule->name && rule->root && rule->pool >= 1 && rule->pool <= LANG_POOL_MAX);
	ast_promise(!rule->has_within || (rule->within_ns >= 1 && rule->within_ns <= INT64_MAX));
	check_structure(rule, rule->root, 1);
	for (uint32_t i = 0; i < rule->condition_count; i++)
		check_condition(rule, &rule->conditions[i]);
	for (uint32_t i = 0; i < rule->join_count; i++) {
		for (uint32_t k = 0; k < rule->element_count; k++)
			ast_promise(rule->joins[i].fields[k] != NULL);
	}
	ast_promise(rule->over_all ? rule->over_count == 0 : rule->over_count > 0);
	check_actions(rule);
}

/* What the automaton makes of it is an image that loads and can be executed, whatever the events. */
static void run(const struct lang_unit *unit, const struct event_catalog *catalog, struct asterism_diag *diag)
{
	struct program *program = NULL;
	void *bytes = NULL;
	size_t length;
	int result = automaton_compile(unit, catalog, diag, &bytes, &length);

	ast_promise((result == 0) == (asterism_diag_count(diag, ASTERISM_ERROR) == 0));
	if (result == 0) {
		ast_promise(program_load(bytes, length, "compiled", diag, &program) == 0);
		image_use(program, program_checksum(bytes, length));
	}
	program_free(program);
	alloc_free(bytes);
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

	ast_promise((result == 0) == (asterism_diag_count(diag, ASTERISM_ERROR) == 0));
	ast_promise((result == 0) == (program != NULL));
	for (size_t i = 0; asterism_diag_get(diag, i); i++)
		ast_promise(asterism_diag_get(diag, i)->text[0] != 0);
	if (program) {
		const struct lang_unit *unit = lang_program_unit(program);

		for (uint32_t i = 0; i < unit->rule_count; i++)
			check_rule(&unit->rules[i]);
		for (uint32_t i = 0; i < unit->machine_count; i++)
			ast_check_machine(&unit->machines[i]);
		run(unit, catalog, diag);
	}
	lang_program_free(program);
	asterism_diag_free(diag);
	event_catalog_free(catalog);
	return 0;
}
