// SPDX-License-Identifier: BSD-2-Clause
/*
 * Takes WHERE apart: joins to joins, top-level ANDs to conditions of their own. Warns of a field that must equal two
 * constants: where one or the other was meant, the rule would never match.
 */

#include "lang/check/check-priv.h"
#include "meaning/meaning.h"

#include <string.h>

enum { COMPARED_MAX = 64 }; /* conditions of a rule: more are rarely written by hand */

static bool is_and(const struct lang_syntax_expr *expr)
{
	return expr->syntax == LANG_SYNTAX_CHAIN && expr->op == LANG_LAND;
}

static uint32_t count_parts(const struct lang_syntax_expr *expr)
{
	uint32_t count = 0;

	if (!is_and(expr))
		return 1;
	for (const struct lang_syntax_expr *part = expr->list; part; part = part->next)
		count += count_parts(part);
	return count;
}

static void check_condition_parts(struct lang_check *c, const struct lang_syntax_expr *expr)
{
	if (is_and(expr)) {
		for (const struct lang_syntax_expr *part = expr->list; part; part = part->next)
			check_condition_parts(c, part);
		return;
	}
	struct lang_expr *checked = lang_check_condition(c, expr);

	if (checked)
		lang_classify(c, checked);
	else
		c->lost_condition = true;
}

/* The sorts of values that can be equal to each other. */
static const char *sort_of_value(enum event_value value)
{
	enum lang_kind kind = lang_kind_of(value);

	return lang_kind_name(kind == LANG_U64 ? LANG_I64 : kind);
}

static bool check_join_fields(struct lang_check *c, const struct lang_word *word, struct lang_join *join)
{
	const struct lang_element *model = NULL;
	const struct event_field *first = NULL;

	for (uint32_t i = 0; i < c->rule->element_count; i++) {
		const struct lang_element *element = &c->rule->elements[i];

		if (!element->type)
			continue;
		const struct event_field *field = lang_find_field(c, element->type, word);

		if (!field)
			return false;
		join->fields[i] = field;
		if (first && strcmp(sort_of_value(field->value), sort_of_value(first->value)) != 0) {
			lang_error(c->report, &word->location, NULL, "'%s' is %s in '%s' but %s in '%s'", word->text,
				   sort_of_value(first->value), model->type->name, sort_of_value(field->value),
				   element->type->name);
			return false;
		}
		if (first && !meaning_is_comparable(field->meaning, first->meaning)) {
			lang_error(c->report, &word->location, NULL, "'%s' means '%s' in '%s' but '%s' in '%s'",
				   word->text, first->meaning->text, model->type->name, field->meaning->text,
				   element->type->name);
			return false;
		}
		if (!first || !first->meaning) {
			first = field;
			model = element;
		}
	}
	return true;
}

static bool is_known_name(const struct lang_check *c, const char *name)
{
	for (uint32_t i = 0; i < c->rule->join_count; i++) {
		if (strcmp(c->rule->joins[i].name, name) == 0)
			return true;
	}
	return false;
}

void lang_check_join(struct lang_check *c, const struct lang_word *word)
{
	struct lang_join join = { .name = word->text, .location = word->location };

	if (is_known_name(c, word->text))
		return;
	join.fields = lang_keep(c, c->rule->element_count, sizeof *join.fields);
	if (join.fields && check_join_fields(c, word, &join))
		c->rule->joins[c->rule->join_count++] = join;
}

/* The field that a guard compares with a constant for equality, which goes to *constant; or NULL. */
static const struct lang_expr *field_of_equality(const struct lang_condition *condition,
						 const struct lang_expr **constant)
{
	const struct lang_expr *expr = condition->expr, *field = expr->left;

	if (condition->kind != LANG_GUARD || expr->op != LANG_EQ)
		return NULL;
	*constant = expr->right;
	if (field->op == LANG_CONST) {
		field = expr->right;
		*constant = expr->left;
	}
	return field->op == LANG_FIELD && (*constant)->op == LANG_CONST ? field : NULL;
}

static bool is_other_constant(const struct lang_expr *a, const struct lang_expr *b)
{
	if (a->kind != b->kind || a->kind == LANG_F64)
		return false;
	return a->kind == LANG_STRING ? strcmp(a->text, b->text) != 0 : a->integer != b->integer;
}

static void warn_of_contradiction(struct lang_check *c, uint32_t at)
{
	const struct lang_condition *conditions = c->rule->conditions;
	const struct lang_expr *constant, *other, *field = field_of_equality(&conditions[at], &constant), *before;

	for (uint32_t i = 0; field && i < at; i++) {
		before = field_of_equality(&conditions[i], &other);
		if (!before || before->element != field->element || before->field != field->field ||
		    !is_other_constant(constant, other))
			continue;
		lang_warn(c->report, &conditions[at].location, "write 'a.x IN { 1, 2 }' for one value or the other",
			  "no event meets this condition and an earlier one: a field cannot equal two values");
		lang_note(c->report, &conditions[i].location, "the earlier condition is here");
		return;
	}
}

void lang_check_where(struct lang_check *c)
{
	uint32_t joins = 0, conditions = 0;

	for (const struct lang_syntax_condition *at = c->syntax->conditions; at; at = at->next) {
		if (at->expr)
			conditions += count_parts(at->expr);
		else
			joins++;
	}
	c->rule->joins = lang_keep(c, joins, sizeof *c->rule->joins);
	c->rule->conditions = lang_keep(c, conditions, sizeof *c->rule->conditions);
	if (!c->rule->joins || !c->rule->conditions)
		return;
	c->context = LANG_IN_CONDITION;
	for (const struct lang_syntax_condition *at = c->syntax->conditions; at; at = at->next) {
		if (at->expr)
			check_condition_parts(c, at->expr);
		else
			lang_check_join(c, &at->join);
	}
	for (uint32_t i = 0; i < c->rule->condition_count && i < COMPARED_MAX; i++)
		warn_of_contradiction(c, i);
}
