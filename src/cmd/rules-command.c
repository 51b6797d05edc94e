// SPDX-License-Identifier: BSD-2-Clause
/* `asterism rules`: what is in the library that asterism ships. */

#include "base/alloc.h"
#include "base/text.h"
#include "cli/print.h"
#include "cmd/input/library.h"
#include "cmd/input/rules.h"
#include "cmd/library-properties.h"
#include "cmd/options/commands.h"
#include "cmd/options/status.h"
#include "cmd/text/json-text.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/* Whether pattern, a glob or a plain part of a name, means the entry. */
static bool is_entry_wanted(const struct library_entry *entry, const char *pattern)
{
	if (!pattern)
		return true;
	if (strpbrk(pattern, "*?["))
		return fnmatch(pattern, entry->name, FNM_CASEFOLD) == 0;
	return strcasestr(entry->name, pattern) != NULL;
}

/* The entries that are shown, in the order of the library. */
struct choice {
	const struct library_entry **entries;
	size_t count;
	const struct library *library;
	const struct library_properties *properties; /* per entry of the library */
	bool has_severities;                         /* some entry that is shown has one */
};

static const struct library_properties *properties_of(const struct choice *choice, const struct library_entry *entry)
{
	return &choice->properties[entry - choice->library->entries];
}

/* What a README says may be anybody's text. */
static void put_entry_row(const struct choice *choice, const struct library_entry *entry, int width)
{
	fputs("  @", stdout);
	width -= text_write(stdout, entry->name, TEXT_WORDS);
	printf("%*s  ", width > 0 ? width : 0, "");
	if (choice->has_severities)
		printf("%-*s  ", SEVERITY_NAME_WIDTH, severity_name(properties_of(choice, entry)->severity));
	text_write(stdout, entry->line, TEXT_WORDS);
	if (entry->needs) {
		fputs(" (needs ", stdout);
		text_write(stdout, entry->needs, TEXT_WORDS);
		putchar(')');
	}
	if (entry->price) {
		fputs(" (price ", stdout);
		text_write(stdout, entry->price, TEXT_WORDS);
		putchar(')');
	}
	putchar('\n');
}

static void put_group(const struct choice *choice, const char *kind)
{
	int width = 0;

	for (size_t i = 0; i < choice->count; i++) {
		int length = (int)strlen(choice->entries[i]->name);

		width = length > width ? length : width;
	}
	text_write(stdout, kind, TEXT_WORDS);
	puts(":");
	for (size_t i = 0; i < choice->count; i++) {
		if (strcmp(choice->entries[i]->kind, kind) == 0)
			put_entry_row(choice, choice->entries[i], width);
	}
}

/* Groups by name; those without one last. */
static void put_groups(const struct choice *choice)
{
	const char *last = "";

	for (;;) {
		const char *next = NULL;

		for (size_t i = 0; i < choice->count; i++) {
			const char *kind = choice->entries[i]->kind;

			if (strcmp(kind, last) > 0 && strcmp(kind, "other") != 0 && (!next || strcmp(kind, next) < 0))
				next = kind;
		}
		if (!next)
			break;
		put_group(choice, next);
		last = next;
	}
	for (size_t i = 0; i < choice->count; i++) {
		if (strcmp(choice->entries[i]->kind, "other") == 0)
			return put_group(choice, "other");
	}
}

static json_t *describe_entry(const struct choice *choice, const struct library_entry *entry)
{
	const struct library_properties *properties = properties_of(choice, entry);

	json_t *object = json_pack("{s:s, s:o, s:o, s:o, s:o}", "name", entry->name, "kind", json_text(entry->kind),
				   "finds", json_text(entry->line), "needs", json_text(entry->needs), "path",
				   json_text(entry->is_built_in ? NULL : entry->rule.path));

	if (entry->price)
		json_object_set_new(object, "price", json_text(entry->price));
	if (properties->severity)
		json_object_set_new(object, "severity", json_text(severity_name(properties->severity)));
	if (json_array_size(properties->tags))
		json_object_set(object, "tags", properties->tags);
	if (properties->description)
		json_object_set_new(object, "description", json_text(properties->description));
	return object;
}

static void put_list(const struct choice *choice, bool as_json)
{
	if (!as_json)
		return put_groups(choice);
	for (size_t i = 0; i < choice->count; i++)
		json_text_put(describe_entry(choice, choice->entries[i]));
}

static void put_parameters(const struct session_parameter *parameters, uint32_t count)
{
	int width = 0;

	if (count == 0)
		return;
	puts("Parameters (--set NAME=VALUE):");
	for (uint32_t i = 0; i < count; i++) {
		int length = (int)strlen(parameters[i].name);

		width = length > width ? length : width;
	}
	for (uint32_t i = 0; i < count; i++)
		printf("  %-*s = %s\n", width, parameters[i].name, parameters[i].usual);
	putchar('\n');
}

static void put_entry_properties(const struct library_properties *properties)
{
	const json_t *tag;
	size_t i;

	if (properties->severity)
		printf("Severity: %s\n", severity_name(properties->severity));
	json_array_foreach(properties->tags, i, tag)
	{
		fputs(i ? ", " : "Tags: ", stdout);
		text_write(stdout, json_string_value(tag), TEXT_WORDS);
	}
	if (properties->severity || i)
		puts(i ? "\n" : "");
}

static void put_entry(const struct choice *choice, const struct session_parameter *parameters, uint32_t count)
{
	const struct library_entry *entry = choice->entries[0];
	size_t length = strlen(entry->readme);

	text_write_lines(stdout, entry->readme);
	if (length && entry->readme[length - 1] != '\n')
		putchar('\n');
	if (length)
		putchar('\n');
	put_entry_properties(properties_of(choice, entry));
	put_parameters(parameters, count);
	if (entry->is_built_in) {
		printf("Rule: built in; 'asterism rules --text %s' writes it\n", entry->name);
		return;
	}
	fputs("Rule: ", stdout);
	text_write(stdout, entry->rule.path, TEXT_WORDS);
	putchar('\n');
}

static void put_entry_json(const struct choice *choice, const struct session_parameter *parameters, uint32_t count)
{
	const struct library_entry *entry = choice->entries[0];
	json_t *object = describe_entry(choice, entry), *rows = json_array();

	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(rows, json_pack("{s:s, s:o}", "name", parameters[i].name, "default",
						      json_text(parameters[i].usual)));
	json_object_set_new(object, "parameters", rows);
	json_object_set_new(object, "readme", json_text(entry->readme));
	json_text_put(object);
}

static int write_text(const struct library_entry *entry)
{
	struct asterism_diag *diag = asterism_diag_new();
	char *text = NULL;
	size_t length;
	int result = library_text(&entry->rule, LANG_FILE_BYTES_MAX, diag, &text, &length);

	if (!result)
		fwrite(text, 1, length, stdout);
	alloc_free(text);
	cli_print(diag);
	asterism_diag_free(diag);
	return result ? STATUS_USAGE : STATUS_FINE;
}

/* All about one entry. */
static int show_entry(const struct cli_arguments *arguments, const struct choice *choice, bool as_json)
{
	const struct session_parameter *parameters;
	struct session_rules *rules;
	uint32_t count;
	int status = cmd_read_files(arguments, &choice->entries[0]->rule, 1, &rules);

	if (status)
		return status;
	parameters = session_rules_parameters(rules, &count);
	if (as_json)
		put_entry_json(choice, parameters, count);
	else
		put_entry(choice, parameters, count);
	session_rules_free(rules);
	return STATUS_FINE;
}

static int choose_entries(const struct library *library, const char *pattern, struct choice *choice)
{
	choice->entries = alloc_zero(library->count + 1, sizeof *choice->entries);
	if (!choice->entries) {
		cli_error("out of memory");
		return STATUS_USAGE;
	}
	for (size_t i = 0; i < library->count; i++) {
		const struct library_entry *entry = &library->entries[i];

		if (pattern && strcmp(entry->name, pattern) == 0) {
			choice->entries[0] = entry;
			choice->count = 1;
			return STATUS_FINE;
		}
		if (is_entry_wanted(entry, pattern))
			choice->entries[choice->count++] = entry;
	}
	if (choice->count || !pattern)
		return STATUS_FINE;
	library_get(library, pattern);
	return STATUS_USAGE;
}

static int many(void)
{
	cli_error("--text writes a single rule, but the pattern matches several");
	cli_hint("'asterism rules' lists them; use a complete name");
	return STATUS_USAGE;
}

static int put_choice(const struct cli_arguments *arguments, struct choice *choice, bool is_single)
{
	bool as_json = arguments->options[OPTION_FORMAT_EVENTS].number == 1;
	struct session_rules *rules;
	struct library_properties *properties = library_properties_read(choice->library, &rules);
	int status = properties ? STATUS_FINE : STATUS_USAGE;

	choice->properties = properties;
	for (size_t i = 0; i < choice->count && properties; i++)
		choice->has_severities |= properties_of(choice, choice->entries[i])->severity != SEVERITY_NONE;
	if (!properties)
		cli_error("out of memory");
	else if (is_single)
		status = show_entry(arguments, choice, as_json);
	else
		put_list(choice, as_json);
	library_properties_free(properties, choice->library);
	session_rules_free(rules);
	return status;
}

static int run_rules(const struct cli_arguments *arguments)
{
	const char *pattern = arguments->operand_count ? arguments->operands[0] : NULL;
	struct library library;
	struct choice choice = { .library = &library };
	int status = library_read(&library);

	if (pattern && library_is_name(pattern))
		pattern++;
	if (!status)
		status = choose_entries(&library, pattern, &choice);
	if (!status && cli_has(arguments, OPTION_RULE_TEXT))
		status = choice.count == 1 ? write_text(choice.entries[0]) : many();
	else if (!status)
		status = put_choice(arguments, &choice, choice.count == 1 && pattern);
	alloc_free(choice.entries);
	library_fini(&library);
	return status;
}

static const struct cli_example rules_examples[] = {
	{ "asterism rules", "Lists the shipped rules." },
	{ "asterism rules deadlock", "Shows what @deadlock finds, what it costs and its parameters." },
	{ "asterism rules --text deadlock > own.rule",
	  "Writes its text to a file, to change it into a rule of your own." },
	{ "asterism run @deadlock @long-syscall -p 1234", "Runs both rules over a process." },
	{ NULL, NULL },
};

const struct cli_command cmd_rules = {
	.name = "rules",
	.summary = "list the shipped rules or describe one",
	.operands = "[PATTERN]",
	.operands_max = 1,
	.description =
		"Lists the rules that asterism ships, and what each of them finds. PATTERN is a glob, or a part of a "
		"name. If it selects a single rule, its description, its parameters and the path of its file are "
		"shown.\n\nEvery command that takes a rule FILE also takes @NAME, a shipped rule. @all means all "
		"shipped rules except overviews, templates and rules that need something, such as permission to act "
		"(--allow-actions); the list marks these. @default means the rules of @all that report nothing as long "
		"as all is well. A price of 1.02x means that nginx, under load and observed by the rule, needs 1.02 "
		"times the processor time for a request; a rule without a price was not measured. --set changes a "
		"parameter. Write ./@FILE for a file whose name begins with @.\n\nThe "
		"rules are in the directory that ASTERISM_RULES names, else in asterism/rules in the data directory. "
		"If there is no such directory, the copies that are built into the program are used.",
	.options = { OPTION_FORMAT_EVENTS, OPTION_RULE_TEXT },
	.examples = rules_examples,
	.run = run_rules,
};
