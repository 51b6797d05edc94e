// SPDX-License-Identifier: BSD-2-Clause
/* Decides what is said of a file that results cannot go to. */

#include "cmd/text/output.h"

#include "base/create.h"
#include "cli/print.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cmd_is_same_file(const char *one, const char *other)
{
	struct stat a, b;

	return !stat(one, &a) && !stat(other, &b) && !S_ISCHR(a.st_mode) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* The file is there, and is what the command reads, or lies in a folder that it reads. */
static bool is_input(const struct cli_arguments *arguments, const char *file)
{
	const char *slash = strrchr(file, '/');
	char folder[PATH_MAX];
	bool found = false;

	if (access(file, F_OK))
		return false;
	snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - file) + 1 : 1, slash ? file : ".");
	for (size_t i = 0; i < arguments->operand_count && !found; i++) {
		const char *operand = arguments->operands[i];

		found = cmd_is_same_file(file, operand) || cmd_is_same_file(folder, operand);
	}
	return found;
}

int cmd_output_open(const struct cli_arguments *arguments, const char *file)
{
	const struct create_how how = { .mode = (mode_t)arguments->options[OPTION_MODE].number };
	const char *why;
	int fd;

	if (is_input(arguments, file)) {
		cli_error("%s is what this command reads, or lies there: it would be lost", file);
		cli_hint("choose another file to write to");
		return -1;
	}
	fd = create_file(file, &how, &why);
	if (fd < 0)
		cli_error("%s cannot be written: %s", file, why);
	return fd < 0 ? -1 : fd;
}
