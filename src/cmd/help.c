// SPDX-License-Identifier: BSD-2-Clause
/* Decides how asterism introduces itself. */

#include "cmd/help.h"

#include "cli/help.h"
#include "cmd/table.h"

void help_program(FILE *stream)
{
	fputs("asterism finds constellations of events - multi-event patterns - in a running Linux system,\n"
	      "inside its kernel, and in recorded events.\n\n"
	      "Usage: asterism COMMAND [OPTION...] FILE...\n\nCommands:\n",
	      stream);
	for (const struct cli_command *const *command = cmd_program.commands; *command; command++)
		fprintf(stream, "  %-10s %s\n", (*command)->name, (*command)->summary);
	fputs("\nOptions:\n", stream);
	for (const unsigned *option = cmd_program.itself->options; *option; option++)
		cli_help_option(&cmd_program.options[*option], stream);
	cli_help_section(cmd_program.statuses, stream);
	fputs("\nWhere a rule FILE is taken, @NAME is a shipped rule: 'asterism rules' lists them.\n"
	      "'asterism COMMAND --help' has more; the language is described in asterism-rules(5),\n"
	      "what rules can do at a match by 'asterism help actions', what becomes of a session where\n"
	      "something fails by 'asterism help failures'.\n",
	      stream);
}
