// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parses a catalog of counters. Each begins with a word that says what it is about; those after CLASS declare types of
 * the class, those after a type are about it.
 */

#include "counters/counters-priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *const counters_kind_names[] = { "single", "duration", "multi", "threshold", "gauge", NULL };
const char *const counters_platform_names[] = { "p6", "itanium", "604e", "win2000", "linux24", NULL };
const char *const counters_historic_names[] = { "-", "no", "approximate", "yes", NULL };

struct counters *counters_new(void)
{
	struct counters *counters = alloc_zero(1, sizeof *counters);

	if (counters)
		counters->arena = arena_new();
	if (counters && !counters->arena) {
		alloc_free(counters);
		return NULL;
	}
	return counters;
}

void counters_free(struct counters *counters)
{
	if (!counters)
		return;
	hash_table_fini(&counters->names);
	alloc_free(counters->classes);
	alloc_free(counters->types);
	alloc_free(counters->sources);
	arena_free(counters->arena);
	alloc_free(counters);
}

static uint32_t find_class(const struct counters *counters, const char *name)
{
	for (uint32_t i = 0; i < counters->class_count; i++) {
		if (strcmp(counters->classes[i].name, name) == 0)
			return i;
	}
	return HASH_NONE;
}

static int read_class(struct counter_reading *reading)
{
	struct counters *counters = reading->counters;
	struct counter_class class = { .parent = HASH_NONE };
	const char *start = reading->at, *parent;
	int result = counters_name(reading, "the name of a class", false, &class.name);

	if (result)
		return result;
	if (find_class(counters, class.name) != HASH_NONE) {
		reading->at = start;
		return counters_wrong(reading, NULL, "the class %s already exists", class.name);
	}
	class.is_interface = counters_pass(reading, "INTERFACE");
	class.is_abstract = class.is_interface || counters_pass(reading, "ABSTRACT");
	if (counters_pass(reading, "EXTENDS")) {
		start = reading->at;
		result = counters_name(reading, "the name of a class", false, &parent);
		if (result)
			return result;
		class.parent = find_class(counters, parent);
		if (class.parent == HASH_NONE) {
			reading->at = start;
			return counters_wrong(reading, "a class is declared before those that extend it",
					      "class %s is not declared before this one", parent);
		}
		class.depth = counters->classes[class.parent].depth + 1;
		if (class.depth > COUNTER_DEPTH_MAX)
			return counters_wrong(reading, NULL, "classes are nested more than %d levels deep",
					      COUNTER_DEPTH_MAX);
	}
	if (reading->at < reading->end)
		result = counters_quoted(reading, "what the class is about", &class.doc);
	if (result)
		return result;
	if (counters->class_count == COUNTER_CLASSES_MAX)
		return counters_wrong(reading, NULL, "more than %d classes", COUNTER_CLASSES_MAX);
	if (alloc_grow(&counters->classes, &counters->class_capacity, counters->class_count, sizeof class))
		return diag_no_memory(reading->diag);
	reading->class = (uint32_t)counters->class_count;
	reading->type = HASH_NONE;
	counters->classes[counters->class_count++] = class;
	return 0;
}

/* Adds a type of the class; name is what it is called there. */
static int add_counter_type(struct counter_reading *reading, const char *start, const struct counter_type *type)
{
	struct counters *counters = reading->counters;

	if (counters->type_count == COUNTERS_MAX)
		return counters_wrong(reading, NULL, "more than %d counters", COUNTERS_MAX);
	if (counters_find(counters, type->name)) {
		reading->at = start;
		return counters_wrong(reading, NULL, "the counter %s already exists", type->name);
	}
	if (alloc_grow(&counters->types, &counters->type_capacity, counters->type_count, sizeof *type))
		return diag_no_memory(reading->diag);
	counters->types[counters->type_count] = *type;
	reading->type = (uint32_t)counters->type_count++;
	reading->lines = reading->formulas = 0;
	return counters_add_name(counters, reading->type) ? diag_no_memory(reading->diag) : 0;
}

static int begin_type(struct counter_reading *reading, struct counter_type *type, const char **start)
{
	*start = reading->at;
	if (reading->class == HASH_NONE)
		return counters_wrong(reading, "write CLASS NAME before its counters",
				      "this counter belongs to no class");
	type->class = reading->class;
	type->base = HASH_NONE;
	int result = counters_name(reading, "the name of a counter", false, &type->name);

	type->place = counters_place_of(reading, *start, result ? 1 : strlen(type->name));
	return result;
}

static int read_counter(struct counter_reading *reading)
{
	struct counter_type type = { .unit = "count" };
	const char *start;
	unsigned kind;
	int result = begin_type(reading, &type, &start);

	if (!result)
		result = counters_quoted(reading, "what it counts", &type.doc);
	if (!result && !counters_pass(reading, "KIND"))
		return counters_wrong(reading, NULL, "expected KIND");
	if (!result)
		result = counters_choice(reading, "single, duration, multi, threshold or gauge", counters_kind_names,
					 &kind);
	if (!result)
		type.kind = (enum counter_kind)kind;
	if (!result && counters_pass(reading, "UNIT"))
		result = counters_word(reading, "a unit", &type.unit);
	return result ? result : add_counter_type(reading, start, &type);
}

static int add_formula(struct counter_reading *reading)
{
	struct counter_formula **end = &reading->counters->types[reading->type].formulas, *formula;
	int result;

	if (reading->formulas++ == COUNTER_FORMULAS_MAX)
		return counters_wrong(reading, NULL, "a counter has at most %d formulas", COUNTER_FORMULAS_MAX);
	result = counters_read_formula(reading, &formula);
	if (result)
		return result;
	while (*end)
		end = &(*end)->next;
	*end = formula;
	return 0;
}

static int read_derived(struct counter_reading *reading)
{
	struct counter_type type = { .is_derived = true };
	const char *start;
	int result = begin_type(reading, &type, &start);

	if (!result && reading->at < reading->end && *reading->at == '"')
		result = counters_quoted(reading, "what it is", &type.doc);
	if (!result)
		result = add_counter_type(reading, start, &type);
	return !result && counters_pass(reading, "=") ? add_formula(reading) : result;
}

/* What a class inherits, and has of other sources. */
static int read_inherited(struct counter_reading *reading)
{
	struct counters *counters = reading->counters;
	struct counter_type type = { 0 };
	const char *start;
	uint32_t base, ancestor;
	int result = begin_type(reading, &type, &start);

	if (result)
		return result;
	base = counters_find_in(counters, HASH_NONE, type.name);
	ancestor = counters->classes[reading->class].parent;
	while (base != HASH_NONE && ancestor != HASH_NONE && ancestor != counters->types[base].class)
		ancestor = counters->classes[ancestor].parent;
	if (base == HASH_NONE || ancestor == HASH_NONE) {
		reading->at = start;
		return counters_wrong(reading, NULL, "no class that %s extends has %s",
				      counters->classes[reading->class].name, type.name);
	}
	type.base = base;
	type.name = arena_format(counters->arena, "%s.%s", counters->classes[reading->class].name, type.name);
	return type.name ? add_counter_type(reading, start, &type) : diag_no_memory(reading->diag);
}

static int read_on(struct counter_reading *reading)
{
	struct counter_source **end = &reading->counters->types[reading->type].sources, *source;
	int result;

	if (!counters_pass(reading, "linux:"))
		return counters_wrong(reading, NULL, "expected 'linux:'");
	result = counters_read_source(reading, &source);
	if (result)
		return result;
	while (*end)
		end = &(*end)->next;
	*end = source;
	return 0;
}

static int read_historic(struct counter_reading *reading)
{
	struct counter_type *type = &reading->counters->types[reading->type];
	unsigned platform, state;
	int result;

	do {
		result = counters_choice(reading, "a machine", counters_platform_names, &platform);
		if (!result)
			result =
				counters_choice(reading, "yes, no or approximate", counters_historic_names + 1, &state);
		if (!result)
			type->historic[platform] = (unsigned char)(state + 1);
	} while (!result && reading->at < reading->end && *reading->at == ',' && reading->at++);
	return result;
}

static int read_note(struct counter_reading *reading)
{
	struct counter_note **end = &reading->counters->types[reading->type].notes;
	struct counter_note *note = arena_zero(reading->counters->arena, 1, sizeof *note);

	if (!note)
		return diag_no_memory(reading->diag);
	while (*end)
		end = &(*end)->next;
	*end = note;
	return counters_quoted(reading, "a note", &note->text);
}

static int read_equals(struct counter_reading *reading)
{
	if (!reading->counters->types[reading->type].is_derived)
		return counters_wrong(reading, NULL, "only DERIVED counters have a formula");
	return add_formula(reading);
}

static const struct {
	const char *word;
	int (*read)(struct counter_reading *reading);
	bool needs_type;
} lines[] = {
	{ "CLASS", read_class, false },
	{ "COUNTER", read_counter, false },
	{ "DERIVED", read_derived, false },
	{ "INHERITED", read_inherited, false },
	{ "ON", read_on, true },
	{ "HISTORIC", read_historic, true },
	{ "NOTE", read_note, true },
	{ "=", read_equals, true },
};

static int read_catalog_line(struct counter_reading *reading)
{
	counters_skip_blanks(reading);
	if (reading->at == reading->end || *reading->at == '#')
		return 0;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		int result;

		if (!counters_pass(reading, lines[i].word))
			continue;
		if (lines[i].needs_type && reading->type == HASH_NONE)
			return counters_wrong(reading, NULL, "this line belongs to no counter");
		if (lines[i].needs_type && reading->lines++ == COUNTER_LINES_MAX)
			return counters_wrong(reading, NULL, "a counter has at most %d lines", COUNTER_LINES_MAX);
		result = lines[i].read(reading);
		if (!result && reading->at < reading->end && *reading->at != '#')
			return counters_wrong(reading, NULL, "expected the end of the line");
		return result;
	}
	return counters_wrong(reading, "lines begin with CLASS, COUNTER, DERIVED, INHERITED, ON, HISTORIC, NOTE or =",
			      "cannot parse this line");
}

int counters_read(struct counters *counters, const struct diag_source *source, struct asterism_diag *diag)
{
	struct counter_reading reading = {
		.counters = counters,
		.diag = diag,
		.source = source,
		.class = HASH_NONE,
		.type = HASH_NONE,
	};
	const char *end = source->text + source->length;
	int result = 0;

	if (source->length > COUNTERS_BYTES_MAX)
		return diag_error(diag, NULL, -EINVAL, "%s is larger than %d bytes", source->file, COUNTERS_BYTES_MAX);
	if (alloc_grow(&counters->sources, &counters->source_capacity, counters->source_count, sizeof *source))
		return diag_no_memory(diag);
	reading.source_index = (uint32_t)counters->source_count;
	counters->sources[counters->source_count++] = *source;
	for (const char *line = source->text; !result && line < end; line = reading.end + 1) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));

		reading.line = reading.at = line;
		reading.end = newline ? newline : end;
		reading.number++;
		result = read_catalog_line(&reading);
	}
	return result;
}
