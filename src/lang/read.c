// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads rule files in three steps: all files are parsed, then all declarations made, then all rules and machines
 * checked, so that the order of statements and files does not matter. Messages come out at the end, in the order of the
 * text.
 */

#include "lang/parse.h"

#include "lang/check/check-priv.h"
#include "lang/parse/except-priv.h"
#include "lang/parse/params-priv.h"
#include "lang/parse/parser-priv.h"
#include "lang/syntax/ast-machine.h"
#include "lang/syntax/syntax-machine.h"

#include <errno.h>
#include <string.h>

struct lang_program {
	struct arena *arena;
	struct diag_source *sources;
	struct lang_unit unit;
};

/* What only the reading needs. */
struct reading {
	const struct lang_input *inputs;
	size_t input_count;
	const struct lang_setting *settings;
	size_t setting_count;
	const struct lang_input *exceptions;
	size_t exception_count;
	bool wants_events;
	struct lang_params *params; /* of each input */
	struct lang_program *program;
	struct lang_report report;
	struct lang_check check;
	struct arena *scratch;
	struct lang_syntax_item *items;
	uint32_t rule_count, machine_count, event_count;
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

/* The source number index as the text of a file or setting; false: it is none, which is told. */
static bool add_source(struct reading *reading, size_t index, const char *file, const char *text, size_t length)
{
	struct diag_source *source = &reading->program->sources[index];

	source->file = arena_format(reading->program->arena, "%s", file ? file : "");
	if (!source->file) {
		lang_no_memory(&reading->report);
		return false;
	}
	source->text = text;
	source->length = length;
	return lang_text_check(source, "a rule file is UTF-8 text", &reading->report);
}

static void parse_input(struct reading *reading, size_t index, struct lang_syntax_item ***end)
{
	struct lang_parser parser;

	lang_parser_init(&parser, &reading->program->sources[index], reading->scratch, reading->program->arena,
			 &reading->report);
	parser.params = &reading->params[index];
	parser.bare_rule = reading->inputs[index].bare_rule;
	**end = lang_parse_file(&parser, index);
	while (**end) {
		reading->rule_count += (**end)->kind == LANG_ITEM_RULE;
		reading->machine_count += (**end)->kind == LANG_ITEM_MACHINE;
		reading->event_count += (**end)->kind == LANG_ITEM_EVENT;
		*end = &(**end)->next;
	}
}

static void set_params(struct reading *reading)
{
	const struct lang_params_of_all all = { .files = reading->params,
						.count = reading->input_count,
						.arena = reading->program->arena,
						.scratch = reading->scratch,
						.report = &reading->report };

	for (size_t i = 0; i < reading->setting_count && !lang_report_full(&reading->report); i++) {
		const struct lang_setting *setting = &reading->settings[i];
		size_t index = reading->input_count + i;
		const char *text = setting->line.file ? setting->line.text
						      : arena_format(reading->program->arena, "%s=%s", setting->name,
								     setting->text);

		if (!text)
			lang_no_memory(&reading->report);
		else if (add_source(reading, index, setting->line.file ? setting->line.file : "--set", text,
				    strlen(text)))
			lang_params_set(&all, setting, &reading->program->sources[index]);
	}
}

static void list_params(struct reading *reading)
{
	struct lang_unit *unit = &reading->program->unit;
	size_t count = 0;

	for (size_t i = 0; i < reading->input_count; i++)
		count += reading->params[i].count;
	unit->parameters = lang_keep(&reading->check, count, sizeof *unit->parameters);
	for (size_t i = 0; i < reading->input_count && unit->parameters; i++) {
		for (const struct lang_param *at = reading->params[i].first; at; at = at->next)
			unit->parameters[unit->parameter_count++] =
				(struct lang_parameter){ .name = at->name,
							 .file = reading->params[i].file,
							 .location = at->location,
							 .text = at->text,
							 .default_text = at->default_text };
	}
}

static void parse_exceptions(struct reading *reading)
{
	const struct lang_parser like = { .report = &reading->report,
					  .scratch = reading->scratch,
					  .arena = reading->program->arena };
	struct lang_syntax_exception **end = &reading->check.exceptions;

	for (size_t i = 0; i < reading->exception_count && !lang_report_full(&reading->report); i++) {
		const struct lang_input *file = &reading->exceptions[i];
		size_t index = reading->input_count + reading->setting_count + i;

		if (add_source(reading, index, file->file, file->text, file->length))
			lang_parse_exceptions(&like, &reading->program->sources[index], &end);
	}
}

static void parse_inputs(struct reading *reading)
{
	struct lang_syntax_item **end = &reading->items;
	struct lang_report *report = &reading->report;
	bool *is_text = arena_zero(reading->scratch, reading->input_count, sizeof *is_text);

	reading->program->sources = arena_zero(reading->program->arena,
					       reading->input_count + reading->setting_count + reading->exception_count,
					       sizeof *reading->program->sources);
	reading->params = arena_zero(reading->scratch, reading->input_count, sizeof *reading->params);
	if (!reading->program->sources || !is_text || !reading->params) {
		lang_no_memory(report);
		return;
	}
	for (size_t i = 0; i < reading->input_count && !lang_report_full(report); i++) {
		const struct lang_input *input = &reading->inputs[i];

		reading->params[i] =
			(struct lang_params){ .arena = reading->program->arena, .report = &reading->report };
		is_text[i] = add_source(reading, i, input->file, input->text, input->length);
		if (is_text[i])
			lang_params_collect(&reading->params[i], &reading->program->sources[i], reading->scratch);
	}
	set_params(reading);
	for (size_t i = 0; i < reading->input_count && !lang_report_full(report); i++) {
		if (is_text[i])
			parse_input(reading, i, &end);
	}
	list_params(reading);
	parse_exceptions(reading);
}

static void declare_types(struct reading *reading)
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
		if ((item->kind != LANG_ITEM_EVENT && item->kind != LANG_ITEM_EVENTS) ||
		    !lang_declare(&reading->check, item, reading->inputs[item->input].folder, &type) || !type)
			continue;
		if (lang_names_add(names, type->name, unit->declared_count) == LANG_NO_NAME)
			unit->declared[unit->declared_count++] = type;
	}
}

static void note_name(struct reading *reading, struct lang_names *names, const struct lang_syntax_item *item)
{
	bool is_rule = item->kind == LANG_ITEM_RULE;
	const struct lang_word *word = is_rule ? &item->rule->name : &item->machine->name;
	const struct lang_unit *unit = &reading->program->unit;
	uint32_t index = is_rule ? unit->rule_count - 1 : reading->rule_count + unit->machine_count - 1;
	uint32_t other = lang_names_add(names, word->text, index);

	if (other == LANG_NO_NAME)
		return;
	bool both = is_rule == (other < reading->rule_count);

	lang_error(&reading->report, &word->location, NULL, "%s are named '%s'",
		   !both     ? "a rule and a machine"
		   : is_rule ? "two rules"
			     : "two machines",
		   word->text);
	lang_note(&reading->report,
		  other < reading->rule_count ? &unit->rules[other].location
					      : &unit->machines[other - reading->rule_count].location,
		  "the other one is here");
}

static void check_machine(struct reading *reading, const struct lang_syntax_machine *syntax)
{
	struct lang_unit *unit = &reading->program->unit;
	struct lang_machine *machine = &unit->machines[unit->machine_count++];

	lang_check_machine(&reading->check, syntax, machine);
	machine->rules_before = unit->rule_count;
}

static void check_items(struct reading *reading)
{
	struct lang_unit *unit = &reading->program->unit;
	struct lang_names *names = lang_names_new(reading->scratch, reading->rule_count + reading->machine_count);

	unit->rules = lang_keep(&reading->check, reading->rule_count, sizeof *unit->rules);
	unit->machines = lang_keep(&reading->check, reading->machine_count, sizeof *unit->machines);
	if (!names)
		lang_no_memory(&reading->report);
	for (const struct lang_syntax_item *item = reading->items; item; item = item->next) {
		if (lang_report_full(&reading->report))
			return;
		if (item->kind == LANG_ITEM_RULE)
			lang_check_rule(&reading->check, item->rule, &unit->rules[unit->rule_count++]);
		else if (item->kind == LANG_ITEM_MACHINE)
			check_machine(reading, item->machine);
		else
			continue;
		note_name(reading, names, item);
	}
	lang_check_exceptions_taken(&reading->check);
	unit->host_name = reading->check.host_name;
}

static void read_program(struct reading *reading, struct event_catalog *catalog)
{
	reading->check = (struct lang_check){
		.report = &reading->report,
		.arena = reading->program->arena,
		.scratch = reading->scratch,
		.catalog = catalog,
		.unit = &reading->program->unit,
		.wants_events = reading->wants_events,
	};
	parse_inputs(reading);
	if (!lang_report_full(&reading->report))
		declare_types(reading);
	if (!lang_report_full(&reading->report))
		check_items(reading);
}

int lang_read(const struct lang_input *inputs, size_t input_count, struct event_catalog *catalog,
	      struct asterism_diag *diag, struct lang_program **program)
{
	return lang_read_with(&(struct lang_sources){ .inputs = inputs, .input_count = input_count }, catalog, diag,
			      program);
}

int lang_read_with(const struct lang_sources *sources, struct event_catalog *catalog, struct asterism_diag *diag,
		   struct lang_program **program)
{
	struct reading *reading = alloc_zero(1, sizeof *reading);
	int result = -ENOMEM;

	if (!reading)
		return diag_no_memory(diag);
	reading->inputs = sources->inputs;
	reading->input_count = sources->input_count;
	reading->settings = sources->settings;
	reading->setting_count = sources->setting_count;
	reading->exceptions = sources->exceptions;
	reading->exception_count = sources->exception_count;
	reading->wants_events = sources->wants_events;
	reading->program = alloc_zero(1, sizeof *reading->program);
	reading->scratch = arena_new();
	if (!reading->program || !(reading->program->arena = arena_new()) || !reading->scratch) {
		diag_no_memory(diag);
		goto out;
	}
	reading->report.arena = reading->scratch;
	reading->report.diag = diag;
	read_program(reading, catalog);
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
