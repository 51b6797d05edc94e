// SPDX-License-Identifier: BSD-2-Clause
/* Decides that what a match returns, emits and calls can be had from the slots, and that emitting comes to an end. */

#include "program/check-priv.h"

#include "base/alloc.h"
#include "base/text.h"
#include "event/type.h"

#include <errno.h>

static int check_argument(struct check *check, uint32_t rule, const struct program_statement *statement, uint32_t index)
{
	const struct program *program = check->program;
	const struct program_arg *arg = &program->args[index];
	struct check_item item = { PROGRAM_ARGS, index };
	int result = check_expression(check, item, rule, arg->node, READS_NOTHING);

	if (result)
		return result;
	if (statement->type == PROGRAM_NONE) {
		if (arg->field != PROGRAM_NONE)
			return check_fail(check, item, "an argument of a call has no field");
		return 0;
	}
	if (arg->field < EVENT_HEADER_FIELDS || arg->field >= program->field_count ||
	    check->claims[PROGRAM_FIELDS][arg->field] != statement->type)
		return check_fail(check, item, "field %u is none that the emitted event gets from arguments",
				  arg->field);
	if (program->nodes[arg->node].kind != check_kind_of(program->fields[arg->field].value))
		return check_fail(check, item, "its value is not of the field's kind");
	return 0;
}

static int check_statement(struct check *check, uint32_t rule, uint32_t index)
{
	const struct program *program = check->program;
	const struct program_statement *statement = &program->statements[index];
	struct check_item item = { PROGRAM_STATEMENTS, index };
	struct check_range range = { PROGRAM_ARGS, statement->first_arg, statement->arg_count };
	bool emits = statement->type != PROGRAM_NONE, given[EVENT_FIELDS_MAX] = { false };
	int result = 0;

	if (emits && statement->type >= program->type_count)
		return check_fail(check, item, "there is no type %u", statement->type);
	if (!emits)
		result = check_name(check, item, statement->function);
	if (!result)
		result = check_claim(check, item, range);
	for (uint32_t i = range.first; i < range.first + range.count && !result; i++) {
		result = check_argument(check, rule, statement, i);
		if (result || !emits)
			continue;
		uint32_t field = program->args[i].field - program->types[statement->type].first_field;
		if (given[field])
			result = check_fail(check, (struct check_item){ PROGRAM_ARGS, i }, "its field is given twice");
		given[field] = true;
	}
	return result;
}

int check_results(struct check *check, uint32_t rule_index)
{
	const struct program_rule *rule = &check->program->rules[rule_index];
	int result = 0;

	for (uint32_t i = rule->first_return; i < rule->first_return + rule->return_count && !result; i++) {
		const struct program_return *value = &check->program->returns[i];
		struct check_item item = { PROGRAM_RETURNS, i };

		if (value->name == PROGRAM_NONE)
			return check_fail(check, item, "it has no name");
		result = check_label(check, item, value->name);
		if (!result)
			result = check_expression(check, item, rule_index, value->node, READS_NOTHING);
	}
	for (uint32_t i = rule->first_statement; i < rule->first_statement + rule->statement_count && !result; i++)
		result = check_statement(check, rule_index, i);
	return result;
}
