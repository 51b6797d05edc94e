// SPDX-License-Identifier: BSD-2-Clause
/* Checks what AGGREGATE adds up, and that its keys are bounded. */

#include "lang/check/check-priv.h"

#include <string.h>

static struct lang_expr *check_value(struct lang_check *c, const struct lang_syntax_value *value)
{
	return value->header.text ? lang_check_header(c, &value->header, &value->location)
				  : lang_check_value(c, value->expr);
}

/* Whether the name is new among names; number is that of its value. */
static bool check_column_name(struct lang_check *c, struct lang_names *names, const struct lang_word *name,
			      const char *where)
{
	static const char *const keys[] = { "aggregate", "by", "names", "other" };

	for (size_t i = 0; *where == 'A' && i < sizeof keys / sizeof *keys; i++)
		if (strcmp(name->text, keys[i]) == 0) {
			lang_error(c->report, &name->location, "give it another name with AS",
				   "the results already have a member '%s'", name->text);
			return false;
		}
	if (lang_names_add(names, name->text, 0) == LANG_NO_NAME)
		return true;
	lang_error(c->report, &name->location, "give one of them another name with AS",
		   "two values of %s are named '%s'", where, name->text);
	return false;
}

static const char *const words[] = {
	[LANG_COUNT_OF] = "COUNT",
	[LANG_SUM_OF] = "SUM",
	[LANG_MIN_OF] = "MIN",
	[LANG_MAX_OF] = "MAX",
	[LANG_AVG_OF] = "AVG",
	[LANG_HISTOGRAM_OF] = "HISTOGRAM",
	[LANG_QUANTILES_OF] = "QUANTILES",
};

static bool check_number(struct lang_check *c, enum lang_aggregate_op op, const struct lang_expr *expr)
{
	if (expr->kind == LANG_I64 || expr->kind == LANG_U64 || expr->kind == LANG_F64)
		return true;
	lang_error(c->report, &expr->location, expr->kind == LANG_STRING ? "strings are allowed in BY" : NULL,
		   "%s needs a number, but this is %s", words[op], lang_kind_name(expr->kind));
	return false;
}

static void check_aggregates(struct lang_check *c)
{
	struct lang_names *names = lang_names_new(c->scratch, c->syntax->aggregate_count);

	c->rule->aggregates = lang_keep(c, c->syntax->aggregate_count, sizeof *c->rule->aggregates);
	if (!names || !c->rule->aggregates) {
		lang_no_memory(c->report);
		return;
	}
	if (c->syntax->aggregate_count > LANG_AGGREGATES_MAX)
		lang_error(c->report, &c->syntax->given[LANG_AGGREGATE], NULL,
			   "AGGREGATE has %u aggregates, at most %d are possible", c->syntax->aggregate_count,
			   LANG_AGGREGATES_MAX);
	for (const struct lang_syntax_aggregate *at = c->syntax->aggregates; at; at = at->next) {
		struct lang_expr *expr = at->op == LANG_COUNT_OF ? NULL : check_value(c, &at->value);

		if (at->op != LANG_COUNT_OF && (!expr || !check_number(c, at->op, expr)))
			continue;
		if (check_column_name(c, names, &at->value.name, "AGGREGATE"))
			c->rule->aggregates[c->rule->aggregate_count++] = (struct lang_aggregate){
				.op = at->op,
				.value = { .expr = expr, .name = at->value.name.text, .location = at->value.location },
			};
	}
}

/* What a value takes in a key, in bytes. */
static uint32_t value_key_bytes(const struct lang_expr *expr)
{
	size_t bytes = 8;

	if (expr->kind == LANG_STRING)
		bytes = expr->op == LANG_CONST ? strlen(expr->text) + 1 : expr->field->bytes;
	return (uint32_t)((bytes + 7) / 8 * 8);
}

static void check_by(struct lang_check *c)
{
	struct lang_names *names = lang_names_new(c->scratch, c->syntax->by_count);
	uint32_t bytes = 0;

	c->rule->by = lang_keep(c, c->syntax->by_count, sizeof *c->rule->by);
	if (!names || !c->rule->by) {
		lang_no_memory(c->report);
		return;
	}
	if (c->syntax->by_count > LANG_BY_MAX)
		lang_error(c->report, &c->syntax->by->location, NULL, "BY has %u values, at most %d are possible",
			   c->syntax->by_count, LANG_BY_MAX);
	for (const struct lang_syntax_value *at = c->syntax->by; at; at = at->next) {
		struct lang_expr *expr = check_value(c, at);

		if (!check_column_name(c, names, &at->name, "BY") || !expr)
			continue;
		bytes += value_key_bytes(expr);
		c->rule->by[c->rule->by_count++] =
			(struct lang_value){ .expr = expr, .name = at->name.text, .location = at->location };
	}
	if (bytes > LANG_BY_BYTES_MAX)
		lang_error(
			c->report, &c->syntax->by->location,
			"a string counts with its capacity, which 'asterism events' shows: leave one out, or declare "
			"it shorter",
			"a key of BY takes %u bytes, more than %d", bytes, LANG_BY_BYTES_MAX);
}

void lang_check_aggregate(struct lang_check *c)
{
	if (!c->syntax->given[LANG_AGGREGATE].line || c->syntax->broken[LANG_AGGREGATE])
		return;
	c->context = LANG_IN_VALUE;
	check_aggregates(c);
	check_by(c);
	c->rule->top = (uint32_t)c->syntax->top;
	c->rule->every_ns = c->syntax->every_ns;
	c->rule->delta = c->syntax->delta;
}
