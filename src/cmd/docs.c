// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes what is said of asterism elsewhere than on its command line; run at build time, not installed.
 *
 *   asterism-docs man            asterism(1)
 *   asterism-docs man COMMAND    asterism-COMMAND(1)
 *   asterism-docs completion     completion for bash
 *   asterism-docs options        all options, for tests
 *   asterism-docs actions        the descriptions of docs/reactions.md
 *   asterism-docs failures       the table of docs/failures.md
 */

#include "cli/man.h"
#include "cmd/help-actions.h"
#include "cmd/help-failures.h"
#include "cmd/help.h"
#include "cmd/options/options.h"
#include "cmd/table.h"

#include <string.h>

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const struct cli_command *command = argc > 2 ? command_find(argv[2]) : cmd_program.itself;

	if (strcmp(what, "man") == 0 && argc <= 3 && command)
		cli_man(&cmd_program, command, stdout);
	else if (argc == 2 && strcmp(what, "completion") == 0)
		cli_completion(&cmd_program, stdout);
	else if (argc == 2 && strcmp(what, "options") == 0)
		cli_list_options(&cmd_program, stdout);
	else if (argc == 2 && strcmp(what, "actions") == 0)
		help_actions_page(stdout);
	else if (argc == 2 && strcmp(what, "failures") == 0)
		help_failures_page(stdout);
	else
		return fputs("usage: asterism-docs man [COMMAND] | completion | options | actions | failures\n",
			     stderr),
		       2;
	return fflush(stdout) ? 1 : 0;
}
