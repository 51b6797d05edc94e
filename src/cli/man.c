// SPDX-License-Identifier: BSD-2-Clause
/* Writes manual pages. */

#include "cli/man.h"

#include <ctype.h>
#include <string.h>

enum { NAME_BYTES = 64 };

/* Text for roff: backslashes and dashes keep their looks, no line begins with a request. */
static void put_roff(const char *text, size_t length, FILE *stream)
{
	bool line_start = true;

	for (const char *end = text + length; text < end; text++) {
		if (line_start && (*text == '.' || *text == '\''))
			fputs("\\&", stream);
		if (*text == '\\')
			fputs("\\e", stream);
		else if (*text == '-')
			fputs("\\-", stream);
		else
			putc(*text, stream);
		line_start = *text == '\n';
	}
}

static void put_man_text(const char *text, FILE *stream)
{
	put_roff(text, strlen(text), stream);
}

static void put_paragraphs(const char *text, FILE *stream)
{
	const char *blank;

	while ((blank = strstr(text, "\n\n"))) {
		put_roff(text, (size_t)(blank - text), stream);
		fputs("\n.PP\n", stream);
		text = blank + 2;
	}
	put_man_text(text, stream);
	putc('\n', stream);
}

static void put_header(const struct cli_program *program, const struct cli_command *command, FILE *stream)
{
	char page[NAME_BYTES];

	snprintf(page, sizeof page, "%s%s%s", program->name, command->name ? "-" : "",
		 command->name ? command->name : "");
	fprintf(stream,
		".\\\" SPDX-License-Identifier: BSD-2-Clause\n.TH %s %c \"\" \"asterism " ASTERISM_VERSION
		"\" \"asterism manual\"\n.SH NAME\n",
		page, program->manual);
	put_man_text(page, stream);
	fputs(" \\- ", stream);
	put_man_text(command->summary, stream);
	fprintf(stream, "\n.SH SYNOPSIS\n.B %s%s%s\n", program->name, command->name ? " " : "",
		command->name ? command->name : "");
}

static void put_option(const struct cli_option *option, FILE *stream)
{
	fputs(".TP\n", stream);
	if (option->letter)
		fprintf(stream, "\\fB\\-%c\\fR, ", option->letter);
	fputs("\\fB\\-\\-", stream);
	put_man_text(option->name, stream);
	fputs("\\fR", stream);
	if (option->value)
		fprintf(stream, " \\fI%s\\fR", option->value);
	putc('\n', stream);
	put_man_text(option->help, stream);
	fputs(".\n", stream);
	if (option->more) {
		put_man_text(option->more, stream);
		putc('\n', stream);
	}
}

static void put_man_options(const struct cli_program *program, const unsigned *options, size_t most, FILE *stream)
{
	for (size_t i = 0; i < most && options[i]; i++)
		put_option(&program->options[options[i]], stream);
}

/* A sentence that begins with its label. */
static void put_man_entry(const char *label, const char *text, FILE *stream)
{
	putc(toupper((unsigned char)*label), stream);
	put_man_text(label + 1, stream);
	fputs(": ", stream);
	put_man_text(text, stream);
	fputs(".\n", stream);
}

static void put_section(const struct cli_section *section, FILE *stream)
{
	fprintf(stream, ".SH %s\n", section->title);
	for (const struct cli_entry *entry = section->entries; entry->term; entry++) {
		fputs(section->labels[0] ? ".TP\n" : ".TP\n.B ", stream);
		put_man_text(entry->term, stream);
		putc('\n', stream);
		if (!section->labels[0]) {
			put_man_text(entry->texts[0], stream);
			putc('\n', stream);
		}
		for (size_t i = 0; i < CLI_TEXTS_MAX && section->labels[i]; i++) {
			fputs(i ? ".br\n" : "", stream);
			put_man_entry(section->labels[i], entry->texts[i], stream);
		}
	}
}

static void put_man_commands(const struct cli_program *program, FILE *stream)
{
	fputs(".SH COMMANDS\n", stream);
	for (const struct cli_command *const *command = program->commands; *command; command++) {
		fprintf(stream, ".TP\n.BR %s\\-%s (%c)\n", program->name, (*command)->name, program->manual);
		put_man_text((*command)->summary, stream);
		fputs(".\n", stream);
	}
}

static void put_examples(const struct cli_example *examples, FILE *stream)
{
	fputs(".SH EXAMPLES\n", stream);
	for (const struct cli_example *example = examples; example->line; example++) {
		fputs(".TP\n.B ", stream);
		put_man_text(example->line, stream);
		putc('\n', stream);
		put_man_text(example->says, stream);
		putc('\n', stream);
	}
}

/* Pages stand as "name(1)": the name is bold. */
static void put_see_also(const char *const *pages, FILE *stream)
{
	fputs(".SH SEE ALSO\n", stream);
	for (; *pages; pages++) {
		size_t name = strcspn(*pages, "(");

		fputs(".BR ", stream);
		put_roff(*pages, name, stream);
		fprintf(stream, " %s%s\n", *pages + name, pages[1] ? "," : "");
	}
}

void cli_man(const struct cli_program *program, const struct cli_command *command, FILE *stream)
{
	put_header(program, command, stream);
	fputs(!command->name && program->commands ? "\\fICOMMAND\\fR " : "", stream);
	fputs("[\\fIOPTION\\fR...]", stream);
	fputs(*command->operands ? " " : "", stream);
	put_man_text(command->operands, stream);
	fputs("\n.SH DESCRIPTION\n", stream);
	put_paragraphs(command->description, stream);
	if (!command->name && program->commands)
		put_man_commands(program, stream);
	if (command->words)
		put_section(command->words, stream);
	fputs(".SH OPTIONS\n", stream);
	put_man_options(program, command->options, CLI_COMMAND_OPTIONS_MAX, stream);
	if (command->name)
		put_man_options(program, program->always, CLI_ALWAYS_MAX, stream);
	if (program->statuses)
		put_section(program->statuses, stream);
	for (size_t i = 0; command->sections && command->sections[i]; i++)
		put_section(command->sections[i], stream);
	if (command->examples)
		put_examples(command->examples, stream);
	put_see_also(command->see_also ? command->see_also : program->see_also, stream);
}
