// SPDX-License-Identifier: BSD-2-Clause
/* Decides what statements mean. */

#include "program/calls.h"

#include <signal.h>
#include <string.h>

const struct react_action *program_call(const struct program *program, const struct program_statement *statement)
{
	return statement->type == PROGRAM_NONE ? react_find(program_text(program, statement->function)) : NULL;
}

bool program_only_tallies(const struct program *program, const struct program_rule *rule)
{
	if (rule->semantics == PROGRAM_MACHINE) /* its warnings and trails are to be told */
		return false;
	for (uint32_t i = 0; i < rule->statement_count; i++) {
		const struct react_action *action =
			program_call(program, &program->statements[rule->first_statement + i]);

		if (!action || (action->primitive != REACT_COUNT && action->primitive != REACT_HISTOGRAM))
			return false;
	}
	return rule->statement_count && !rule->return_count && !(rule->flags & PROGRAM_RULE_SEQUENCE);
}

int program_call_values(const struct program_operand *operand, const struct program_statement *statement,
			struct react_value *values, uint32_t room)
{
	uint32_t count = statement->arg_count < room ? statement->arg_count : room;

	for (uint32_t i = 0; i < count; i++) {
		const struct program_arg *arg = &operand->program->args[statement->first_arg + i];
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
static const char *text_of(const struct program *program, const struct program_statement *statement, uint32_t index)
{
	if (index >= statement->arg_count)
		return NULL;
	return program_text(program, program->nodes[program->args[statement->first_arg + index].node].a);
}

void program_ask(const struct program *program, const struct program_statement *statement, struct program_ask *ask)
{
	const char *otherwise = text_of(program, statement, 1), *signal = text_of(program, statement, 2);

	ask->aborts = otherwise && strcmp(otherwise, "ABORT") == 0;
	ask->signal = signal ? react_signal_number(signal) : SIGKILL;
}
