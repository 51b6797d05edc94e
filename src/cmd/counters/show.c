// SPDX-License-Identifier: BSD-2-Clause
/* `asterism counters list`, --explain, --platform: what the registry says. Texts are from catalogs, which may be
 * anybody's. */

#include "base/text.h"
#include "cli/print.h"
#include "cmd/counters/counters-priv.h"
#include "cmd/options/options.h"
#include "cmd/options/status.h"
#include "cmd/text/json-text.h"

#include <stdio.h>

static void put_behind(const char *before, const char *text)
{
	fputs(before, stdout);
	text_write(stdout, text, TEXT_WORDS);
}

/* From the root on. */
static void put_chain(const struct counters *counters, uint32_t class)
{
	if (counters->classes[class].parent != HASH_NONE) {
		put_chain(counters, counters->classes[class].parent);
		fputs(" > ", stdout);
	}
	put_behind("", counters->classes[class].name);
}

static json_t *chain_json(const struct counters *counters, uint32_t class)
{
	json_t *chain = json_array();

	for (; class != HASH_NONE; class = counters->classes[class].parent)
		json_array_insert_new(chain, 0, json_text(counters->classes[class].name));
	return chain;
}

static json_t *historic_json(const unsigned char *states)
{
	json_t *all = json_object();

	for (unsigned i = 0; i < COUNTER_PLATFORMS; i++) {
		if (states[i])
			json_object_set_new(all, counters_platform_names[i],
					    json_string(counters_historic_names[states[i]]));
	}
	return all;
}

static json_t *type_json(const struct counters *counters, const struct counter_type *type)
{
	json_t *sources = json_array(), *formulas = json_array(), *notes = json_array(), *all;

	for (const struct counter_source *source = type->sources; source; source = source->next)
		json_array_append_new(sources, json_pack("{s:o,s:o}", "source", json_text(source->text), "approximates",
							 json_text(source->approximates)));
	for (const struct counter_formula *formula = type->formulas; formula; formula = formula->next)
		json_array_append_new(formulas, json_text(formula->text));
	for (const struct counter_note *note = type->notes; note; note = note->next)
		json_array_append_new(notes, json_text(note->text));
	all = json_pack("{s:o,s:o,s:b,s:b,s:s,s:o,s:o}", "name", json_text(type->name), "classes",
			chain_json(counters, type->class), "derived", type->is_derived, "inherited",
			type->base != HASH_NONE, "kind", counters_kind_names[type->kind], "unit", json_text(type->unit),
			"meaning", json_text(type->doc));
	json_object_set_new(all, "sources", sources);
	json_object_set_new(all, "formulas", formulas);
	json_object_set_new(all, "printed", historic_json(type->historic));
	if (type->is_derived)
		json_object_set_new(all, "computed", historic_json(type->computed));
	json_object_set_new(all, "notes", notes);
	return all;
}

static void put_class(const struct counters *counters, uint32_t class)
{
	const char *doc = counters->classes[class].doc;

	putchar('\n');
	put_chain(counters, class);
	if (doc)
		put_behind(": ", doc);
	putchar('\n');
}

static void put_counter_row(const struct counter_type *type)
{
	printf("  %-44s %-9s ", type->name, type->is_ratio ? "ratio" : counters_kind_names[type->kind]);
	put_behind(type->is_derived ? "= " : "  ", type->doc ? type->doc : "");
	putchar('\n');
}

int counters_list(const struct cli_arguments *arguments, const struct counters *counters)
{
	size_t counted = 0, derived = 0, inherited = 0;
	json_t *all = json_array();

	for (uint32_t class = 0; class < counters->class_count; class ++) {
		bool has_head = counters_want_json(arguments);

		for (uint32_t i = 0; i < counters->type_count; i++) {
			const struct counter_type *type = &counters->types[i];

			if (type->class != class)
				continue;
			*(type->base != HASH_NONE ? &inherited : type->is_derived ? &derived : &counted) += 1;
			if (counters_want_json(arguments)) {
				json_array_append_new(all, type_json(counters, type));
				continue;
			}
			if (!has_head)
				put_class(counters, class);
			has_head = true;
			put_counter_row(type);
		}
	}
	if (counters_want_json(arguments)) {
		json_text_put(json_pack("{s:I,s:I,s:I,s:O}", "counted", (json_int_t)counted, "derived",
					(json_int_t)derived, "inherited", (json_int_t)inherited, "counters", all));
	} else {
		printf("\n%zu types are counted, %zu derived from them (=), and %zu inherited\n", counted, derived,
		       inherited);
	}
	json_decref(all);
	return STATUS_FINE;
}

static void put_sources(const char *label, const struct counter_type *type)
{
	for (const struct counter_source *source = type->sources; source; source = source->next) {
		printf("%-9s ", label);
		put_behind("", source->text);
		if (source->approximates)
			put_behind(", approximately: ", source->approximates);
		putchar('\n');
	}
}

static void put_counter_states(const char *label, const unsigned char *states)
{
	bool is_first = true;

	for (unsigned i = 0; i < COUNTER_PLATFORMS; i++) {
		if (!states[i])
			continue;
		if (is_first)
			printf("%-9s ", label);
		printf("%s%s %s", is_first ? "" : ", ", counters_platform_names[i], counters_historic_names[states[i]]);
		is_first = false;
	}
	if (!is_first)
		putchar('\n');
}

static void put_formula(const struct counters *counters, const struct counter_formula *formula)
{
	put_behind("formula   ", formula->text);
	putchar('\n');
	for (uint32_t i = 0; i < formula->count; i++) {
		const struct counter_type *operand;

		if (formula->steps[i].op != COUNTER_OPERAND)
			continue;
		operand = &counters->types[formula->steps[i].type];
		printf("          %s: ", operand->name);
		put_behind("", operand->doc ? operand->doc : "");
		putchar('\n');
	}
}

static void put_counter_type(const struct counters *counters, const struct counter_type *type)
{
	put_behind("", type->name);
	put_behind(": ", type->doc ? type->doc : "");
	fputs("\nclass     ", stdout);
	put_chain(counters, type->class);
	if (type->base != HASH_NONE)
		put_behind(", which inherits it from ", counters->classes[counters->types[type->base].class].name);
	printf("\nkind      %s%s\n", type->is_derived ? "derived, " : "",
	       type->is_ratio ? "a ratio" : counters_kind_names[type->kind]);
	put_behind("unit      ", type->unit);
	putchar('\n');
	put_sources("here", type);
	if (!type->sources)
		puts(type->is_derived ? "here      by its formula" : "here      no source is known");
	for (const struct counter_formula *formula = type->formulas; formula; formula = formula->next)
		put_formula(counters, formula);
	put_counter_states("printed", type->historic);
	if (type->is_derived)
		put_counter_states("computed", type->computed);
	for (const struct counter_note *note = type->notes; note; note = note->next) {
		put_behind("note      ", note->text);
		putchar('\n');
	}
}

int counters_explain(const struct cli_arguments *arguments, const struct counters *counters)
{
	const struct counter_type *type = counters_wanted(counters, arguments->options[OPTION_EXPLAIN].text);

	if (!type)
		return STATUS_USAGE;
	if (counters_want_json(arguments))
		json_text_put(type_json(counters, type));
	else
		put_counter_type(counters, type);
	return STATUS_FINE;
}

int counters_platform(const struct cli_arguments *arguments, const struct counters *counters)
{
	unsigned platform = (unsigned)arguments->options[OPTION_PLATFORM].number;
	size_t stated = 0, there = 0, differing = 0;
	json_t *all = json_array();

	if (!counters_want_json(arguments))
		printf("%-46s %-12s %s\n", "", "printed", "computed");
	for (uint32_t i = 0; i < counters->type_count; i++) {
		const struct counter_type *type = &counters->types[i];
		unsigned printed = type->historic[platform], computed = type->computed[platform];
		bool differs = type->is_derived && printed && computed && printed != computed;

		if (!printed && !computed)
			continue;
		stated++;
		there += (printed ? printed : computed) > COUNTER_NO;
		differing += differs;
		if (counters_want_json(arguments)) {
			json_array_append_new(
				all, json_pack("{s:o,s:s?,s:s?,s:b}", "name", json_text(type->name), "printed",
					       printed ? counters_historic_names[printed] : NULL, "computed",
					       type->is_derived && computed ? counters_historic_names[computed] : NULL,
					       "differs", differs));
			continue;
		}
		if (type->is_derived)
			printf("%-46s %-12s %s%s\n", type->name, counters_historic_names[printed],
			       counters_historic_names[computed], differs ? "  differs" : "");
		else
			printf("%-46s %s\n", type->name, counters_historic_names[printed]);
	}
	if (counters_want_json(arguments))
		json_text_put(json_pack("{s:s,s:O}", "platform", counters_platform_names[platform], "counters", all));
	else
		printf("%zu of %zu types are there; %zu derived ones are printed otherwise than their operands say\n",
		       there, stated, differing);
	json_decref(all);
	return STATUS_FINE;
}
