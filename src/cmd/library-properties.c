// SPDX-License-Identifier: BSD-2-Clause
/* Collects what an entry of the library says of its matches: what its rules say, together. */

#include "cmd/library-properties.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "cli/print.h"
#include "cmd/text/json-text.h"
#include "program/query.h"

#include <string.h>

static void add_tag(json_t *tags, const char *text)
{
	const json_t *other;
	size_t i;

	json_array_foreach(tags, i, other) if (strcmp(json_string_value(other), text) == 0) return;
	json_array_append_new(tags, json_text(text));
}

static void add_rule(struct library_properties *to, const struct program *program, const struct program_rule *rule)
{
	if (rule->severity > to->severity)
		to->severity = (enum severity)rule->severity;
	if (!to->description)
		to->description = program_description(program, rule);
	for (uint32_t i = 0; i < rule->tag_count; i++)
		add_tag(to->tags, program_text(program, program_tags(program, rule)[i]));
}

/* Whether the rule stands in the file: it says "file:line". */
static bool is_rule_in_file(const struct program *program, const struct program_rule *rule, const char *file)
{
	const char *place = program_text(program, rule->place);
	size_t length = strlen(file);

	return strncmp(place, file, length) == 0 && place[length] == ':' && !strchr(place + length + 1, '/');
}

static int read_library_rules(const struct library *library, struct session_rules **rules)
{
	struct session_rules_file *files = alloc_zero(library->count, sizeof *files);
	struct asterism_diag *diag = asterism_diag_new();
	const struct session_rules_files wanted = { .files = files, .count = library->count };
	int result = files && diag ? 0 : -1;

	for (size_t i = 0; i < library->count && files; i++)
		files[i] = library->entries[i].rule;
	if (!result)
		result = session_rules_read_files(&wanted, diag, rules);
	if (result)
		cli_warning("cannot read the rules of the library together, so their severity is unknown");
	asterism_diag_free(diag);
	alloc_free(files);
	return result;
}

struct library_properties *library_properties_read(const struct library *library, struct session_rules **rules)
{
	struct library_properties *properties = alloc_zero(library->count + 1, sizeof *properties);
	const struct program *program;

	*rules = NULL;
	for (size_t i = 0; i < library->count && properties; i++)
		properties[i].tags = json_array();
	if (!properties || !library->count || read_library_rules(library, rules))
		return properties;
	program = session_rules_program(*rules);
	for (size_t i = 0; i < library->count; i++)
		for (uint32_t j = 0; j < program->rule_count; j++)
			if (is_rule_in_file(program, &program->rules[j], library->entries[i].rule.path))
				add_rule(&properties[i], program, &program->rules[j]);
	return properties;
}

void library_properties_free(struct library_properties *properties, const struct library *library)
{
	for (size_t i = 0; i < library->count && properties; i++)
		json_decref(properties[i].tags);
	alloc_free(properties);
}
