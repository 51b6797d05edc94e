// SPDX-License-Identifier: BSD-2-Clause
/* Checks which values go together, and orders the fields of a type by what they are computed from. */

#include "desl/check-priv.h"

#include <string.h>

bool desl_has(const struct desl_expr *expr, enum desl_op first, enum desl_op last)
{
	if (expr->op >= first && expr->op <= last)
		return true;
	for (const struct desl_expr *operand = expr->operands; operand; operand = operand->next) {
		if (desl_has(operand, first, last))
			return true;
	}
	return false;
}

static enum desl_kind desl_kind_of(struct desl_reading *reading, struct desl_expr *expr);

static bool need_number(struct desl_reading *reading, struct desl_expr *operand, const char *what)
{
	enum desl_kind kind = desl_kind_of(reading, operand);

	if (kind && kind != DESL_NUMBER)
		lang_error(reading->report, &operand->location,
			   kind == DESL_LINE || kind == DESL_STRING ? "num(...) counts anything" : NULL,
			   "%s takes numbers, but this is a %s", what, desl_kind_word(kind));
	return kind == DESL_NUMBER;
}

/* A constant beside a Line is an address, or the name of a place. */
static bool make_line(struct desl_reading *reading, struct desl_expr *expr)
{
	struct desl_texts *texts = &reading->program->texts;
	char text[32];
	int result;

	if (expr->op == DESL_TEXT_CONST) {
		const struct desl_text *old = &texts->texts[expr->text];

		result = desl_text_add(texts, old->bytes, old->length, true, &expr->text);
	} else if (expr->op == DESL_CONST && expr->number >= 0 && expr->number < 0x1p64) {
		snprintf(text, sizeof text, "%.0f", expr->number);
		result = desl_text_add(texts, text, strlen(text), true, &expr->text);
	} else {
		return false;
	}
	if (result)
		lang_no_memory(reading->report);
	expr->op = DESL_TEXT_CONST;
	expr->kind = DESL_LINE;
	return true;
}

static bool check_relation(struct desl_reading *reading, struct desl_expr *expr);

/* Of a chain, eq(eq(a, b), c), that of its first value. */
static enum desl_kind kind_in(struct desl_reading *reading, struct desl_expr *operand, enum desl_op op)
{
	if (op != DESL_EQ || operand->op != DESL_EQ)
		return desl_kind_of(reading, operand);
	return check_relation(reading, operand) ? kind_in(reading, operand->operands, op) : DESL_NO_KIND;
}

static bool check_relation(struct desl_reading *reading, struct desl_expr *expr)
{
	struct desl_expr *x = expr->operands, *a = x->next;
	enum desl_kind kind = kind_in(reading, x, expr->op), other = kind_in(reading, a, expr->op);

	if (!kind || !other)
		return false;
	if (kind == other && kind != DESL_LIST)
		return true;
	if ((kind == DESL_LINE && make_line(reading, a)) || (other == DESL_LINE && make_line(reading, x)))
		return true;
	lang_error(reading->report, &expr->location, "declare both as Line, as String or as Number",
		   "a %s cannot be compared with a %s", desl_kind_word(kind), desl_kind_word(other));
	return false;
}

static bool check_condition(struct desl_reading *reading, struct desl_expr *expr)
{
	bool is_fine = true;

	if (desl_is_relation(expr->op))
		return check_relation(reading, expr);
	if (expr->op == DESL_REFERENCE)
		return check_relation(reading, expr->operands);
	if (expr->op == DESL_RUN)
		return true;
	if (expr->op < DESL_NOT || expr->op > DESL_OR) {
		lang_error(reading->report, &expr->location, "relations are l, le, g, ge and eq",
			   "expected a relation");
		return false;
	}
	for (struct desl_expr *operand = expr->operands; operand; operand = operand->next)
		is_fine = check_condition(reading, operand) && is_fine;
	return is_fine;
}

static enum desl_kind kind_of_own(struct desl_reading *reading, const struct desl_expr *expr)
{
	struct desl_field *field = &reading->type->fields[expr->column];

	if (!field->kind && field->is_visiting) {
		lang_error(reading->report, &field->name.location, "write Number before it",
			   "the type of '%s' depends on itself", field->name.text);
		return DESL_NO_KIND;
	}
	if (!field->kind) {
		field->is_visiting = true;
		field->kind = desl_kind_of(reading, field->filter);
		field->is_visiting = false;
	}
	return field->kind;
}

static enum desl_kind kind_of_operation(struct desl_reading *reading, struct desl_expr *expr)
{
	static const char *const words[] = {
		[DESL_ADD] = "'+'", [DESL_SUB] = "'-'", [DESL_MUL] = "'*'", [DESL_DIV] = "'/'", [DESL_AVG] = "avg",
		[DESL_SUM] = "sum", [DESL_MIN] = "min", [DESL_MAX] = "max", [DESL_INC] = "inc"
	};
	bool is_fine = true;

	if (expr->op == DESL_NUM)
		return desl_kind_of(reading, expr->operands) ? DESL_NUMBER : DESL_NO_KIND;
	if (expr->op < DESL_ADD || expr->op > DESL_INC) {
		lang_error(reading->report, &expr->location, "a relation belongs in constraint(...), or behind '@'",
			   "a condition is not a value");
		return DESL_NO_KIND;
	}
	for (struct desl_expr *operand = expr->operands; operand; operand = operand->next)
		is_fine = need_number(reading, operand, words[expr->op]) && is_fine;
	return is_fine ? DESL_NUMBER : DESL_NO_KIND;
}

static enum desl_kind desl_kind_of(struct desl_reading *reading, struct desl_expr *expr)
{
	if (expr->kind)
		return expr->kind;
	switch (expr->op) {
	case DESL_CONST:
		return expr->kind = DESL_NUMBER;
	case DESL_TEXT_CONST:
		return expr->kind = DESL_STRING;
	case DESL_COLUMN:
		return expr->kind = reading->type->sources[expr->source].type->fields[expr->column].kind;
	case DESL_OWN:
	case DESL_EARLIER:
		return expr->kind = kind_of_own(reading, expr);
	case DESL_LIST_OF:
		return expr->kind = check_relation(reading, expr->operands) ? DESL_LIST : DESL_NO_KIND;
	default:
		return expr->kind = kind_of_operation(reading, expr);
	}
}

static bool check_field_kinds(struct desl_reading *reading, struct desl_field *field)
{
	enum desl_kind kind = desl_kind_of(reading, field->filter);

	if (!kind)
		return false;
	if (field->is_bare)
		desl_edit(reading, field->name.location.offset, 0,
			  arena_format(reading->program->arena, "%s ", desl_kind_word(kind)));
	if (!field->kind)
		field->kind = kind;
	if (field->kind == kind)
		return true;
	if (field->kind == DESL_LINE && make_line(reading, field->filter))
		return true;
	lang_error(reading->report, &field->filter->location,
		   lang_hint(reading->report, "write: %s %s = ...", desl_kind_word(kind), field->name.text),
		   "the field '%s' is a %s, but its filter gives a %s", field->name.text, desl_kind_word(field->kind),
		   desl_kind_word(kind));
	return false;
}

/* Puts what the expression takes of the type itself before it. */
static bool order_expr(struct desl_reading *reading, const struct desl_expr *expr, unsigned *count);

static bool order_field(struct desl_reading *reading, unsigned column, unsigned *count)
{
	struct desl_field *field = &reading->type->fields[column];

	if (field->is_own_done)
		return true;
	if (field->is_visiting) {
		lang_error(reading->report, &field->name.location,
			   "ask for values of earlier records with selfreference", "the field '%s' depends on itself",
			   field->name.text);
		return false;
	}
	field->is_visiting = true;
	if (!order_expr(reading, field->filter, count))
		return false;
	field->is_visiting = false;
	field->is_own_done = true;
	reading->type->order[(*count)++] = column;
	return true;
}

static bool order_expr(struct desl_reading *reading, const struct desl_expr *expr, unsigned *count)
{
	if (expr->op == DESL_OWN && !order_field(reading, expr->column, count))
		return false;
	for (const struct desl_expr *operand = expr->operands; operand; operand = operand->next) {
		if (!order_expr(reading, operand, count))
			return false;
	}
	return true;
}

bool desl_check_kinds(struct desl_reading *reading)
{
	struct desl_type *type = reading->type;
	bool is_fine = true;
	unsigned count = 0;

	for (unsigned i = 0; i < type->field_count; i++)
		is_fine = check_field_kinds(reading, &type->fields[i]) && is_fine;
	for (struct desl_expr *constraint = type->constraints; constraint; constraint = constraint->next)
		is_fine = check_condition(reading, constraint) && is_fine;
	for (struct desl_advice *advice = type->advices; advice; advice = advice->next)
		is_fine = check_condition(reading, advice->condition) && is_fine;
	for (struct desl_expr *group = type->groups; group; group = group->next)
		is_fine = desl_kind_of(reading, group) && is_fine;
	for (unsigned i = 0; i < type->field_count && is_fine; i++)
		is_fine = order_field(reading, i, &count);
	return is_fine;
}
