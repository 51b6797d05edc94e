// SPDX-License-Identifier: BSD-2-Clause
/* Resolves names in a derived type: fields of the types it is made from, of itself, of earlier records. */

#include "desl/check-priv.h"

#include <string.h>

static bool is_type_before(const struct desl_reading *reading, const struct desl_type *wanted)
{
	const struct desl_type *type = reading->program->types;

	while (type && type != wanted && type != reading->type)
		type = type->next;
	return wanted && type == wanted && wanted != reading->type;
}

/* The source of that name; a type that was declared before becomes one. -1: there is none. */
static int find_source(struct desl_reading *reading, const struct desl_word *name)
{
	struct desl_type *type = reading->type, *of;

	for (unsigned i = 0; i < type->source_count; i++) {
		if (strcmp(type->sources[i].name.text, name->text) == 0)
			return (int)i;
	}
	of = desl_find_type(reading->program, name->text);
	if (!is_type_before(reading, of))
		return -1;
	if (type->source_count == DESL_SOURCES_MAX) {
		lang_error(reading->report, &name->location, "derive it in two steps",
			   "a type can be derived from at most %d others", DESL_SOURCES_MAX);
		return -1;
	}
	type->sources[type->source_count].name = *name;
	type->sources[type->source_count].type = of;
	return (int)type->source_count++;
}

static bool unknown_type(struct desl_reading *reading, const struct desl_word *name)
{
	const char *names[DESL_SOURCES_MAX + 256], *nearest;
	size_t count = 0;

	for (; count < reading->type->source_count; count++)
		names[count] = reading->type->sources[count].name.text;
	for (const struct desl_type *type = reading->program->types;
	     type && type != reading->type && count < sizeof names / sizeof *names; type = type->next)
		names[count++] = type->name.text;
	nearest = diag_nearest(name->text, names, count);
	lang_error(reading->report, &name->location,
		   nearest ? lang_hint(reading->report, "did you mean '%s'?", nearest)
			   : "a type is declared before it is used, in input or heuristics",
		   "no event type '%s' is declared before this", name->text);
	return false;
}

static bool unknown_field(struct desl_reading *reading, const struct desl_type *type, const struct desl_word *name)
{
	const char *names[DESL_FIELDS_MAX], *nearest, *hint;

	for (unsigned i = 0; i < type->field_count; i++)
		names[i] = type->fields[i].name.text;
	nearest = diag_nearest(name->text, names, type->field_count);
	if (nearest)
		hint = lang_hint(reading->report, "did you mean '%s'?", nearest);
	else if (type->is_input)
		hint = lang_hint(reading->report, "declare it in '%s', if its file has it", type->name.text);
	else
		hint = lang_hint(reading->report, "a field of another type is written type.%s", name->text);
	lang_error(reading->report, &name->location, hint, "'%s' has no field '%s'", type->name.text, name->text);
	return false;
}

/* A field of the type itself, or of records of it that were made before. */
static bool resolve_own(struct desl_reading *reading, struct desl_expr *expr, bool is_earlier)
{
	int column = desl_find_field(reading->type, expr->name.text);

	if (column < 0)
		return unknown_field(reading, reading->type, &expr->name);
	expr->op = is_earlier ? DESL_EARLIER : DESL_OWN;
	expr->column = (unsigned)column;
	return true;
}

static bool is_itself(const struct desl_reading *reading, const char *name)
{
	const struct desl_type *type = reading->type;

	for (unsigned i = 0; i < type->field_count; i++) {
		if (type->fields[i].self.text && strcmp(type->fields[i].self.text, name) == 0)
			return true;
	}
	return strcmp(type->name.text, name) == 0;
}

static bool resolve_name(struct desl_reading *reading, struct desl_expr *expr, bool is_self)
{
	struct desl_type *type = reading->type;
	int source, column;

	if (!expr->qualifier.text) {
		column = desl_find_field(type, expr->name.text);
		return resolve_own(reading, expr, is_self && column >= 0 && type->is_referenced[column]);
	}
	if (is_itself(reading, expr->qualifier.text))
		return resolve_own(reading, expr, true);
	source = find_source(reading, &expr->qualifier);
	if (source < 0 && desl_repair(reading, DESL_QUIRK_TYPE_NAME, expr))
		source = find_source(reading, &expr->qualifier);
	if (source < 0)
		return unknown_type(reading, &expr->qualifier);
	column = desl_find_field(type->sources[source].type, expr->name.text);
	if (column < 0 && desl_repair(reading, DESL_QUIRK_FIELD_NAME, expr))
		column = desl_find_field(type->sources[source].type, expr->name.text);
	if (column < 0)
		return unknown_field(reading, type->sources[source].type, &expr->name);
	expr->op = DESL_COLUMN;
	expr->source = (unsigned)source;
	expr->column = (unsigned)column;
	return true;
}

/* is_self: in the filter of a field with selfreference. */
static bool resolve_expr(struct desl_reading *reading, struct desl_expr *expr, bool is_self)
{
	bool is_fine = true;

	if (expr->op == DESL_NAME)
		return resolve_name(reading, expr, is_self);
	if (expr->op == DESL_RUN) {
		if (is_type_before(reading, desl_find_type(reading->program, expr->name.text)))
			return true;
		return unknown_type(reading, &expr->name);
	}
	if (expr->op == DESL_REFERENCE && !is_itself(reading, expr->qualifier.text)) {
		struct desl_expr name = *expr;

		if (!resolve_name(reading, &name, false))
			return false;
		expr->source = name.source;
		expr->column = name.column;
	}
	for (struct desl_expr *operand = expr->operands; operand; operand = operand->next)
		is_fine = resolve_expr(reading, operand, is_self) && is_fine;
	return is_fine;
}

/* Notes which fields of earlier records are asked for, as filters depend on it. */
static bool note_references(struct desl_reading *reading, struct desl_expr *expr)
{
	struct desl_type *type = reading->type;
	bool is_fine = true;

	if (expr->op == DESL_REFERENCE && is_itself(reading, expr->qualifier.text)) {
		int column = desl_find_field(type, expr->name.text);

		if (column < 0)
			return unknown_field(reading, type, &expr->name);
		expr->source = DESL_SOURCES_MAX;
		expr->column = (unsigned)column;
		type->is_referenced[column] = true;
		type->has_earlier_default[column] = expr->has_default;
		type->earlier_defaults[column] = expr->number;
		type->reference_ends[column] = expr->relation_end;
	}
	for (struct desl_expr *operand = expr->operands; operand; operand = operand->next)
		is_fine = note_references(reading, operand) && is_fine;
	return is_fine;
}

/* none: the field of the same name, unfiltered. */
static bool resolve_none(struct desl_reading *reading, const struct desl_field *field, struct desl_expr *expr)
{
	struct desl_type *type = reading->type;

	for (unsigned i = 0; i < type->source_count; i++) {
		int column = desl_find_field(type->sources[i].type, field->name.text);

		if (column < 0)
			continue;
		expr->op = DESL_COLUMN;
		expr->source = i;
		expr->column = (unsigned)column;
		return true;
	}
	lang_error(reading->report, &field->name.location, "write type.field",
		   "none of the types that '%s' is derived from has a field '%s'", type->name.text, field->name.text);
	return false;
}

/* A field of the type that is one of a source stands for it. */
static void follow_field(const struct desl_type *type, struct desl_expr *expr)
{
	for (unsigned i = 0; i < DESL_FIELDS_MAX && expr->op == DESL_OWN; i++) {
		const struct desl_expr *filter = type->fields[expr->column].filter;

		if (!filter || (filter->op != DESL_OWN && filter->op != DESL_COLUMN))
			break;
		expr->op = filter->op;
		expr->source = filter->source;
		expr->column = filter->column;
	}
	for (struct desl_expr *operand = expr->operands; operand; operand = operand->next)
		follow_field(type, operand);
}

static bool resolve_groups(struct desl_reading *reading)
{
	bool is_fine = true;

	for (struct desl_expr *group = reading->type->groups; group; group = group->next) {
		if (!group->qualifier.text)
			desl_repair(reading, DESL_QUIRK_GROUP, group);
		is_fine = resolve_expr(reading, group, false) && is_fine;
		follow_field(reading->type, group);
	}
	return is_fine;
}

/* A condition of advice knows the finished record alone. */
static bool resolve_finished(struct desl_reading *reading, struct desl_expr *expr)
{
	bool is_fine = true;

	if (expr->op == DESL_NAME && expr->qualifier.text &&
	    strcmp(expr->qualifier.text, reading->type->name.text) != 0) {
		lang_error(reading->report, &expr->location, "give the type a field for it",
			   "advice can only use fields of '%s'", reading->type->name.text);
		return false;
	}
	if (expr->op == DESL_NAME)
		return resolve_own(reading, expr, false);
	if (desl_is_aggregate(expr->op) || expr->op == DESL_REFERENCE || expr->op == DESL_RUN) {
		lang_error(reading->report, &expr->location, "give the type a field for it",
			   "advice uses finished records: it cannot sum, refer to or run anything");
		return false;
	}
	for (struct desl_expr *operand = expr->operands; operand; operand = operand->next)
		is_fine = resolve_finished(reading, operand) && is_fine;
	return is_fine;
}

/* Names in braces. */
static bool check_text(struct desl_reading *reading, const struct desl_word *text)
{
	for (const char *at = strchr(text->text, '{'); at; at = strchr(at + 1, '{')) {
		size_t length = strcspn(at + 1, "}");
		struct desl_word name = { arena_text(reading->program->arena, at + 1, length), text->location };

		if (!name.text) {
			lang_no_memory(reading->report);
			return false;
		}
		if (!at[length + 1]) {
			lang_error(reading->report, &text->location, "a field's value is written {name}",
				   "a brace is not closed");
			return false;
		}
		if (desl_find_field(reading->type, name.text) < 0)
			return unknown_field(reading, reading->type, &name);
	}
	return true;
}

bool desl_resolve_advice(struct desl_reading *reading)
{
	struct desl_type *type = reading->type;
	int column = desl_find_field(type, "advice");
	bool is_fine = true;

	if (type->advices && column >= 0) {
		lang_error(reading->report, &type->fields[column].name.location, "give the field another name",
			   "'%s' has advice, and a field of that name", type->name.text);
		return false;
	}
	for (struct desl_advice *advice = type->advices; advice; advice = advice->next)
		is_fine = resolve_finished(reading, advice->condition) && check_text(reading, &advice->text) && is_fine;
	return is_fine;
}

bool desl_resolve(struct desl_reading *reading)
{
	struct desl_type *type = reading->type;
	bool is_fine = true;

	for (struct desl_expr *constraint = type->constraints; constraint; constraint = constraint->next)
		is_fine = note_references(reading, constraint) && is_fine;
	for (unsigned i = 0; i < type->field_count; i++) {
		struct desl_field *field = &type->fields[i];

		if (!field->filter)
			is_fine = false;
		else if (field->filter->op != DESL_NONE)
			is_fine = resolve_expr(reading, field->filter, field->self.text) && is_fine;
	}
	for (struct desl_expr *constraint = type->constraints; constraint; constraint = constraint->next)
		is_fine = resolve_expr(reading, constraint, false) && is_fine;
	for (unsigned i = 0; i < type->field_count; i++) {
		if (type->fields[i].filter && type->fields[i].filter->op == DESL_NONE)
			is_fine = resolve_none(reading, &type->fields[i], type->fields[i].filter) && is_fine;
	}
	is_fine = is_fine && resolve_groups(reading);
	if (!is_fine)
		return false;
	for (unsigned i = 0; i < type->field_count; i++)
		follow_field(type, type->fields[i].filter);
	for (struct desl_expr *constraint = type->constraints; constraint; constraint = constraint->next)
		follow_field(type, constraint);
	return true;
}
