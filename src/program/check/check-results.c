// SPDX-License-Identifier: BSD-2-Clause
/* Checks that what a match returns, emits and calls can be taken from the slots. */

#include "program/check/check-priv.h"
#include "program/query.h"

#include "base/alloc.h"
#include "base/text.h"
#include "event/type.h"
#include "react/react.h"

#include <errno.h>

/* Its expression is right by itself. */
static int check_call_argument(struct check *check, const struct program_statement *statement, uint32_t index)
{
	_Static_assert((int)PROGRAM_I64 == REACT_I64 && (int)PROGRAM_STRING == REACT_STRING, "the same kinds");
	const struct program *program = check->program;
	const struct react_action *action = react_find(program_text(program, statement->function));
	const struct program_node *node = &program->nodes[program->args[index].node];
	const struct react_shape shape = {
		.kind = (enum react_kind)node->kind,
		.naming = (enum react_naming)program->args[index].field,
		.text = node->op == PROGRAM_OP_TEXT ? program_text(program, node->a) : NULL,
	};
	const char *expected = react_expects(action, index - statement->first_arg, &shape);
	struct check_item item = { PROGRAM_ARGS, index };

	if (program->args[index].field > REACT_BY_PID)
		return check_fail(check, item, "unknown way %u to name a target", program->args[index].field);
	if (expected)
		return check_fail(check, item, "%s expects %s here", action->name, expected);
	return 0;
}

static int check_call(struct check *check, uint32_t index)
{
	const struct program_statement *statement = &check->program->statements[index];
	const struct react_action *action;
	struct check_item item = { PROGRAM_STATEMENTS, index };
	uint32_t least, most;
	int result = check_name(check, item, statement->function);

	if (result)
		return result;
	action = react_find(program_text(check->program, statement->function));
	if (!action)
		return check_fail(check, item, "unknown action");
	react_arity(action, &least, &most);
	if (statement->arg_count < least || statement->arg_count > most)
		return check_fail(check, item, "%s does not take %u arguments", action->name, statement->arg_count);
	return 0;
}

/* What an action that holds the thread which completed the match asks of its rule. */
static int check_synchronous(struct check *check, const struct program_rule *rule, uint32_t index)
{
	const struct program *program = check->program;
	const struct program_statement *statement = &program->statements[index];
	const struct react_action *action =
		statement->type == PROGRAM_NONE ? react_find(program_text(program, statement->function)) : NULL;
	struct check_item item = { PROGRAM_STATEMENTS, index };

	if (!action || !action->synchronous)
		return 0;
	if (rule->mode != PROGRAM_SYNCHRONOUS)
		return check_fail(check, item, "%s needs a SYNCHRONOUS rule", action->name);
	for (uint32_t i = rule->first_statement; i < index; i++)
		if (program->statements[i].type == PROGRAM_NONE &&
		    react_find(program_text(program, program->statements[i].function)) == action)
			return check_fail(check, item, "%s is called twice in one rule", action->name);
	return 0;
}

static int check_argument(struct check *check, uint32_t rule, const struct program_statement *statement, uint32_t index)
{
	const struct program *program = check->program;
	const struct program_arg *arg = &program->args[index];
	struct check_item item = { PROGRAM_ARGS, index };
	int result = check_expression(check, item, rule, arg->node, READS_NOTHING);

	if (!result)
		result = check_meaning(check, item, arg->meaning, (enum program_kind)program->nodes[arg->node].kind);
	if (result)
		return result;
	if (statement->type == PROGRAM_NONE)
		return check_call_argument(check, statement, index);
	if (arg->field < EVENT_HEADER_FIELDS || arg->field >= program->field_count ||
	    check->claims[PROGRAM_FIELDS][arg->field] != statement->type)
		return check_fail(check, item, "field %u cannot be set by EMIT", arg->field);
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
		return check_fail(check, item, "type %u does not exist", statement->type);
	if (!emits)
		result = check_call(check, index);
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

/* What a machine tells belongs to one of its notices, what a rule tells to none. */
static int check_notice_number(struct check *check, struct check_item item, const struct program_rule *rule,
			       uint32_t number)
{
	if (rule->semantics == PROGRAM_MACHINE ? number < 1 || number > rule->notice_count : number != 0)
		return check_fail(check, item, "notice %u does not exist", number);
	return 0;
}

int check_there(struct check *check, struct check_item item, uint32_t rule, uint32_t node)
{
	int result = check_expression(check, item, rule, node, READS_NOTHING);

	if (!result && check->program->nodes[node].kind != PROGRAM_BOOL)
		result = check_fail(check, item, "its condition is not of kind BOOL");
	return result;
}

static int check_except(struct check *check, struct check_item item, const struct program_rule *rule)
{
	if (rule->except && rule->semantics == PROGRAM_MACHINE)
		return check_fail(check, item, "it is a machine, which must not have exceptions");
	return rule->except ? check_there(check, item, item.index, rule->except - 1) : 0;
}

/* Values that may be one are of one notice, and the first of them says so of itself. */
static int check_first(struct check *check, struct check_item item, const struct program_rule *rule)
{
	const struct program_return *value = &check->program->returns[item.index], *first;

	if (!value->first)
		return 0;
	first = &program_returns(check->program, rule)[value->first - 1];
	if (rule->semantics != PROGRAM_MACHINE || value->first > item.index - rule->first_return)
		return check_fail(check, item, "value %u does not precede it", value->first - 1);
	if (first->notice != value->notice || first->first)
		return check_fail(check, item, "value %u is not the first of its notice", value->first - 1);
	return 0;
}

int check_results(struct check *check, uint32_t rule_index)
{
	const struct program_rule *rule = &check->program->rules[rule_index];
	struct check_item whole = { PROGRAM_RULES, rule_index };
	int result = check_except(check, whole, rule);

	if (rule->statement_count > REACT_STATEMENTS_MAX)
		return check_fail(check, whole, "it has more than %d statements", REACT_STATEMENTS_MAX);
	for (uint32_t i = rule->first_return; i < rule->first_return + rule->return_count && !result; i++) {
		const struct program_return *value = &check->program->returns[i];
		struct check_item item = { PROGRAM_RETURNS, i };

		if (value->name == PROGRAM_NONE)
			return check_fail(check, item, "it has no name");
		result = check_notice_number(check, item, rule, value->notice);
		if (!result)
			result = check_label(check, item, value->name);
		if (!result)
			result = check_expression(check, item, rule_index, value->node, READS_NOTHING);
		if (!result)
			result = check_meaning(check, item, value->meaning,
					       (enum program_kind)check->program->nodes[value->node].kind);
		if (!result)
			result = check_first(check, item, rule);
		if (!result && value->there)
			result = check_there(check, item, rule_index, value->there - 1);
	}
	for (uint32_t i = rule->first_statement; i < rule->first_statement + rule->statement_count && !result; i++) {
		result = check_notice_number(check, (struct check_item){ PROGRAM_STATEMENTS, i }, rule,
					     check->program->statements[i].notice);
		if (!result)
			result = check_statement(check, rule_index, i);
		if (!result)
			result = check_synchronous(check, rule, i);
	}
	return result;
}
