// SPDX-License-Identifier: BSD-2-Clause
/* Decides how help looks. All that it says comes from the tables of commands and options. */

#include "cmd/help.h"

#include "cmd/help-failures.h"

#include <string.h>

enum { OPTION_COLUMN = 26, TEXT_COLUMNS = 96 };

const struct help_status help_statuses[] = {
	{ "0", "all went well" },
	{ "1", "a rule matched, and --fail-on-match was given; of 'ctl next': nothing matched in time" },
	{ "2", "the command line, a rule or an input is wrong" },
	{ "3", "events were lost: matches may be missing or tainted" },
	{ "4", "a privilege or a feature of the kernel is missing" },
	{ "other", "under 'run -- CMD': the status of CMD (128 + signal if one ended it)" },
	{ NULL, NULL },
};

void help_text(const char *text, int indent, FILE *stream)
{
	size_t column = 0;

	while (*text) {
		size_t word = strcspn(text, " \n");

		if (column && (size_t)indent + column + 1 + word > TEXT_COLUMNS) {
			fputc('\n', stream);
			column = 0;
		}
		fprintf(stream, "%*s%.*s", column ? 1 : indent, "", (int)word, text);
		column += word + (column != 0);
		text += word;
		if (strncmp(text, "\n\n", 2) == 0) {
			fputs("\n\n", stream);
			column = 0;
		}
		text += strspn(text, " \n");
	}
	fputc('\n', stream);
}

static void put_statuses(FILE *stream)
{
	fputs("\nExit status:\n", stream);
	for (const struct help_status *row = help_statuses; row->status; row++)
		fprintf(stream, "  %-6s %s\n", row->status, row->text);
}

static void put_option(enum option_id id, FILE *stream)
{
	const struct option_row *row = &option_rows[id];
	char left[64];

	snprintf(left, sizeof left, "%c%c%s--%s%s%s", row->letter ? '-' : ' ', row->letter ? row->letter : ' ',
		 row->letter ? ", " : "  ", row->name, row->value ? " " : "", row->value ? row->value : "");
	fprintf(stream, "  %-*s %s\n", OPTION_COLUMN, left, row->help);
}

void help_program(FILE *stream)
{
	fputs("asterism finds constellations of events - multi-event patterns - in a running Linux system,\n"
	      "inside its kernel, and in recorded events.\n\n"
	      "Usage: asterism COMMAND [OPTION...] FILE...\n\nCommands:\n",
	      stream);
	for (const struct command *const *command = commands; *command; command++)
		fprintf(stream, "  %-10s %s\n", (*command)->name, (*command)->summary);
	fputs("\nOptions:\n", stream);
	put_option(OPTION_HELP, stream);
	put_option(OPTION_VERSION, stream);
	put_statuses(stream);
	fputs("\nWhere a rule FILE is taken, @NAME is a shipped rule: 'asterism rules' lists them.\n"
	      "'asterism COMMAND --help' tells more; the language is described in asterism-rules(5),\n"
	      "what rules can do at a match by 'asterism help actions', what becomes of a session where\n"
	      "something fails by 'asterism help failures'.\n",
	      stream);
}

void help_command(const struct command *command, FILE *stream)
{
	fprintf(stream, "Usage: asterism %s [OPTION...] %s\n\n", command->name, command->operands);
	help_text(command->description, 0, stream);
	fputs("\nOptions:\n", stream);
	for (size_t i = 0; i < COMMAND_OPTIONS_MAX && command->options[i] != OPTION_NONE; i++)
		put_option(command->options[i], stream);
	put_option(OPTION_COLOR, stream);
	put_option(OPTION_HELP, stream);
	if (command->launches) {
		fputs("\nWhen something fails:\n", stream);
		help_failures_text(stream);
	}
	if (!command->examples)
		return;
	fputs("\nExamples:\n", stream);
	for (const struct command_example *example = command->examples; example->line; example++)
		fprintf(stream, "  %s\n      %s\n", example->line, example->says);
}
