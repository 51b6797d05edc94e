/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CLI_HELP_H
#define CLI_HELP_H

/* What `--help` writes. */

#include "cli/command.h"

#include <stdio.h>

/* The help of a command, which may be the program itself. */
void cli_help(const struct cli_program *program, const struct cli_command *command, FILE *stream);

/* Parts of it. */
void cli_help_option(const struct cli_option *option, FILE *stream);
void cli_help_section(const struct cli_section *section, FILE *stream);

/* The entries of a section, without its heading. */
void cli_help_entries(const struct cli_section *section, FILE *stream);

/* Words fill lines, indented by so many blanks; a blank line in the text parts paragraphs. */
void cli_help_text(const char *text, int indent, FILE *stream);

#endif
