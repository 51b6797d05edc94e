// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides what a command line means. Options and operands may be mixed; `--` ends the options. Long options may be
 * written --name value and --name=value, letters may be joined (-qv, -oFILE). A wrong one is explained with the nearest
 * right one.
 */

#include "cmd/options/command.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "cmd/options/print.h"
#include "cmd/options/status.h"
#include "lang/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const enum option_id always[] = { OPTION_COLOR, OPTION_HELP };

struct parser {
	struct arguments *arguments;
	int argc, next;
	char **argv;
	size_t number_capacity, operand_capacity, file_capacity, setting_capacity;
};

static bool takes(const struct command *command, enum option_id id)
{
	for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
		if (id == always[i])
			return true;
	}
	for (size_t i = 0; i < COMMAND_OPTIONS_MAX && command->options[i] != OPTION_NONE; i++) {
		if (id == command->options[i])
			return true;
	}
	return false;
}

static int usage_error(const struct command *command)
{
	print_hint("'asterism %s --help' shows how it is used", command->name);
	return -STATUS_USAGE;
}

static int unknown_option(const struct command *command, const char *written, const char *name)
{
	const char *names[OPTION_COUNT];
	size_t count = 0;

	for (enum option_id id = 1; id < OPTION_COUNT; id++) {
		if (takes(command, id))
			names[count++] = option_rows[id].name;
	}
	const char *nearest = diag_nearest(name, names, count);

	print_error("'asterism %s' has no option %s", command->name, written);
	if (!nearest)
		return usage_error(command);
	print_hint("did you mean --%s?", nearest);
	return -STATUS_USAGE;
}

static int choose(const struct option_row *row, const char *text, uint64_t *number)
{
	size_t count = 0;

	for (; row->choices[count]; count++) {
		if (strcmp(row->choices[count], text) == 0) {
			*number = count;
			return 0;
		}
	}
	const char *nearest = diag_nearest(text, row->choices, count);

	print_error("--%s cannot be '%s'", row->name, text);
	if (nearest)
		print_hint("did you mean '%s'?", nearest);
	else
		print_hint("it is one of: %s", print_choices(row->choices));
	return -STATUS_USAGE;
}

static const struct {
	const char *unit;
	double ns;
} time_units[] = { { "", 1e9 },  { "ns", 1 },     { "us", 1e3 }, { "ms", 1e6 },
		   { "s", 1e9 }, { "min", 6e10 }, { "m", 6e10 }, { "h", 3.6e12 } };

/* text as ns, or false where it is not a length of time. */
static bool parse_time(const char *text, double *ns)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	*ns = strtod(text, &end);
	for (size_t i = 0; i < sizeof time_units / sizeof *time_units; i++) {
		if (strcmp(end, time_units[i].unit) == 0) {
			*ns *= time_units[i].ns;
			return *ns < 9e18;
		}
	}
	return false;
}

static int read_time(const struct option_row *row, const char *text, uint64_t *number)
{
	double ns;

	if (parse_time(text, &ns) && ns >= 1) {
		*number = (uint64_t)ns;
		return 0;
	}
	print_error("--%s: '%s' is not a length of time", row->name, text);
	print_hint("write a number with a unit: 500ms, 10s, 2min, 1h");
	return -STATUS_USAGE;
}

/* A time on the inputs' clock is often copied from a match, in ns, where every digit counts. */
static bool parse_exactly(const char *text, uint64_t *ns)
{
	char *end;

	errno = 0;
	*ns = strtoull(text, &end, 10);
	return isdigit((unsigned char)*text) && !errno && (!*end || strcmp(end, "ns") == 0);
}

static int read_moment(const struct option_row *row, const char *text, uint64_t *number)
{
	double ns;

	if (*text == '@' && parse_exactly(text + 1, number))
		return 0;
	if (parse_time(text + (*text == '@'), &ns)) {
		*number = (uint64_t)(ns + 0.5); /* decimal fractions are not exact */
		return 0;
	}
	print_error("--%s: '%s' is not a time", row->name, text);
	print_hint("write 1.5s or 20ms (after the first event), or @81273000000 (ns on the clock of the events)");
	return -STATUS_USAGE;
}

static int read_size(const struct option_row *row, const char *text, uint64_t *number)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;
	double bytes = isdigit((unsigned char)*text) ? strtod(text, &end) : 0;

	if (bytes > 0) {
		unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
		for (long i = 0; unit && i <= unit - units; i++)
			bytes *= 1024;
		end += unit != NULL;
		if (*end == 0 && bytes >= 1 && bytes < 9e18) {
			*number = (uint64_t)bytes;
			return 0;
		}
	}
	print_error("--%s: '%s' is not a size", row->name, text);
	print_hint("write a number of bytes, or one with a unit: 64K, 500M, 2G");
	return -STATUS_USAGE;
}

/* The owner can read and write it in any case, and nobody execute it. */
static int read_mode(const struct option_row *row, const char *text, uint64_t *number)
{
	char *end;

	*number = strtoul(text, &end, 8);
	if (isdigit((unsigned char)*text) && !*end && (*number & 0600) == 0600 && !(*number & ~0666UL))
		return 0;
	print_error("--%s: '%s' is not a mode for files", row->name, text);
	print_hint("write octal digits: 600 for yourself, 640 for your group to read, too, 644 for everybody");
	return -STATUS_USAGE;
}

static int read_number(struct parser *parser, const struct option_row *row, const char *text, uint64_t *number)
{
	struct arguments *arguments = parser->arguments;
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || *number == 0 || *number > INT32_MAX) {
		print_error("--%s: '%s' is not a %s", row->name, text, row->value);
		return -STATUS_USAGE;
	}
	if (alloc_grow(&arguments->numbers, &parser->number_capacity, arguments->number_count,
		       sizeof *arguments->numbers)) {
		print_error("out of memory");
		return -STATUS_USAGE;
	}
	arguments->numbers[arguments->number_count++] = *number;
	return 0;
}

static int add_file(struct parser *parser, const char *file)
{
	struct arguments *arguments = parser->arguments;

	if (alloc_grow(&arguments->files, &parser->file_capacity, arguments->file_count, sizeof *arguments->files)) {
		print_error("out of memory");
		return -STATUS_USAGE;
	}
	arguments->files[arguments->file_count++] = file;
	return 0;
}

/* Gives text to the arguments, which free it. */
static int own(struct arguments *arguments, char *text)
{
	if (!text || alloc_grow(&arguments->joined, &arguments->joined_capacity, arguments->joined_count,
				sizeof *arguments->joined)) {
		alloc_free(text);
		print_error("out of memory");
		return -STATUS_USAGE;
	}
	arguments->joined[arguments->joined_count++] = text;
	return 0;
}

static bool is_name(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (!isalpha((unsigned char)text[i]) && text[i] != '_' && (i == 0 || !isdigit((unsigned char)text[i])))
			return false;
	}
	return length > 0;
}

/* A name, or that of a file's own: anything, a dot and a name. */
static bool is_setting_name(const char *text, size_t length)
{
	const char *dot = memrchr(text, '.', length);

	if (!dot)
		return is_name(text, length);
	return dot > text && is_name(dot + 1, length - (size_t)(dot + 1 - text));
}

/*
 * Behind the others of its kind: what one file is given counts whatever all files are given, so it comes after that.
 */
static int add_setting(struct parser *parser, const struct lang_setting *setting)
{
	struct arguments *arguments = parser->arguments;
	size_t at = arguments->setting_count;

	if (alloc_grow(&arguments->settings, &parser->setting_capacity, arguments->setting_count,
		       sizeof *arguments->settings)) {
		print_error("out of memory");
		return -STATUS_USAGE;
	}
	while (!strchr(setting->name, '.') && at && strchr(arguments->settings[at - 1].name, '.')) {
		arguments->settings[at] = arguments->settings[at - 1];
		at--;
	}
	arguments->settings[at] = *setting;
	arguments->setting_count++;
	return 0;
}

static int read_setting(struct parser *parser, const char *text)
{
	struct arguments *arguments = parser->arguments;
	size_t length = strcspn(text, "=");
	char *name;

	if (!is_setting_name(text, length) || text[length] == 0 || text[length + 1] == 0) {
		print_error("--set: '%s' is not NAME=VALUE", text);
		print_hint("write, for example, --set limit=100ms, or --set slow-syscall.limit=100ms");
		return -STATUS_USAGE;
	}
	name = alloc_text(text);
	if (own(arguments, name))
		return -STATUS_USAGE;
	name[length] = 0;
	for (size_t i = 0; i < arguments->setting_count; i++) {
		if (strcmp(arguments->settings[i].name, name) == 0) {
			print_error("--set gives %s two values: %s and %s", name, arguments->settings[i].text,
				    text + length + 1);
			return -STATUS_USAGE;
		}
	}
	return add_setting(parser, &(struct lang_setting){ .name = name, .text = text + length + 1 });
}

/* A list given again goes on: *text becomes all of it. The arguments own what is put together. */
static int extend(struct arguments *arguments, const struct option_value *value, const char **text)
{
	size_t size = value->text ? strlen(value->text) + strlen(*text) + 2 : 0;
	char *joined = size ? alloc_zero(size, 1) : NULL;

	if (!size)
		return 0;
	if (joined)
		snprintf(joined, size, "%s,%s", value->text, *text);
	if (own(arguments, joined))
		return -STATUS_USAGE;
	*text = joined;
	return 0;
}

/* Gives option id its value; text is NULL for flags. */
static int set(struct parser *parser, enum option_id id, const char *text)
{
	const struct option_row *row = &option_rows[id];
	struct option_value *value = &parser->arguments->options[id];
	int status = 0;

	switch (row->kind) {
	case OPTION_FLAG:
		value->number++;
		break;
	case OPTION_TEXT:
		break;
	case OPTION_LIST:
		status = extend(parser->arguments, value, &text);
		break;
	case OPTION_CHOICE:
		status = choose(row, text, &value->number);
		break;
	case OPTION_TIME:
		status = read_time(row, text, &value->number);
		break;
	case OPTION_MOMENT:
		status = read_moment(row, text, &value->number);
		break;
	case OPTION_BITS:
		status = read_mode(row, text, &value->number);
		break;
	case OPTION_SIZE:
		status = read_size(row, text, &value->number);
		break;
	case OPTION_NUMBER:
		status = read_number(parser, row, text, &value->number);
		break;
	case OPTION_FILES:
		status = add_file(parser, text);
		break;
	case OPTION_SETTING:
		status = read_setting(parser, text);
		break;
	}
	value->text = text ? text : "";
	return status;
}

static int needs_value(const struct command *command, const struct option_row *row)
{
	print_error("--%s needs a value: %s", row->name, row->value);
	return usage_error(command);
}

static int parse_long(struct parser *parser, const char *written)
{
	const struct command *command = parser->arguments->command;
	const char *equals = strchr(written, '=');
	char name[64];
	size_t length = equals ? (size_t)(equals - written) : strlen(written);

	if (length - 2 >= sizeof name)
		return unknown_option(command, written, "");
	memcpy(name, written + 2, length - 2);
	name[length - 2] = 0;
	for (enum option_id id = 1; id < OPTION_COUNT; id++) {
		const struct option_row *row = &option_rows[id];

		if (!row->name || strcmp(row->name, name) != 0 || !takes(command, id))
			continue;
		if (row->kind == OPTION_FLAG) {
			if (!equals)
				return set(parser, id, NULL);
			print_error("--%s takes no value", name);
			return usage_error(command);
		}
		if (equals)
			return set(parser, id, equals + 1);
		if (parser->next >= parser->argc)
			return needs_value(command, row);
		return set(parser, id, parser->argv[parser->next++]);
	}
	return unknown_option(command, written, name);
}

static enum option_id find_letter(const struct command *command, char letter)
{
	for (enum option_id id = 1; id < OPTION_COUNT; id++) {
		if (letter && option_rows[id].letter == letter && takes(command, id))
			return id;
	}
	return OPTION_NONE;
}

static int parse_letters(struct parser *parser, const char *written)
{
	const struct command *command = parser->arguments->command;

	for (const char *letter = written + 1; *letter; letter++) {
		enum option_id id = find_letter(command, *letter);
		int status;

		if (id == OPTION_NONE) {
			print_error("'asterism %s' has no option -%c", command->name, *letter);
			return usage_error(command);
		}
		if (option_rows[id].kind != OPTION_FLAG) {
			if (letter[1])
				return set(parser, id, letter + 1);
			if (parser->next >= parser->argc)
				return needs_value(command, &option_rows[id]);
			return set(parser, id, parser->argv[parser->next++]);
		}
		status = set(parser, id, NULL);
		if (status)
			return status;
	}
	return 0;
}

static int add_operand(struct parser *parser, const char *operand)
{
	struct arguments *arguments = parser->arguments;

	if (alloc_grow(&arguments->operands, &parser->operand_capacity, arguments->operand_count,
		       sizeof *arguments->operands)) {
		print_error("out of memory");
		return -STATUS_USAGE;
	}
	arguments->operands[arguments->operand_count++] = operand;
	return 0;
}

static int parse_rest(struct parser *parser)
{
	struct arguments *arguments = parser->arguments;
	int status = 0;

	if (arguments->command->launches) {
		if (parser->next == parser->argc) {
			print_error("no command follows the '--'");
			return usage_error(arguments->command);
		}
		arguments->launched = parser->argv + parser->next;
		return 0;
	}
	while (parser->next < parser->argc && !status)
		status = add_operand(parser, parser->argv[parser->next++]);
	return status;
}

static int check_operands(const struct arguments *arguments)
{
	const struct command *command = arguments->command;
	size_t count = arguments->operand_count, from_stdin = 0;

	for (size_t i = 0; i < count; i++)
		from_stdin += strcmp(arguments->operands[i], "-") == 0;
	if (count < command->operands_min)
		print_error("'asterism %s' needs %s", command->name, command->operands);
	else if (count && command->operands && !*command->operands)
		print_error("'asterism %s' takes no operands, not '%s'", command->name, arguments->operands[0]);
	else if (command->operands_max && count > command->operands_max)
		print_error("'asterism %s' takes %s, not '%s' as well", command->name, command->operands,
			    arguments->operands[command->operands_max]);
	else if (from_stdin > 1)
		print_error("standard input ('-') can be read only once");
	else
		return 0;
	return usage_error(command);
}

int arguments_parse(const struct command *command, int argc, char **argv, struct arguments *arguments)
{
	struct parser parser = { .arguments = arguments, .argc = argc, .argv = argv };
	int status = 0;

	*arguments = (struct arguments){ .command = command };
	while (parser.next < argc && !status) {
		const char *word = argv[parser.next++];

		if (strcmp(word, "--") == 0) {
			status = parse_rest(&parser);
			break;
		}
		if (word[0] != '-' || word[1] == 0)
			status = add_operand(&parser, word);
		else
			status = word[1] == '-' ? parse_long(&parser, word) : parse_letters(&parser, word);
		if (arguments_has(arguments, OPTION_HELP))
			return 0;
	}
	return status ? status : check_operands(arguments);
}

void arguments_fini(struct arguments *arguments)
{
	for (size_t i = 0; i < arguments->joined_count; i++)
		alloc_free(arguments->joined[i]);
	alloc_free(arguments->joined);
	alloc_free(arguments->files);
	alloc_free(arguments->settings);
	alloc_free(arguments->numbers);
	alloc_free(arguments->operands);
}
