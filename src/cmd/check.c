// SPDX-License-Identifier: BSD-2-Clause
/* `asterism check`: judges rule files without running them. */

#include "cmd/commands.h"
#include "cmd/rules.h"
#include "cmd/status.h"

#include <stdio.h>

static int run(const struct arguments *arguments)
{
	struct session_rules *rules;
	int status = cmd_read_rules(arguments, arguments->operands, arguments->operand_count, &rules);

	if (status)
		return status;
	if (!arguments_has(arguments, OPTION_QUIET)) {
		const struct program *program = session_rules_program(rules);

		for (uint32_t i = 0; i < program->rule_count; i++)
			printf("%s: %s %s is fine\n", program_text(program, program->rules[i].place),
			       program_sort(&program->rules[i]), program_text(program, program->rules[i].name));
	}
	session_rules_free(rules);
	return STATUS_FINE;
}

static const struct command_example examples[] = {
	{ "asterism check slow-syscall.rule", "Says whether the rules of the file are right." },
	{ NULL, NULL },
};

const struct command command_check = {
	.name = "check",
	.summary = "check rule files and explain what is wrong in them",
	.operands = "FILE...",
	.description =
		"Reads the rule files as one unit, checks names, types and patterns, and compiles them, without "
		"running "
		"anything. Errors are shown with their place, the line and what would be right; several per run.",
	.options = { OPTION_QUIET, OPTION_SET },
	.examples = examples,
	.operands_min = 1,
	.run = run,
};
