/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_HELP_H
#define CMD_HELP_H

#include "cmd/command.h"

#include <stdio.h>

/* What `asterism --help` and `asterism COMMAND --help` write. */
void help_program(FILE *stream);
void help_command(const struct command *command, FILE *stream);

/* The meaning of each exit status, ended by a row without a text. */
struct help_status {
	const char *status;
	const char *text;
};
extern const struct help_status help_statuses[];

#endif
