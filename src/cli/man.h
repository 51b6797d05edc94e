/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CLI_MAN_H
#define CLI_MAN_H

/* Manual pages and completion for bash, made from descriptors when the project is built. */

#include "cli/command.h"

#include <stdio.h>

/*
 * Does what a program that writes these pages is asked for: `man`, `man COMMAND`, `completion` or `options`. Returns
 * whether it was one of them.
 */
bool cli_write_page(const struct cli_program *program, int argc, char **argv);

/* The manual page of a command, which may be the program itself. */
void cli_man(const struct cli_program *program, const struct cli_command *command, FILE *stream);

/* Completion for bash. */
void cli_completion(const struct cli_program *program, FILE *stream);

/* Every option as a line: command (- for the program itself), --name, -letter or -, value or -. For tests. */
void cli_list_options(const struct cli_program *program, FILE *stream);

#endif
