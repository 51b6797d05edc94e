// SPDX-License-Identifier: BSD-2-Clause
/* Writes help. All that it says comes from the descriptors of programs, commands and options. */

#include "cli/help.h"

#include <string.h>

enum { OPTION_COLUMN = 26, TEXT_COLUMNS = 96, LABELLED_BYTES = 512 };

/* Fills lines, of which the first may have begun already. */
static void fill_lines(const char *text, int indent, bool has_begun, FILE *stream)
{
	size_t column = 0;

	while (*text) {
		size_t word = strcspn(text, " \n");

		if (column && (size_t)indent + column + 1 + word > TEXT_COLUMNS) {
			fputc('\n', stream);
			column = 0;
		}
		fprintf(stream, "%*s%.*s", column ? 1 : has_begun ? 0 : indent, "", (int)word, text);
		has_begun = false;
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

void cli_help_text(const char *text, int indent, FILE *stream)
{
	fill_lines(text, indent, false, stream);
}

void cli_help_option(const struct cli_option *option, FILE *stream)
{
	char left[64];

	snprintf(left, sizeof left, "%c%c%s--%s%s%s", option->letter ? '-' : ' ', option->letter ? option->letter : ' ',
		 option->letter ? ", " : "  ", option->name, option->value ? " " : "",
		 option->value ? option->value : "");
	fprintf(stream, "  %-*s %s\n", OPTION_COLUMN, left, option->help);
}

static void put_labelled(const struct cli_section *section, const struct cli_entry *entry, FILE *stream)
{
	char text[LABELLED_BYTES];

	cli_help_text(entry->term, 2, stream);
	for (size_t i = 0; i < CLI_TEXTS_MAX && entry->texts[i]; i++) {
		snprintf(text, sizeof text, "%s: %s", section->labels[i], entry->texts[i]);
		cli_help_text(text, 6, stream);
	}
}

void cli_help_entries(const struct cli_section *section, FILE *stream)
{
	size_t longest = 0;

	for (const struct cli_entry *entry = section->entries; entry->term; entry++)
		longest = strlen(entry->term) > longest ? strlen(entry->term) : longest;
	for (const struct cli_entry *entry = section->entries; entry->term; entry++) {
		if (!section->labels[0]) {
			fprintf(stream, "  %-*s  ", (int)longest, entry->term);
			fill_lines(entry->texts[0], (int)longest + 4, true, stream);
			continue;
		}
		if (entry != section->entries)
			putc('\n', stream);
		put_labelled(section, entry, stream);
	}
}

void cli_help_section(const struct cli_section *section, FILE *stream)
{
	fprintf(stream, "\n%s:\n", section->heading);
	cli_help_entries(section, stream);
}

static void put_help_options(const struct cli_program *program, const unsigned *options, size_t most, FILE *stream)
{
	for (size_t i = 0; i < most && options[i]; i++)
		cli_help_option(&program->options[options[i]], stream);
}

void cli_help(const struct cli_program *program, const struct cli_command *command, FILE *stream)
{
	fprintf(stream, "Usage: %s%s%s [OPTION...]%s%s\n\n", program->name, command->name ? " " : "",
		command->name ? command->name : "", *command->operands ? " " : "", command->operands);
	cli_help_text(command->description, 0, stream);
	if (command->words)
		cli_help_section(command->words, stream);
	fputs("\nOptions:\n", stream);
	put_help_options(program, command->options, CLI_COMMAND_OPTIONS_MAX, stream);
	if (command->name)
		put_help_options(program, program->always, CLI_ALWAYS_MAX, stream);
	for (size_t i = 0; command->sections && command->sections[i]; i++) {
		if (command->sections[i]->heading)
			cli_help_section(command->sections[i], stream);
	}
	if (!command->examples)
		return;
	fputs("\nExamples:\n", stream);
	for (const struct cli_example *example = command->examples; example->line; example++)
		fprintf(stream, "  %s\n      %s\n", example->line, example->says);
}
