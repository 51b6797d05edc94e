// SPDX-License-Identifier: BSD-2-Clause
/* Prints the help of asterism. */

#include "cmd/help.h"

#include "cli/help.h"
#include "cmd/table.h"

void help_program(FILE *stream)
{
	fputs("asterism finds patterns of several events - X, then Y, without Z in between, within T - in a\nrunning "
	      "Linux system, inside its kernel, and in recorded events.\n\nUsage: asterism COMMAND [OPTION...] "
	      "FILE...\n\nCommands:\n",
	      stream);
	for (const struct cli_command *const *command = cmd_program.commands; *command; command++)
		fprintf(stream, "  %-10s %s\n", (*command)->name, (*command)->summary);
	fputs("\nOptions:\n", stream);
	for (const unsigned *option = cmd_program.itself->options; *option; option++)
		cli_help_option(&cmd_program.options[*option], stream);
	cli_help_section(cmd_program.statuses, stream);
	fputs("\nWherever a command takes a rule FILE, @NAME means a shipped rule: 'asterism rules' lists "
	      "them.\n'asterism COMMAND --help' describes a command, asterism-rules(5) the language, 'asterism "
	      "help\nactions' what rules can do at a match, and 'asterism help failures' what happens to a "
	      "session\nwhen something fails.\n",
	      stream);
}
