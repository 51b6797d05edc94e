// SPDX-License-Identifier: BSD-2-Clause
/* Writes one page for the build, or lists options for tests. */

#include "cli/arguments.h"
#include "cli/man.h"

#include <string.h>

static void list_options_of(const struct cli_program *program, const struct cli_command *command, FILE *stream)
{
	for (unsigned i = 1; i < program->option_count; i++) {
		const struct cli_option *option = &program->options[i];

		if (!cli_takes(program, command, i))
			continue;
		fprintf(stream, "%s --%s ", command->name ? command->name : "-", option->name);
		if (option->letter)
			fprintf(stream, "-%c", option->letter);
		else
			putc('-', stream);
		fprintf(stream, " %s\n", option->value ? option->value : "-");
	}
}

void cli_list_options(const struct cli_program *program, FILE *stream)
{
	list_options_of(program, program->itself, stream);
	for (const struct cli_command *const *command = program->commands; command && *command; command++)
		list_options_of(program, *command, stream);
}

bool cli_write_page(const struct cli_program *program, int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const struct cli_command *command = argc > 2 ? cli_find_command(program, argv[2]) : program->itself;

	if (strcmp(what, "man") == 0 && argc <= 3 && command)
		cli_man(program, command, stdout);
	else if (argc == 2 && strcmp(what, "completion") == 0)
		cli_completion(program, stdout);
	else if (argc == 2 && strcmp(what, "options") == 0)
		cli_list_options(program, stdout);
	else
		return false;
	return true;
}
