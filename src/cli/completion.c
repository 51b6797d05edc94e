// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes the completion of words in bash: names of commands, options, values of options, operands. A program without
 * commands is completed as one command is.
 */

#include "cli/arguments.h"
#include "cli/man.h"

#include <string.h>

/* Whether another option has the same name or letter: then it depends on the command which one is meant. */
static bool is_shared(const struct cli_program *program, unsigned option)
{
	const struct cli_option *one = &program->options[option];

	for (unsigned i = 1; i < program->option_count; i++) {
		const struct cli_option *other = &program->options[i];

		if (i != option &&
		    (strcmp(other->name, one->name) == 0 || (one->letter && other->letter == one->letter)))
			return true;
	}
	return false;
}

static void put_pattern(const struct cli_option *option, const char *before, const char *command, FILE *stream)
{
	fprintf(stream, "%s%s:--%s", before, command, option->name);
	if (option->letter)
		fprintf(stream, "|%s:-%c", command, option->letter);
}

/* COMMAND:OPTION of all commands that take the option, as a pattern of case. */
static void put_patterns(const struct cli_program *program, unsigned option, FILE *stream)
{
	const struct cli_option *row = &program->options[option];
	const char *before = "\t";

	if (!is_shared(program, option)) {
		put_pattern(row, before, "*", stream);
		return;
	}
	for (const struct cli_command *const *command = program->commands; *command; command++) {
		if (cli_takes(program, *command, option)) {
			put_pattern(row, before, (*command)->name, stream);
			before = "|";
		}
	}
}

static void put_words(const char *const *words, FILE *stream)
{
	fputs("COMPREPLY=($(compgen -W '", stream);
	for (; *words; words++)
		fprintf(stream, "%s%s", *words, words[1] ? " " : "");
	fputs("' -- \"$word\"))", stream);
}

/* What may follow an option that takes a value. */
static void put_values(const struct cli_program *program, FILE *stream)
{
	fputs("\tcase $command:$prev in\n", stream);
	for (unsigned i = 1; i < program->option_count; i++) {
		const struct cli_option *option = &program->options[i];

		if (!cli_takes_value(option))
			continue;
		put_patterns(program, i, stream);
		fputs(") ", stream);
		if (option->kind == CLI_CHOICE)
			put_words(option->choices, stream);
		else if (option->complete)
			fputs(option->complete, stream);
		fputs(option->kind == CLI_CHOICE || option->complete ? "; return ;;\n" : "return ;;\n", stream);
	}
	fputs("\tesac\n", stream);
}

static void put_options_of(const struct cli_program *program, const struct cli_command *command, FILE *stream)
{
	const char *before = "";

	fprintf(stream, "\t%s) options='", command->name ? command->name : "*");
	for (unsigned i = 0; i < CLI_COMMAND_OPTIONS_MAX && command->options[i]; i++, before = " ")
		fprintf(stream, "%s--%s", before, program->options[command->options[i]].name);
	for (unsigned i = 0; command->name && i < CLI_ALWAYS_MAX && program->always[i]; i++, before = " ")
		fprintf(stream, "%s--%s", before, program->options[program->always[i]].name);
	fputs("' ;;\n", stream);
}

static void put_completion_options(const struct cli_program *program, FILE *stream)
{
	fputs("\tcase $command in\n", stream);
	if (!program->commands)
		put_options_of(program, program->itself, stream);
	for (const struct cli_command *const *command = program->commands; command && *command; command++)
		put_options_of(program, *command, stream);
	fputs("\tesac\n", stream);
}

/* The name of a command, and those of options that are given in its place. */
static void put_commands(const struct cli_program *program, FILE *stream)
{
	fputs("\tcommand=${COMP_WORDS[1]}\n\tif [ \"$COMP_CWORD\" = 1 ]; then\n\t\tCOMPREPLY=($(compgen -W '", stream);
	for (const struct cli_command *const *command = program->commands; *command; command++)
		fprintf(stream, "%s ", (*command)->name);
	for (unsigned i = 0; program->itself->options[i]; i++)
		fprintf(stream, "%s--%s", i ? " " : "", program->options[program->itself->options[i]].name);
	fputs("' -- \"$word\"))\n\t\treturn\n\tfi\n", stream);
}

/* What follows `--` is another command, with its own operands. */
static void put_launched(FILE *stream)
{
	fputs("\tfor ((i = 2; i < COMP_CWORD; i++)); do\n\t\tif [ \"${COMP_WORDS[i]}\" = -- ]; then\n"
	      "\t\t\tCOMPREPLY=($(compgen -c -f -- \"$word\"))\n\t\t\treturn\n\t\tfi\n\tdone\n",
	      stream);
}

/* The first operand of a command that has words for it; once one of them has been given, the others are operands. */
static void put_first_operands(const struct cli_program *program, FILE *stream)
{
	fputs("\tlocal first=\n\tcase $command in\n", stream);
	for (const struct cli_command *const *command = program->commands; *command; command++) {
		const char *before = "";

		if (!(*command)->words)
			continue;
		fprintf(stream, "\t%s) first='", (*command)->name);
		for (const struct cli_entry *entry = (*command)->words->entries; entry->term; entry++, before = " ")
			fprintf(stream, "%s%.*s", before, (int)strcspn(entry->term, " "), entry->term);
		fputs("' ;;\n", stream);
	}
	fputs("\tesac\n\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	      "\t\t[[ \" $first \" == *\" ${COMP_WORDS[i]} \"* ]] && first=\n\tdone\n"
	      "\tif [[ -n $first && $word != -* ]]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$first\" -- \"$word\"))\n\t\treturn\n\tfi\n",
	      stream);
}

void cli_completion(const struct cli_program *program, FILE *stream)
{
	fprintf(stream,
		"# SPDX-License-Identifier: BSD-2-Clause\n# bash completion for %s, written from its table of "
		"options\n",
		program->name);
	fputs(program->shell ? program->shell : "", stream);
	fprintf(stream,
		"_%s()\n{\n\tlocal word=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= options= "
		"i\n"
		"\tCOMPREPLY=()\n",
		program->name);
	if (program->commands) {
		put_commands(program, stream);
		put_launched(stream);
	}
	put_values(program, stream);
	put_completion_options(program, stream);
	fputs("\tif [[ $word == -* ]]; then\n\t\tCOMPREPLY=($(compgen -W \"$options\" -- "
	      "\"$word\"))\n\t\treturn\n\tfi\n",
	      stream);
	if (program->commands)
		put_first_operands(program, stream);
	if (program->commands || *program->itself->operands)
		fprintf(stream, "\t%s\n", program->complete ? program->complete : CLI_COMPLETE_FILE);
	fprintf(stream, "}\ncomplete -o filenames -F _%s %s\n", program->name, program->name);
}
