/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

/* What a command line means. */

#include "cli/command.h"

/* A parsed command line. Strings belong to argv. */
struct cli_arguments {
	const struct cli_program *program;
	const struct cli_command *command;
	struct cli_value options[CLI_OPTIONS_MAX];
	char **joined; /* lists given in several pieces, put together */
	size_t joined_count, joined_capacity;
	const char **operands;
	size_t operand_count;
	char **launched; /* the command after `--` with its arguments, NULL-terminated; NULL where none */
};

/*
 * Parses argv[0..], which starts after the command's name, into arguments, which hold no more than their program and
 * command before. Returns 0, or -EINVAL or -ENOMEM with a message in the diag. Free with cli_arguments_fini either way.
 */
int cli_parse(struct cli_arguments *arguments, int argc, char **argv, struct asterism_diag *diag);
void cli_arguments_fini(struct cli_arguments *arguments);

static inline bool cli_has(const struct cli_arguments *arguments, unsigned option)
{
	return arguments->options[option].text != NULL;
}

/* The command called name, or NULL. */
const struct cli_command *cli_find_command(const struct cli_program *program, const char *name);

/* Whether a command takes the option of this number. */
bool cli_takes(const struct cli_program *program, const struct cli_command *command, unsigned option);

#endif
