// SPDX-License-Identifier: BSD-2-Clause
/*
 * Recognises a type with selfreference that is bound as in the program that the thesis prints, which cannot be repaired
 * unseen: its costs are those of what is called, and its shares are of all calls of the caller. The corrected program
 * binds them to the record's own caller and call.
 */

#include "desl/check-priv.h"

#include <string.h>

static bool is_same_printed_expr(const struct desl_expr *a, const struct desl_expr *b)
{
	return a->op == b->op && a->source == b->source && a->column == b->column;
}

/* The conjunct eq that binds a field of the source to key, and its side that is key. */
static const struct desl_expr *find_binding(const struct desl_type *type, unsigned source, const struct desl_expr *key,
					    const struct desl_expr **side)
{
	for (unsigned i = 0; i < type->conjunct_count; i++) {
		const struct desl_expr *eq = type->conjuncts[i], *x = eq->operands;

		if (eq->op != DESL_EQ)
			continue;
		for (unsigned j = 0; j < 2; j++) {
			const struct desl_expr *a = j ? x : x->next, *b = j ? x->next : x;

			*side = a;
			if (is_same_printed_expr(a, key) && b->op == DESL_COLUMN && b->source == source)
				return eq;
		}
	}
	return NULL;
}

static bool asks_own(const struct desl_expr *expr, unsigned column)
{
	if (expr->op == DESL_OWN && expr->column == column)
		return true;
	for (const struct desl_expr *operand = expr->operands; operand; operand = operand->next) {
		if (asks_own(operand, column))
			return true;
	}
	return false;
}

static bool takes_from(const struct desl_expr *expr, unsigned source)
{
	if (expr->op == DESL_COLUMN && expr->source == source)
		return true;
	for (const struct desl_expr *operand = expr->operands; operand; operand = operand->next) {
		if (takes_from(operand, source))
			return true;
	}
	return false;
}

/* An earlier field outside of aggregates: what is called has no record of its own where it calls nothing. */
static struct desl_expr *find_single(struct desl_expr *expr)
{
	struct desl_expr *found = expr->op == DESL_EARLIER ? expr : NULL;

	for (struct desl_expr *operand = expr->operands; operand && !found && !desl_is_aggregate(expr->op);
	     operand = operand->next)
		found = find_single(operand);
	return found;
}

static const char *name_of_key(const struct desl_type *type, const struct desl_expr *key)
{
	for (unsigned i = 0; i < type->field_count; i++) {
		if (type->fields[i].filter->op == key->op && is_same_printed_expr(type->fields[i].filter, key))
			return type->fields[i].name.text;
	}
	return key->name.text;
}

/* What is called gets a binding of its own. */
static void bind_called(struct desl_reading *reading, const struct desl_expr *eq)
{
	struct desl_type *type = reading->type;
	struct desl_expr *single = find_single(type->fields[type->self_field].filter);
	const struct desl_expr *record = type->fields[type->record_key->column].filter, *filter, *other, *side;
	const struct desl_source *source;
	struct arena *arena = reading->program->arena;

	if (!single || type->has_earlier_default[single->column])
		return;
	filter = type->fields[single->column].filter;
	other = filter->op == DESL_COLUMN ? find_binding(type, filter->source, record, &side) : NULL;
	if (!other || !type->alias_count)
		return;
	source = &type->sources[filter->source];
	other = other->operands == side ? side->next : other->operands;
	desl_edit(reading, type->aliases_end.offset + type->aliases_end.length, 0,
		  arena_format(arena, ", called %s", source->type->name.text));
	desl_edit(reading, single->location.offset, single->location.length,
		  arena_format(arena, "called.%s", source->type->fields[filter->column].name.text));
	desl_edit(reading, eq->location.offset, 0,
		  arena_format(arena, "eq(called.%s, %s), ", source->type->fields[other->column].name.text,
			       name_of_key(type, type->earlier_key)));
	desl_edit(reading, type->reference_ends[single->column], 0, ", 0");
}

static void check_source(struct desl_reading *reading, unsigned source)
{
	struct desl_type *type = reading->type;
	const struct desl_expr *record = type->fields[type->record_key->column].filter, *side, *eq;
	const struct desl_type *of = type->sources[source].type;
	const char *key = name_of_key(type, type->earlier_key);
	struct desl_expr about = { .name = type->sources[source].name };

	eq = find_binding(type, source, type->earlier_key, &side);
	for (unsigned i = 0; eq && i < type->field_count; i++) {
		const struct desl_expr *filter = type->fields[i].filter;

		if (!type->is_referenced[i] || !asks_own(filter, (unsigned)type->self_field) ||
		    !takes_from(filter, source) || find_binding(type, source, record, &side))
			continue;
		find_binding(type, source, type->earlier_key, &side);
		about.location = about.name.location = eq->location;
		desl_repair(reading, DESL_QUIRK_BINDING, &about);
		desl_edit(reading, side->location.offset, side->location.length, type->record_key->name.text);
		bind_called(reading, eq);
		return;
	}
	eq = find_binding(type, source, record, &side);
	if (eq && !find_binding(type, source, type->earlier_key, &side) && desl_find_field(of, key) >= 0 &&
	    takes_from(type->fields[type->self_field].filter, source)) {
		about.location = about.name.location = eq->location;
		desl_repair(reading, DESL_QUIRK_EQUALITY, &about);
		desl_edit(reading, eq->location.offset, 0,
			  arena_format(reading->program->arena, "eq(%s.%s, %s), ", about.name.text, key, key));
	}
}

void desl_check_printed(struct desl_reading *reading)
{
	const struct desl_type *type = reading->type;

	if (type->self_field < 0)
		return;
	for (unsigned i = 0; i < type->source_count; i++) {
		const struct desl_expr *key = type->earlier_key,
				       *record = type->fields[type->record_key->column].filter;

		/* What the keys are of is bound by being so. */
		if ((key->op == DESL_COLUMN && key->source == i) || (record->op == DESL_COLUMN && record->source == i))
			continue;
		check_source(reading, i);
	}
}
