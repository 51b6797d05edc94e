// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes the manual pages and the shell completion from the tables of commands and options; run at build time, not
 * installed.
 *
 *   asterism-docs man            asterism(1)
 *   asterism-docs man COMMAND    asterism-COMMAND(1)
 *   asterism-docs completion     completion for bash
 *   asterism-docs actions        the descriptions of docs/reactions.md
 *   asterism-docs failures       the table of docs/failures.md
 */

#include "cmd/help-actions.h"
#include "cmd/help-failures.h"
#include "cmd/help.h"
#include "cmd/options/command.h"

#include <stdio.h>
#include <string.h>

/* Text for roff: backslashes and dashes keep their looks, no line begins with a request. */
static void put_roff(const char *text)
{
	bool line_start = true;

	for (; *text; text++) {
		if (line_start && (*text == '.' || *text == '\''))
			fputs("\\&", stdout);
		if (*text == '\\')
			fputs("\\e", stdout);
		else if (*text == '-')
			fputs("\\-", stdout);
		else
			putchar(*text);
		line_start = *text == '\n';
	}
}

static void put_paragraphs(const char *text)
{
	const char *blank;

	while ((blank = strstr(text, "\n\n"))) {
		char paragraph[2048];

		snprintf(paragraph, sizeof paragraph, "%.*s", (int)(blank - text), text);
		put_roff(paragraph);
		puts("\n.PP");
		text = blank + 2;
	}
	put_roff(text);
	putchar('\n');
}

static void put_header(const char *page, const char *summary)
{
	printf(".\\\" SPDX-License-Identifier: BSD-2-Clause\n.TH %s 1 \"\" \"asterism " ASTERISM_VERSION
	       "\" \"asterism manual\"\n.SH NAME\n",
	       page);
	put_roff(page);
	fputs(" \\- ", stdout);
	put_roff(summary);
	puts("\n.SH SYNOPSIS");
}

static void put_option(enum option_id id)
{
	const struct option_row *row = &option_rows[id];

	puts(".TP");
	if (row->letter)
		printf("\\fB\\-%c\\fR, ", row->letter);
	fputs("\\fB\\-\\-", stdout);
	put_roff(row->name);
	fputs("\\fR", stdout);
	if (row->value)
		printf(" \\fI%s\\fR", row->value);
	putchar('\n');
	put_roff(row->help);
	puts(".");
}

static void put_statuses(void)
{
	puts(".SH EXIT STATUS");
	for (const struct help_status *row = help_statuses; row->status; row++) {
		printf(".TP\n.B %s\n", row->status);
		put_roff(row->text);
		putchar('\n');
	}
}

static void put_failures(void)
{
	puts(".SH FAILURES");
	for (const struct help_failure *row = help_failures; row->what; row++) {
		puts(".TP");
		put_roff(row->what);
		fputs("\nRules on: ", stdout);
		put_roff(row->rules);
		fputs(".\n.br\nTold: ", stdout);
		put_roff(row->told);
		fputs(".\n.br\nExit status: ", stdout);
		put_roff(row->status);
		puts(".");
	}
}

static void man_command(const struct command *command)
{
	char page[64];

	snprintf(page, sizeof page, "asterism-%s", command->name);
	put_header(page, command->summary);
	printf(".B asterism %s\n[\\fIOPTION\\fR...] ", command->name);
	put_roff(command->operands);
	puts("\n.SH DESCRIPTION");
	put_paragraphs(command->description);
	puts(".SH OPTIONS");
	for (size_t i = 0; i < COMMAND_OPTIONS_MAX && command->options[i] != OPTION_NONE; i++)
		put_option(command->options[i]);
	put_option(OPTION_COLOR);
	put_option(OPTION_HELP);
	put_statuses();
	if (command->launches)
		put_failures();
	if (command->examples)
		puts(".SH EXAMPLES");
	for (const struct command_example *example = command->examples; example && example->line; example++) {
		puts(".TP");
		fputs(".B ", stdout);
		put_roff(example->line);
		putchar('\n');
		put_roff(example->says);
		putchar('\n');
	}
	puts(".SH SEE ALSO\n.BR asterism (1),\n.BR asterism\\-rules (5)");
}

static void man_program(void)
{
	put_header("asterism", "find constellations of events in a running Linux system");
	puts(".B asterism\n.I COMMAND\n[\\fIOPTION\\fR...] \\fIFILE\\fR...\n.SH DESCRIPTION");
	put_paragraphs(
		"asterism finds patterns of several events - X, then Y, without Z in between, within T, in the same "
		"thread - at the moment they complete. The rules that describe them are compiled to programs that "
		"match inside the kernel, so that no event leaves it; the same rules run over recorded events with the "
		"same result.");
	puts(".SH COMMANDS");
	for (const struct command *const *command = commands; *command; command++) {
		printf(".TP\n.BR asterism\\-%s (1)\n", (*command)->name);
		put_roff((*command)->summary);
		puts(".");
	}
	puts(".SH OPTIONS");
	put_option(OPTION_HELP);
	put_option(OPTION_VERSION);
	put_statuses();
	puts(".SH ENVIRONMENT\n.TP\n.B ASTERISM_CATALOGS\nA folder of event catalogs, looked through before the "
	     "installed "
	     "ones and those that are built in.\n"
	     ".TP\n.B ASTERISM_RULES\nThe folder of the shipped rules, in place of the installed or built-in ones.\n"
	     ".TP\n.B NO_COLOR\nSwitches colours off when set.\n.SH SEE ALSO\n.BR asterism\\-rules (5)");
}

static void put_words(const char *const *words)
{
	for (; *words; words++)
		printf("%s%s", *words, words[1] ? " " : "");
}

/* What may follow an option that takes a value. */
static void completion_values(void)
{
	puts("\tcase $prev in");
	for (enum option_id id = 1; id < OPTION_COUNT; id++) {
		const struct option_row *row = &option_rows[id];

		/* Options that share a name: what explain takes as --format and run as --pid covers the others. */
		if (row->kind == OPTION_FLAG || id == OPTION_FORMAT || id == OPTION_FORMAT_EVENTS ||
		    id == OPTION_PIDS || id == OPTION_TEST_FORMAT || id == OPTION_LIMIT)
			continue;
		printf("\t--%s", row->name);
		if (row->letter)
			printf("|-%c", row->letter);
		if (row->kind == OPTION_CHOICE) {
			fputs(") COMPREPLY=($(compgen -W '", stdout);
			put_words(row->choices);
			puts("' -- \"$word\")); return ;;");
		} else if (row->kind == OPTION_FILES) {
			puts(") ;;");
		} else if (row->kind == OPTION_SETTING) {
			puts(") compopt -o nospace +o filenames\n\t\tCOMPREPLY=($(compgen -W "
			     "\"$(_asterism_parameters)\" "
			     "-- \"$word\"))\n\t\treturn ;;");
		} else if (id == OPTION_PID) {
			puts(") COMPREPLY=($(compgen -W \"$(cd /proc && echo [0-9]*)\" -- \"$word\")); return ;;");
		} else if (id == OPTION_OUTPUT || id == OPTION_CATALOG) {
			puts(") COMPREPLY=($(compgen -f -- \"$word\")); return ;;");
		} else {
			puts(") return ;;");
		}
	}
	puts("\tesac");
}

static void completion_options(void)
{
	puts("\tcase ${COMP_WORDS[1]} in");
	for (const struct command *const *command = commands; *command; command++) {
		printf("\t%s) options='", (*command)->name);
		for (size_t i = 0; i < COMMAND_OPTIONS_MAX && (*command)->options[i] != OPTION_NONE; i++)
			printf("--%s ", option_rows[(*command)->options[i]].name);
		puts("--color --help' ;;");
	}
	puts("\tesac");
}

/* What the completion asks asterism itself: shipped rules, and the parameters of those on the line. */
static void completion_rules(void)
{
	puts("_asterism_names()\n{\n\techo all\n"
	     "\t\"${COMP_WORDS[0]}\" rules 2>/dev/null | sed -n 's/^  @\\([^ ]*\\).*/\\1/p'\n}\n"
	     "_asterism_parameters()\n{\n\tlocal word\n\tfor word in $COMP_LINE; do\n"
	     "\t\tif [[ $word == @?* ]]; then\n\t\t\t\"${COMP_WORDS[0]}\" rules \"${word#@}\" 2>/dev/null |\n"
	     "\t\t\t\tsed -n '/^Parameters (--set/,/^$/s/^  \\([^ ]*\\) *= .*/\\1/p' |\n"
	     "\t\t\t\twhile read -r name; do echo \"$name=\" \"${word#@}.$name=\"; done\n\t\tfi\n\tdone\n}");
}

static void completion(void)
{
	puts("# SPDX-License-Identifier: BSD-2-Clause\n# bash completion for asterism, written by asterism-docs");
	completion_rules();
	puts("_asterism()\n{\n\tlocal word=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options= i\n"
	     "\tCOMPREPLY=()\n\tif [ \"$COMP_CWORD\" = 1 ]; then");
	fputs("\t\tCOMPREPLY=($(compgen -W '", stdout);
	for (const struct command *const *command = commands; *command; command++)
		printf("%s ", (*command)->name);
	puts("--help --version' -- \"$word\"))\n\t\treturn\n\tfi");
	puts("\tfor ((i = 2; i < COMP_CWORD; i++)); do\n\t\tif [ \"${COMP_WORDS[i]}\" = -- ]; then\n"
	     "\t\t\tCOMPREPLY=($(compgen -c -f -- \"$word\"))\n\t\t\treturn\n\t\tfi\n\tdone");
	completion_values();
	completion_options();
	/* Where @ parts words, as it does unless somebody has changed that, what is completed stands behind it. */
	puts("\tif [[ $word == @* || $prev == @ ]]; then\n\t\tlocal at=@\n"
	     "\t\t[[ $COMP_WORDBREAKS == *@* ]] && at=\n\t\tcompopt +o filenames\n"
	     "\t\tCOMPREPLY=($(compgen -P \"$at\" -W \"$(_asterism_names)\" -- \"${word#@}\"))\n\t\treturn\n\tfi");
	puts("\tif [[ $word == -* ]]; then\n\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n\telse\n"
	     "\t\tCOMPREPLY=($(compgen -f -- \"$word\"))\n\tfi\n}\ncomplete -o filenames -F _asterism asterism");
}

int main(int argc, char **argv)
{
	const struct command *command = argc == 3 ? command_find(argv[2]) : NULL;

	if (argc == 2 && strcmp(argv[1], "completion") == 0)
		completion();
	else if (argc == 2 && strcmp(argv[1], "man") == 0)
		man_program();
	else if (command && strcmp(argv[1], "man") == 0)
		man_command(command);
	else if (argc == 2 && strcmp(argv[1], "actions") == 0)
		help_actions_page(stdout);
	else if (argc == 2 && strcmp(argv[1], "failures") == 0)
		help_failures_page(stdout);
	else
		return fputs("usage: asterism-docs man [COMMAND] | completion | actions | failures\n", stderr), 2;
	return fflush(stdout) ? 1 : 0;
}
