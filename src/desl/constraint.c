// SPDX-License-Identifier: BSD-2-Clause
/* Analyses what a constraint asks for: relations that all hold, what earlier records are found by, defaults, order. */

#include "desl/check-priv.h"

#include <string.h>

enum { CONJUNCTS_MAX = 256 };

uint32_t desl_sources_of(const struct desl_type *type, const struct desl_expr *expr)
{
	uint32_t sources = 0;

	if (expr->op == DESL_COLUMN)
		return UINT32_C(1) << expr->source;
	if (expr->op == DESL_OWN)
		return desl_sources_of(type, type->fields[expr->column].filter);
	for (const struct desl_expr *operand = expr->operands; operand; operand = operand->next)
		sources |= desl_sources_of(type, operand);
	return sources;
}

static bool wrong_expr(struct desl_reading *reading, const struct desl_expr *expr, const char *hint, const char *text)
{
	lang_error(reading->report, &expr->location, hint, "%s", text);
	return false;
}

static bool add_conjunct(struct desl_reading *reading, struct desl_expr *expr)
{
	struct desl_type *type = reading->type;

	if (type->conjunct_count == CONJUNCTS_MAX)
		return wrong_expr(reading, expr, "derive it in two steps", "the constraint has too many relations");
	type->conjuncts[type->conjunct_count++] = expr;
	return true;
}

/* Whether the value can be told before records are combined. */
static bool check_operands(struct desl_reading *reading, const struct desl_expr *expr)
{
	if (desl_is_aggregate(expr->op))
		return wrong_expr(reading, expr, "derive the aggregate in a type of its own, and constrain that",
				  "a constraint selects what is aggregated: it has no aggregate itself");
	if (expr->op == DESL_EARLIER)
		return wrong_expr(reading, expr, "write r.field(eq(x, type.field), default)",
				  "ask for earlier records in a reference");
	if (expr->op == DESL_REFERENCE || expr->op == DESL_RUN)
		return wrong_expr(reading, expr, "use it within and(...), or by itself",
				  "neither references nor run can be negated, or be one of several");
	if (expr->op == DESL_OWN && reading->type->fields[expr->column].self.text)
		return wrong_expr(reading, expr, NULL, "the field is computed after records are combined");
	if (expr->op == DESL_OWN)
		return check_operands(reading, reading->type->fields[expr->column].filter);
	for (const struct desl_expr *operand = expr->operands; operand; operand = operand->next) {
		if (!check_operands(reading, operand))
			return false;
	}
	return true;
}

static bool is_same_constraint(const struct desl_expr *a, const struct desl_expr *b)
{
	return a->op == b->op && a->source == b->source && a->column == b->column;
}

/* r.field(eq(x, type.key), default) */
static bool take_earlier(struct desl_reading *reading, struct desl_expr *expr)
{
	struct desl_type *type = reading->type;
	struct desl_expr *relation = expr->operands, *x = relation->operands, *a = x->next;
	bool is_first = x->op == DESL_EARLIER;
	struct desl_expr *record = is_first ? x : a, *asked = is_first ? a : x;

	if (relation->op != DESL_EQ || record->op != DESL_EARLIER || desl_has(asked, DESL_EARLIER, DESL_EARLIER) ||
	    desl_has(asked, DESL_AVG, DESL_NUM))
		return wrong_expr(
			reading, relation, "write eq(x, type.field), x being of the record that asks",
			"earlier records are found by a field of theirs that equals one of the asking record");
	if (type->earlier_key &&
	    (!is_same_constraint(type->earlier_key, asked) || type->record_key->column != record->column))
		return wrong_expr(reading, relation, NULL,
				  "all references to earlier records have to find the same ones");
	type->earlier_key = asked;
	type->record_key = record;
	return true;
}

/* name.field(relation, default): a record goes on where there is none of the source. */
static bool take_optional(struct desl_reading *reading, struct desl_expr *expr)
{
	struct desl_source *source = &reading->type->sources[expr->source];
	struct desl_expr *relation = expr->operands;
	uint32_t bit = UINT32_C(1) << expr->source;
	uint32_t x = desl_sources_of(reading->type, relation->operands);
	uint32_t a = desl_sources_of(reading->type, relation->operands->next);

	if (relation->op != DESL_EQ || !((x == bit && !(a & bit)) || (a == bit && !(x & bit))))
		return wrong_expr(reading, relation, "write name.field(eq(name.key, a), 0)",
				  "the records are found by a field of theirs that equals something of others");
	if (source->optional && (!is_same_constraint(source->optional->operands, relation->operands) ||
				 !is_same_constraint(source->optional->operands->next, relation->operands->next)))
		return wrong_expr(reading, relation, NULL,
				  "all references to the same type have to find the same records");
	if (!source->optional && !check_operands(reading, relation))
		return false;
	source->optional = relation;
	source->has_default[expr->column] = expr->has_default;
	source->defaults[expr->column] = expr->number;
	return true;
}

static bool flatten(struct desl_reading *reading, struct desl_expr *expr);

/* eq(eq(a, b), c): all of them are equal. */
static bool flatten_chain(struct desl_reading *reading, struct desl_expr *expr)
{
	for (struct desl_expr **operand = &expr->operands; *operand; operand = &(*operand)->next) {
		struct desl_expr *inner = *operand, *first;

		if (inner->op != DESL_EQ)
			continue;
		if (!flatten(reading, inner))
			return false;
		first = desl_node(reading, sizeof *first);
		if (!first)
			return false;
		*first = *inner->operands;
		first->next = inner->next;
		*operand = first;
	}
	return check_operands(reading, expr) && add_conjunct(reading, expr);
}

static bool flatten(struct desl_reading *reading, struct desl_expr *expr)
{
	bool is_fine = true;

	if (expr->op == DESL_RUN) {
		reading->type->is_top_down = expr->number > 0;
		return true;
	}
	if (expr->op == DESL_REFERENCE)
		return expr->source == DESL_SOURCES_MAX ? take_earlier(reading, expr) : take_optional(reading, expr);
	if (expr->op == DESL_EQ)
		return flatten_chain(reading, expr);
	if (expr->op != DESL_AND)
		return check_operands(reading, expr) && add_conjunct(reading, expr);
	for (struct desl_expr *operand = expr->operands; operand; operand = operand->next)
		is_fine = flatten(reading, operand) && is_fine;
	return is_fine;
}

/* Each field of earlier records that a filter takes is asked for in the constraint. */
static bool check_asked(struct desl_reading *reading, const struct desl_expr *expr)
{
	if (expr->op == DESL_EARLIER && !reading->type->is_referenced[expr->column])
		return wrong_expr(reading, expr, "add to the constraint: r.field(eq(x, type.key), default)",
				  "it is ambiguous which earlier records this refers to");
	for (const struct desl_expr *operand = expr->operands; operand; operand = operand->next) {
		if (!check_asked(reading, operand))
			return false;
	}
	return true;
}

static bool depends_on_earlier(const struct desl_type *type, const struct desl_expr *expr)
{
	if (expr->op == DESL_OWN)
		return type->fields[expr->column].self.text ||
		       depends_on_earlier(type, type->fields[expr->column].filter);
	for (const struct desl_expr *operand = expr->operands; operand; operand = operand->next) {
		if (depends_on_earlier(type, operand))
			return true;
	}
	return false;
}

static bool check_self(struct desl_reading *reading)
{
	struct desl_type *type = reading->type;

	for (unsigned i = 0; i < type->field_count; i++) {
		struct desl_field *field = &type->fields[i];

		if (!field->self.text) {
			if (desl_has(field->filter, DESL_EARLIER, DESL_EARLIER))
				return wrong_expr(reading, field->filter, "write: Number x selfreference r = ...",
						  "earlier records are for fields with selfreference");
			continue;
		}
		if (type->self_field >= 0)
			return wrong_expr(reading, field->filter, "derive the other one in a type of its own",
					  "a type has one field with selfreference");
		type->self_field = (int)i;
		if (field->kind != DESL_NUMBER)
			return wrong_expr(reading, field->filter, NULL, "a field with selfreference is a Number");
	}
	if (type->self_field < 0)
		return true;
	if (!type->earlier_key)
		return wrong_expr(reading, type->fields[type->self_field].filter,
				  "add to the constraint: r.field(eq(x, type.field), default)",
				  "it is ambiguous which earlier records are meant");
	if (depends_on_earlier(type, type->earlier_key) || type->fields[type->record_key->column].self.text ||
	    depends_on_earlier(type, type->fields[type->record_key->column].filter))
		return wrong_expr(reading, type->earlier_key, NULL,
				  "records cannot be found by a value computed from earlier ones");
	if (!check_asked(reading, type->fields[type->self_field].filter))
		return false;
	if (type->is_grouped)
		return wrong_expr(reading, type->groups, "group in a type that is derived from this one",
				  "selfreference and 'group by' do not go together");
	return true;
}

bool desl_check_constraint(struct desl_reading *reading)
{
	struct desl_type *type = reading->type;
	bool is_fine = true;

	type->conjuncts = arena_zero(reading->program->arena, CONJUNCTS_MAX, sizeof *type->conjuncts);
	if (!type->conjuncts) {
		lang_no_memory(reading->report);
		return false;
	}
	for (struct desl_expr *expr = type->constraints; expr; expr = expr->next)
		is_fine = flatten(reading, expr) && is_fine;
	return is_fine && check_self(reading);
}
