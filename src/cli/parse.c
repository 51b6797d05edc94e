// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parses a command line. Options and operands may be mixed; `--` ends the options. Long options may be written --name
 * value and --name=value, letters may be joined (-qv, -oFILE). A wrong one is explained with the nearest right one.
 */

#include "cli/arguments.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "cli/value.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ARGUMENT_NAME_BYTES = 64, TYPED_BYTES = 128, TEXT_BYTES = 1024 };

struct parser {
	struct cli_arguments *arguments;
	int argc, next;
	char **argv;
	size_t operand_capacity;
	struct asterism_diag *diag;
	char typed[TYPED_BYTES]; /* the command as it is typed: asterism run, asterismd */
};

const struct cli_command *cli_find_command(const struct cli_program *program, const char *name)
{
	for (const struct cli_command *const *command = program->commands; command && *command; command++) {
		if (strcmp((*command)->name, name) == 0)
			return *command;
	}
	return NULL;
}

static bool has_option(const unsigned *options, size_t most, unsigned option)
{
	for (size_t i = 0; i < most && options[i]; i++) {
		if (options[i] == option)
			return true;
	}
	return false;
}

bool cli_takes(const struct cli_program *program, const struct cli_command *command, unsigned option)
{
	return has_option(command->options, CLI_COMMAND_OPTIONS_MAX, option) ||
	       (command->name && has_option(program->always, CLI_ALWAYS_MAX, option));
}

/* The option of the command with that name or, where name is NULL, with that letter; 0: it has none. */
static unsigned find_given_option(const struct parser *parser, const char *name, char letter)
{
	const struct cli_program *program = parser->arguments->program;

	for (unsigned i = 1; i < program->option_count; i++) {
		const struct cli_option *option = &program->options[i];

		if (option->name && (name ? strcmp(option->name, name) == 0 : option->letter == letter) &&
		    cli_takes(program, parser->arguments->command, i))
			return i;
	}
	return 0;
}

static int usage_error(struct parser *parser, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int usage_error(struct parser *parser, const char *format, ...)
{
	char text[TEXT_BYTES], hint[TYPED_BYTES + ARGUMENT_NAME_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	snprintf(hint, sizeof hint, "try '%s --help'", parser->typed);
	diag_add(parser->diag, ASTERISM_ERROR, NULL, hint, "%s", text);
	return -EINVAL;
}

static int unknown_option(struct parser *parser, const char *written, const char *name)
{
	const struct cli_program *program = parser->arguments->program;
	const char *names[CLI_OPTIONS_MAX], *nearest;
	char hint[ARGUMENT_NAME_BYTES * 2];
	size_t count = 0;

	for (unsigned i = 1; i < program->option_count; i++) {
		if (cli_takes(program, parser->arguments->command, i))
			names[count++] = program->options[i].name;
	}
	nearest = diag_nearest(name, names, count);
	if (!nearest)
		return usage_error(parser, "'%s' has no option %s", parser->typed, written);
	snprintf(hint, sizeof hint, "did you mean --%s?", nearest);
	diag_add(parser->diag, ASTERISM_ERROR, NULL, hint, "'%s' has no option %s", parser->typed, written);
	return -EINVAL;
}

/* A list given again goes on: *text becomes all of it. The arguments own what is put together. */
static int extend(struct parser *parser, const struct cli_value *value, const char **text)
{
	struct cli_arguments *arguments = parser->arguments;
	size_t size = value->text ? strlen(value->text) + strlen(*text) + 2 : 0;
	char *joined;

	if (!size)
		return 0;
	if (alloc_grow(&arguments->joined, &arguments->joined_capacity, arguments->joined_count,
		       sizeof *arguments->joined))
		return diag_no_memory(parser->diag);
	joined = alloc_zero(size, 1);
	if (!joined)
		return diag_no_memory(parser->diag);
	arguments->joined[arguments->joined_count++] = joined;
	snprintf(joined, size, "%s,%s", value->text, *text);
	*text = joined;
	return 0;
}

/* Adds what has been read to the values of an option that repeats. */
static int add_read_value(struct parser *parser, struct cli_value *value, const char *text)
{
	if (alloc_grow(&value->texts, &value->text_capacity, value->count, sizeof *value->texts) ||
	    alloc_grow(&value->numbers, &value->number_capacity, value->count, sizeof *value->numbers))
		return diag_no_memory(parser->diag);
	value->texts[value->count] = text;
	value->numbers[value->count++] = value->number;
	return 0;
}

static void set_flag(struct parser *parser, unsigned option)
{
	struct cli_value *value = &parser->arguments->options[option];

	value->number++;
	value->text = "";
}

static int set_option(struct parser *parser, unsigned option, const char *text)
{
	const struct cli_option *row = &parser->arguments->program->options[option];
	struct cli_value *value = &parser->arguments->options[option];
	int result = 0;

	if (row->check)
		result = row->check(value, text, parser->diag);
	if (!result)
		result = cli_value_read(row, text, &value->number, parser->diag);
	if (!result && row->kind == CLI_LIST)
		result = extend(parser, value, &text);
	if (!result && row->repeats)
		result = add_read_value(parser, value, text);
	value->text = text;
	return result;
}

/* The value of an option is what stands with it (NULL: nothing does), or else the next word. */
static int set_from(struct parser *parser, unsigned option, const char *text)
{
	const struct cli_option *row = &parser->arguments->program->options[option];

	if (!text && parser->next >= parser->argc)
		return usage_error(parser, "--%s needs a value: %s", row->name, row->value);
	return set_option(parser, option, text ? text : parser->argv[parser->next++]);
}

static int parse_long(struct parser *parser, const char *written)
{
	const char *equals = strchr(written, '=');
	size_t length = (equals ? (size_t)(equals - written) : strlen(written)) - 2;
	char name[ARGUMENT_NAME_BYTES];
	unsigned option;

	if (length >= sizeof name)
		return unknown_option(parser, written, "");
	memcpy(name, written + 2, length);
	name[length] = 0;
	option = find_given_option(parser, name, 0);
	if (!option)
		return unknown_option(parser, written, name);
	if (cli_takes_value(&parser->arguments->program->options[option]))
		return set_from(parser, option, equals ? equals + 1 : NULL);
	if (equals)
		return usage_error(parser, "--%s takes no value", name);
	set_flag(parser, option);
	return 0;
}

static int parse_letters(struct parser *parser, const char *written)
{
	for (const char *letter = written + 1; *letter; letter++) {
		unsigned option = find_given_option(parser, NULL, *letter);
		const struct cli_option *row = &parser->arguments->program->options[option];

		if (!option)
			return usage_error(parser, "'%s' has no option -%c", parser->typed, *letter);
		if (cli_takes_value(row))
			return set_from(parser, option, letter[1] ? letter + 1 : NULL);
		set_flag(parser, option);
		if (row->kind == CLI_ANSWER)
			return 0;
	}
	return 0;
}

static int add_operand(struct parser *parser, const char *operand)
{
	struct cli_arguments *arguments = parser->arguments;

	if (alloc_grow(&arguments->operands, &parser->operand_capacity, arguments->operand_count,
		       sizeof *arguments->operands))
		return diag_no_memory(parser->diag);
	arguments->operands[arguments->operand_count++] = operand;
	return 0;
}

static int parse_rest(struct parser *parser)
{
	struct cli_arguments *arguments = parser->arguments;
	int result = 0;

	if (arguments->command->launches) {
		if (parser->next == parser->argc)
			return usage_error(parser, "a command must follow '--'");
		arguments->launched = parser->argv + parser->next;
		return 0;
	}
	while (parser->next < parser->argc && !result)
		result = add_operand(parser, parser->argv[parser->next++]);
	return result;
}

static int parse_word(struct parser *parser, const char *word)
{
	if (word[0] != '-' || word[1] == 0)
		return add_operand(parser, word);
	return word[1] == '-' ? parse_long(parser, word) : parse_letters(parser, word);
}

/* Whether an option is given that is answered at once. */
static bool has_answer(const struct cli_arguments *arguments)
{
	for (unsigned i = 1; i < arguments->program->option_count; i++) {
		if (arguments->program->options[i].kind == CLI_ANSWER && cli_has(arguments, i))
			return true;
	}
	return false;
}

static int check_operands(struct parser *parser)
{
	const struct cli_arguments *arguments = parser->arguments;
	const struct cli_command *command = arguments->command;
	size_t count = arguments->operand_count, from_stdin = 0;

	for (size_t i = 0; i < count; i++)
		from_stdin += strcmp(arguments->operands[i], "-") == 0;
	if (count + (command->instead ? arguments->options[command->instead].count : 0) < command->operands_min)
		return usage_error(parser, "'%s' needs %s", parser->typed, command->operands);
	if (count && !*command->operands)
		return usage_error(parser, "'%s' takes no arguments, but got '%s'", parser->typed,
				   arguments->operands[0]);
	if (command->operands_max && count > command->operands_max)
		return usage_error(parser, "'%s' takes %s; '%s' is one too many", parser->typed, command->operands,
				   arguments->operands[command->operands_max]);
	if (from_stdin > 1)
		return usage_error(parser, "standard input ('-') can be read only once");
	return 0;
}

int cli_parse(struct cli_arguments *arguments, int argc, char **argv, struct asterism_diag *diag)
{
	const char *name = arguments->command->name;
	struct parser parser = { .arguments = arguments, .argc = argc, .argv = argv, .diag = diag };
	int result = 0;

	snprintf(parser.typed, sizeof parser.typed, "%s%s%s", arguments->program->name, name ? " " : "",
		 name ? name : "");
	while (parser.next < argc) {
		const char *word = argv[parser.next++];
		bool ends_options = strcmp(word, "--") == 0;

		result = ends_options ? parse_rest(&parser) : parse_word(&parser, word);
		if (result || has_answer(arguments))
			return result;
		if (ends_options)
			break;
	}
	return check_operands(&parser);
}

void cli_arguments_fini(struct cli_arguments *arguments)
{
	for (size_t i = 0; i < arguments->joined_count; i++)
		alloc_free(arguments->joined[i]);
	for (size_t i = 0; i < CLI_OPTIONS_MAX; i++) {
		alloc_free(arguments->options[i].texts);
		alloc_free(arguments->options[i].numbers);
	}
	alloc_free(arguments->joined);
	alloc_free(arguments->operands);
}
