// SPDX-License-Identifier: BSD-2-Clause
/* Opens and writes the files that results go to, and reports those that cannot be written. */

#include "cmd/text/output.h"

#include "base/create.h"
#include "cli/print.h"
#include "cmd/options/status.h"

#include <errno.h>
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
		cli_error("refusing to overwrite %s: this command reads it, or a file inside it", file);
		cli_hint("choose another file to write to");
		return -1;
	}
	fd = create_file(file, &how, &why);
	if (fd < 0)
		cli_error("cannot write %s: %s", file, why);
	return fd < 0 ? -1 : fd;
}

int cmd_output_write(const struct cli_arguments *arguments, const char *file, const void *bytes, size_t length)
{
	bool is_stdout = strcmp(file, "-") == 0;
	int fd = is_stdout ? STDOUT_FILENO : cmd_output_open(arguments, file);
	struct stat written;
	size_t done = 0;

	if (fd < 0)
		return STATUS_USAGE;
	while (done < length) {
		ssize_t wrote = write(fd, (const char *)bytes + done, length - done);

		if (wrote < 0 && errno != EINTR)
			break;
		done += wrote > 0 ? (size_t)wrote : 0;
	}
	if ((is_stdout || close(fd) == 0) && done == length)
		return STATUS_FINE;
	cli_error("cannot write %s: %m", file);
	if (!is_stdout && lstat(file, &written) == 0 && S_ISREG(written.st_mode))
		unlink(file);
	return STATUS_USAGE;
}
