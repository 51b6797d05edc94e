// SPDX-License-Identifier: BSD-2-Clause
/* Decides what is said of a file that results cannot go to. */

#include "cmd/text/output.h"

#include "base/create.h"
#include "cli/print.h"

int cmd_output_open(const struct cli_arguments *arguments, const char *file)
{
	const struct create_how how = { .mode = (mode_t)arguments->options[OPTION_MODE].number };
	const char *why;
	int fd = create_file(file, &how, &why);

	if (fd < 0)
		cli_error("%s cannot be written: %s", file, why);
	return fd < 0 ? -1 : fd;
}
