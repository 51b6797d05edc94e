// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides the order of a reading: all files are parsed, then all declarations made, then all rules checked, so that
 * the order of statements and files does not matter. Messages come out at the end, in the order of the text.
 */

#include "lang/parse.h"

#include "lang/check-priv.h"
#include "lang/parser-priv.h"

#include <errno.h>

struct lang_program {
	struct arena *arena;
	struct diag_source *sources;
	struct lang_unit unit;
};

/* What only the reading needs. */
struct reading {
	const struct lang_input *inputs;
	size_t input_count;
	struct lang_program *program;
	struct lang_report report;
	struct lang_check check;
	struct arena *scratch;
	struct lang_syntax_item *items;
	uint32_t rule_count, event_count;
};

const struct lang_unit *lang_program_unit(const struct lang_program *program)
{
	return &program->unit;
}

void lang_program_free(struct lang_program *program)
{
	if (!program)
		return;
	arena_free(program->arena);
	alloc_free(program);
}

static void parse_input(struct reading *reading, size_t index, struct lang_syntax_item ***end)
{
	const struct diag_source *source = &reading->program->sources[index];
	struct lang_parser parser;

	if (!lang_text_check(source, &reading->report))
		return;
	lang_parser_init(&parser, source, reading->scratch, reading->program->arena, &reading->report);
	**end = lang_parse_file(&parser, index);
	while (**end) {
		reading->rule_count += (**end)->kind == LANG_ITEM_RULE;
		reading->event_count += (**end)->kind == LANG_ITEM_EVENT;
		*end = &(**end)->next;
	}
}

static void parse_inputs(struct reading *reading)
{
	struct lang_syntax_item **end = &reading->items;
	struct diag_source *sources = arena_zero(reading->program->arena, reading->input_count, sizeof *sources);

	reading->program->sources = sources;
	if (!sources)
		lang_no_memory(&reading->report);
	for (size_t i = 0; i < reading->input_count && !lang_report_full(&reading->report); i++) {
		const struct lang_input *input = &reading->inputs[i];

		sources[i].file = arena_format(reading->program->arena, "%s", input->file ? input->file : "");
		sources[i].text = input->text;
		sources[i].length = input->length;
		if (!sources[i].file)
			lang_no_memory(&reading->report);
		else
			parse_input(reading, i, &end);
	}
}

static void declare(struct reading *reading)
{
	struct lang_unit *unit = &reading->program->unit;
	struct lang_names *names = lang_names_new(reading->scratch, reading->event_count);

	reading->check.broken_types = lang_names_new(reading->scratch, reading->event_count);
	unit->declared = lang_keep(&reading->check, reading->event_count, sizeof *unit->declared);
	if (!names || !reading->check.broken_types)
		lang_no_memory(&reading->report);
	for (const struct lang_syntax_item *item = reading->items; item; item = item->next) {
		const struct event_type *type = NULL;

		if (lang_report_full(&reading->report))
			return;
		if (item->kind == LANG_ITEM_RULE ||
		    !lang_declare(&reading->check, item, reading->inputs[item->input].folder, &type) || !type)
			continue;
		if (lang_names_add(names, type->name, unit->declared_count) == LANG_NO_NAME)
			unit->declared[unit->declared_count++] = type;
	}
}

static void note_name(struct reading *reading, struct lang_names *names, const struct lang_rule *rule)
{
	uint32_t index = (uint32_t)(rule - reading->program->unit.rules);
	uint32_t other = lang_names_add(names, rule->name, index);

	if (other == LANG_NO_NAME)
		return;
	lang_error(&reading->report, &rule->place, NULL, "two rules are named '%s'", rule->name);
	lang_note(&reading->report, &reading->program->unit.rules[other].place, "the other one is here");
}

static void check_rules(struct reading *reading)
{
	struct lang_unit *unit = &reading->program->unit;
	struct lang_names *names = lang_names_new(reading->scratch, reading->rule_count);

	unit->rules = lang_keep(&reading->check, reading->rule_count, sizeof *unit->rules);
	if (!names)
		lang_no_memory(&reading->report);
	for (const struct lang_syntax_item *item = reading->items; item; item = item->next) {
		if (lang_report_full(&reading->report))
			return;
		if (item->kind != LANG_ITEM_RULE)
			continue;
		struct lang_rule *rule = &unit->rules[unit->rule_count++];

		lang_check_rule(&reading->check, item->rule, rule);
		note_name(reading, names, rule);
	}
}

static void read_all(struct reading *reading, struct event_catalog *catalog)
{
	reading->check = (struct lang_check){
		.report = &reading->report,
		.arena = reading->program->arena,
		.scratch = reading->scratch,
		.catalog = catalog,
	};
	parse_inputs(reading);
	if (!lang_report_full(&reading->report))
		declare(reading);
	if (!lang_report_full(&reading->report))
		check_rules(reading);
}

int lang_read(const struct lang_input *inputs, size_t input_count, struct event_catalog *catalog,
	      struct asterism_diag *diag, struct lang_program **program)
{
	struct reading *reading = alloc_zero(1, sizeof *reading);
	int result = -ENOMEM;

	if (!reading)
		return diag_no_memory(diag);
	reading->inputs = inputs;
	reading->input_count = input_count;
	reading->program = alloc_zero(1, sizeof *reading->program);
	reading->scratch = arena_new();
	if (!reading->program || !(reading->program->arena = arena_new()) || !reading->scratch) {
		diag_no_memory(diag);
		goto out;
	}
	reading->report.arena = reading->scratch;
	reading->report.diag = diag;
	read_all(reading, catalog);
	result = lang_report_flush(&reading->report);
	if (result == 0) {
		*program = reading->program;
		reading->program = NULL;
	}
out:
	lang_program_free(reading->program);
	arena_free(reading->scratch);
	alloc_free(reading);
	return result;
}
