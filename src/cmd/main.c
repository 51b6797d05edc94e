// SPDX-License-Identifier: BSD-2-Clause
/* Runs a command, and answers --help and --version. Called asterismd it is the daemon. */

#include "cli/help.h"
#include "cli/print.h"
#include "cmd/help-actions.h"
#include "cmd/help-failures.h"
#include "cmd/help.h"
#include "cmd/options/options.h"
#include "cmd/options/status.h"
#include "cmd/table.h"
#include "daemon/main.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int unknown_command(const char *name)
{
	const char *nearest = cmd_nearest(name);

	cli_error(name[0] == '-' ? "unknown option '%s'" : "unknown command '%s'", name);
	if (nearest)
		cli_hint("did you mean 'asterism %s'?", nearest);
	else
		cli_hint("'asterism --help' lists the commands");
	return STATUS_USAGE;
}

/* Whether --to is after --from, where both count from the same moment; says so where it is not. */
static bool check_moments(const struct cli_arguments *arguments)
{
	const struct cli_value *from = &arguments->options[OPTION_FROM], *to = &arguments->options[OPTION_TO];

	if (!from->text || !to->text || (*from->text == '@') != (*to->text == '@') || from->number < to->number)
		return true;
	cli_error("--to %s is not after --from %s", to->text, from->text);
	return false;
}

static int run_command(const struct cli_command *command, int argc, char **argv)
{
	struct cli_arguments arguments = { .program = &cmd_program, .command = command };
	struct asterism_diag *diag = asterism_diag_new();
	int result = cli_parse(&arguments, argc, argv, diag), status = STATUS_FINE;

	cli_color(arguments.options[OPTION_COLOR].text);
	cli_quiet(cli_has(&arguments, OPTION_QUIET));
	cli_print(diag);
	asterism_diag_free(diag);
	if (result)
		status = STATUS_USAGE;
	else if (cli_has(&arguments, OPTION_HELP))
		cli_help(&cmd_program, command, stdout);
	else
		status = check_moments(&arguments) ? command->run(&arguments) : STATUS_USAGE;
	cli_arguments_fini(&arguments);
	return status;
}

static int help_about(int argc, char **argv)
{
	const struct cli_command *command = argc > 2 ? cli_find_command(&cmd_program, argv[2]) : NULL;

	if (command)
		cli_help(&cmd_program, command, stdout);
	else if (argc > 2 && strcmp(argv[2], "actions") == 0)
		help_actions(stdout);
	else if (argc > 2 && strcmp(argv[2], "failures") == 0)
		cli_help_entries(&help_failures, stdout);
	else if (argc > 2)
		return unknown_command(argv[2]);
	else
		help_program(stdout);
	return STATUS_FINE;
}

/*
 * A standard descriptor that is closed would be the number of the next file opened, and get what is meant for a reader.
 * /dev/null takes its place, the wrong way round, so that using it fails; a launched command finds it closed again.
 */
static void hold_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	}
}

static bool is_daemon(const char *called)
{
	const char *slash = strrchr(called, '/');

	return strcmp(slash ? slash + 1 : called, "asterismd") == 0;
}

int main(int argc, char **argv)
{
	const struct cli_command *command;
	int status;

	setvbuf(stderr, NULL, _IOLBF, BUFSIZ); /* not a system call for each character */
	if (argc > 0 && is_daemon(argv[0]))
		return daemon_main(argc, argv);
	hold_standard_descriptors();
	cli_color(NULL);
	if (argc < 2) {
		help_program(stderr);
		return STATUS_USAGE;
	}
	command = cli_find_command(&cmd_program, argv[1]);
	if (command) {
		status = run_command(command, argc - 2, argv + 2);
	} else if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
		status = help_about(argc, argv);
	} else if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		puts("asterism " ASTERISM_VERSION);
		status = STATUS_FINE;
	} else {
		status = unknown_command(argv[1]);
	}
	/* What did not fit into the buffer has failed before, and leaves nothing to flush. */
	if ((fflush(stdout) || ferror(stdout)) && errno != EPIPE && status == STATUS_FINE) {
		cli_error("cannot write standard output: %m");
		status = STATUS_USAGE;
	}
	return status;
}
