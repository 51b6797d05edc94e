/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_HELP_H
#define CMD_HELP_H

#include "cmd/options/command.h"

#include <stdio.h>

/* What `asterism --help` and `asterism COMMAND --help` write. */
void help_program(FILE *stream);
void help_command(const struct command *command, FILE *stream);

/* Words fill lines, indented by so many blanks; a blank line in the text parts paragraphs. */
void help_text(const char *text, int indent, FILE *stream);

/* The meaning of each exit status, ended by a row without a text. */
struct help_status {
	const char *status;
	const char *text;
};
extern const struct help_status help_statuses[];

#endif
