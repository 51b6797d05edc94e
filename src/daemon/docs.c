// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes what is said of asterismd elsewhere than on its command line; run at build time, not installed.
 *
 *   asterismd-docs man           asterismd(8)
 *   asterismd-docs completion    completion for bash
 *   asterismd-docs options       all options, for tests
 */

#include "cli/man.h"
#include "daemon/options.h"

int main(int argc, char **argv)
{
	if (!cli_write_page(&daemon_program, argc, argv))
		return fputs("usage: asterismd-docs man | completion | options\n", stderr), 2;
	return fflush(stdout) ? 1 : 0;
}
