// SPDX-License-Identifier: BSD-2-Clause
/* Finds what aggregates are over, whether records are grouped by what is beside them, and which records @ lists. */

#include "desl/check-priv.h"

#include <string.h>

enum { AGGREGATES_MAX = 64 };

static bool add_aggregate(struct desl_reading *reading, struct desl_expr *expr)
{
	struct desl_type *type = reading->type;

	if (desl_has(expr->operands, DESL_AVG, DESL_NUM)) {
		lang_error(reading->report, &expr->location, "derive the inner one in a type of its own",
			   "an aggregate of an aggregate");
		return false;
	}
	if (type->aggregate_count == AGGREGATES_MAX) {
		lang_error(reading->report, &expr->location, NULL, "a type has at most %d aggregates", AGGREGATES_MAX);
		return false;
	}
	expr->slot = type->aggregate_count;
	type->aggregates[type->aggregate_count++] = expr;
	return true;
}

/* Finds aggregates; those over earlier records are none of the type's. */
static bool collect_groups(struct desl_reading *reading, struct desl_expr *expr)
{
	if (desl_is_aggregate(expr->op) && desl_has(expr->operands, DESL_EARLIER, DESL_EARLIER)) {
		expr->slot = UINT32_MAX;
		return true;
	}
	if (desl_is_aggregate(expr->op))
		return add_aggregate(reading, expr);
	for (struct desl_expr *operand = expr->operands; operand; operand = operand->next) {
		if (!collect_groups(reading, operand))
			return false;
	}
	return true;
}

static bool is_same_column(const struct desl_expr *a, const struct desl_expr *b)
{
	return a->op == b->op && a->column == b->column && (a->op == DESL_OWN || a->source == b->source);
}

/* Columns that the constraint makes equal to those of reached get in there, too. */
static void spread(const struct desl_type *type, bool reached[DESL_SOURCES_MAX][DESL_FIELDS_MAX])
{
	for (bool changed = true; changed;) {
		changed = false;
		for (unsigned i = 0; i < type->conjunct_count; i++) {
			const struct desl_expr *a = type->conjuncts[i]->operands, *b = a ? a->next : NULL;

			if (type->conjuncts[i]->op != DESL_EQ || a->op != DESL_COLUMN || b->op != DESL_COLUMN ||
			    reached[a->source][a->column] == reached[b->source][b->column])
				continue;
			reached[a->source][a->column] = reached[b->source][b->column] = true;
			changed = true;
		}
	}
}

/* Whether the value is the same in all of a group. */
static bool is_covered(const struct desl_type *type, const struct desl_expr *expr,
		       bool reached[DESL_SOURCES_MAX][DESL_FIELDS_MAX])
{
	for (const struct desl_expr *group = type->groups; group; group = group->next) {
		if (is_same_column(group, expr))
			return true;
	}
	if (expr->op == DESL_COLUMN)
		return reached[expr->source][expr->column];
	if (desl_is_aggregate(expr->op))
		return true;
	if (expr->op == DESL_OWN)
		return is_covered(type, type->fields[expr->column].filter, reached);
	for (const struct desl_expr *operand = expr->operands; operand; operand = operand->next) {
		if (!is_covered(type, operand, reached))
			return false;
	}
	return true;
}

static bool check_covered(struct desl_reading *reading)
{
	struct desl_type *type = reading->type;
	bool reached[DESL_SOURCES_MAX][DESL_FIELDS_MAX] = { { false } };
	bool is_fine = true;

	for (const struct desl_expr *group = type->groups; group; group = group->next) {
		if (group->op == DESL_COLUMN)
			reached[group->source][group->column] = true;
	}
	spread(type, reached);
	for (unsigned i = 0; i < type->field_count; i++) {
		const struct desl_field *field = &type->fields[i];

		if (field->filter->op == DESL_LIST_OF || is_covered(type, field->filter, reached))
			continue;
		lang_error(reading->report, &field->filter->location,
			   field->filter->qualifier.text
				   ? lang_hint(reading->report, "add: group by %s.%s;", field->filter->qualifier.text,
					       field->filter->name.text)
				   : "aggregate it, or add it to 'group by'",
			   "the field '%s' is neither aggregated nor grouped by", field->name.text);
		is_fine = false;
	}
	return is_fine;
}

/* Notes the columns that are needed besides what aggregates over one source take. */
static void note_used(struct desl_type *type, const struct desl_expr *expr)
{
	if (expr->op == DESL_COLUMN)
		type->sources[expr->source].used[expr->column] = true;
	if (desl_is_aggregate(expr->op) && __builtin_popcount(desl_sources_of(type, expr)) == 1)
		return;
	for (const struct desl_expr *operand = expr->operands; operand; operand = operand->next)
		note_used(type, operand);
}

static void note_all_used(struct desl_type *type)
{
	for (unsigned i = 0; i < type->field_count; i++) {
		const struct desl_expr *filter = type->fields[i].filter;

		note_used(type, filter->op == DESL_LIST_OF ? filter->operands->operands->next : filter);
	}
	for (unsigned i = 0; i < type->conjunct_count; i++)
		note_used(type, type->conjuncts[i]);
	for (const struct desl_expr *group = type->groups; group; group = group->next)
		note_used(type, group);
	if (type->earlier_key)
		note_used(type, type->earlier_key);
	for (unsigned i = 0; i < type->source_count; i++) {
		if (type->sources[i].optional)
			note_used(type, type->sources[i].optional);
	}
}

/* @rel(x, a): x is of records that are only listed. */
static bool check_lists(struct desl_reading *reading)
{
	struct desl_type *type = reading->type;

	for (unsigned i = 0; i < type->field_count; i++) {
		const struct desl_expr *filter = type->fields[i].filter, *x, *a;

		if (filter->op != DESL_LIST_OF)
			continue;
		x = filter->operands->operands;
		a = x->next;
		if (x->op != DESL_COLUMN || desl_sources_of(type, a) & UINT32_C(1) << x->source ||
		    desl_has(a, DESL_AVG, DESL_NUM)) {
			lang_error(reading->report, &filter->operands->location,
				   "the first value is a field of what is listed, the second one is not",
				   "it is not clear which records are listed");
			return false;
		}
		type->sources[x->source].is_listed = true;
	}
	for (unsigned i = 0; i < type->source_count; i++) {
		const struct desl_source *source = &type->sources[i];
		bool is_used = source->optional;

		for (unsigned j = 0; j < source->type->field_count; j++)
			is_used = is_used || source->used[j];
		if (!source->is_listed || !is_used)
			continue;
		lang_error(reading->report, &source->name.location, "give what is listed a name of its own",
			   "records of '%s' are both listed and combined", source->name.text);
		return false;
	}
	return true;
}

static bool check_sources(struct desl_reading *reading)
{
	struct desl_type *type = reading->type;
	unsigned joined = 0;

	for (unsigned i = 0; i < type->source_count; i++)
		joined += !type->sources[i].is_listed && !type->sources[i].optional;
	if (joined)
		return true;
	lang_error(reading->report, &type->name.location, "write: Number x = num(type.field);",
		   "'%s' is not derived from another type", type->name.text);
	return false;
}

bool desl_check_groups(struct desl_reading *reading)
{
	struct desl_type *type = reading->type;

	type->aggregates = arena_zero(reading->program->arena, AGGREGATES_MAX, sizeof *type->aggregates);
	if (!type->aggregates) {
		lang_no_memory(reading->report);
		return false;
	}
	for (unsigned i = 0; i < type->field_count; i++) {
		if (!collect_groups(reading, type->fields[i].filter))
			return false;
	}
	for (const struct desl_expr *group = type->groups; group; group = group->next) {
		if (group->op == DESL_OWN && desl_has(type->fields[group->column].filter, DESL_AVG, DESL_NUM)) {
			lang_error(reading->report, &group->location, "derive it in two steps",
				   "cannot group by an aggregate");
			return false;
		}
	}
	note_all_used(type);
	if (type->aggregate_count && type->self_field >= 0) {
		lang_error(reading->report, &type->aggregates[0]->location,
			   "aggregate in a type that is derived from this one, or before it",
			   "with selfreference, only earlier records can be aggregated");
		return false;
	}
	if (!check_lists(reading) || !check_sources(reading))
		return false;
	return (!type->aggregate_count && !type->is_grouped) || check_covered(reading);
}
