// SPDX-License-Identifier: BSD-2-Clause
/* Finds what statements mean. */

#include "program/calls.h"
#include "program/emissions.h"

#include <signal.h>
#include <string.h>

const struct react_action *program_call(const struct program *program, const struct program_statement *statement)
{
	return program_is_emission(statement) ? NULL : react_find(program_text(program, statement->function));
}

/* Whether the statements of a notice, or of a rule (0), are calls that count, at least one, and it returns nothing. */
static bool counts_matches(const struct program *program, const struct program_rule *rule, uint32_t notice)
{
	bool any = false;

	for (uint32_t i = 0; i < rule->return_count; i++)
		if (program_returns(program, rule)[i].notice == notice)
			return false;
	for (uint32_t i = 0; i < rule->statement_count; i++) {
		const struct program_statement *statement = &program_statements(program, rule)[i];
		const struct react_action *action = program_call(program, statement);

		if (statement->notice != notice)
			continue;
		if (!action || (action->primitive != REACT_COUNT && action->primitive != REACT_HISTOGRAM))
			return false;
		any = true;
	}
	return any;
}

bool program_notice_only_tallies(const struct program *program, const struct program_rule *rule, uint32_t notice)
{
	return !program_notice(program, rule, notice)->piece_count && counts_matches(program, rule, notice);
}

bool program_only_tallies(const struct program *program, const struct program_rule *rule)
{
	bool any = false;

	if (rule->semantics != PROGRAM_MACHINE)
		return rule->flags & PROGRAM_RULE_SILENT ||
		       (!(rule->flags & PROGRAM_RULE_SEQUENCE) && counts_matches(program, rule, 0));
	for (uint32_t i = 1; i <= rule->notice_count; i++) {
		if (program_notice(program, rule, i)->flags & PROGRAM_NOTICE_SILENT)
			continue;
		if (!program_notice_only_tallies(program, rule, i))
			return false;
		any = true;
	}
	return any;
}

bool program_is_reported(const struct program *program, const struct program_rule *rule)
{
	if (program_only_tallies(program, rule))
		return false;
	return !rule->aggregation || rule->return_count || rule->statement_count || rule->flags & PROGRAM_RULE_SEQUENCE;
}

int program_call_values(const struct program_operand *operand, const struct program_statement *statement,
			struct react_value *values, uint32_t room)
{
	uint32_t count = statement->arg_count < room ? statement->arg_count : room;

	for (uint32_t i = 0; i < count; i++) {
		const struct program_arg *arg = &program_args(operand->program, statement)[i];
		struct program_value value;
		int result = program_eval(operand, arg->node, &value);

		if (result)
			return result;
		values[i] = (struct react_value){ .kind = (enum react_kind)value.kind,
						  .naming = (enum react_naming)arg->field };
		switch (value.kind) {
		case PROGRAM_F64:
			values[i].f64 = value.f64;
			break;
		case PROGRAM_BOOL:
			values[i].boolean = value.boolean;
			break;
		case PROGRAM_STRING:
			values[i].text = value.text;
			break;
		default:
			values[i].u64 = value.u64;
		}
	}
	return (int)count;
}

/* A constant text among the arguments; NULL: there is none. */
static const char *argument_text(const struct program *program, const struct program_statement *statement,
				 uint32_t index)
{
	if (index >= statement->arg_count)
		return NULL;
	return program_text(program, program->nodes[program_args(program, statement)[index].node].a);
}

void program_ask(const struct program *program, const struct program_statement *statement, struct program_ask *ask)
{
	const char *otherwise = argument_text(program, statement, 1), *signal = argument_text(program, statement, 2);

	ask->aborts = otherwise && strcmp(otherwise, "ABORT") == 0;
	ask->signal = signal ? react_signal_number(signal) : SIGKILL;
}
