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
#include "cmd/table.h"

#include <string.h>

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "actions") == 0)
		help_actions_page(stdout);
	else if (argc == 2 && strcmp(argv[1], "failures") == 0)
		help_failures_page(stdout);
	else if (!cli_write_page(&cmd_program, argc, argv))
		return fputs("usage: asterism-docs man [COMMAND] | completion | options | actions | failures\n",
			     stderr),
		       2;
	return fflush(stdout) ? 1 : 0;
}
