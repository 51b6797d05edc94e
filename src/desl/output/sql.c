// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes a program as SQL: a table for each input, a view for each derived type. Sources that are aggregated are so
 * before they are joined, as here. selfreference and lists have no SQL.
 */

#include "desl/output/output.h"

#include "desl/check-priv.h"
#include "desl/run-priv.h"

#include <errno.h>
#include <string.h>

struct sql {
	const struct desl_program *program;
	const struct desl_type *type;
	FILE *stream;
	int inner; /* the source whose aggregates are written, or -1: they are columns of sources */
};

static void put_expr(const struct sql *sql, const struct desl_expr *expr);

static bool is_single(const struct desl_type *type, const struct desl_expr *aggregate)
{
	return __builtin_popcount(desl_sources_of(type, aggregate)) == 1;
}

static void put_sql_text(const struct sql *sql, const struct desl_text *text)
{
	/* An address is written as inputs are to have it: in decimal. */
	if (text->is_address) {
		fprintf(sql->stream, "%llu", (unsigned long long)text->address);
		return;
	}
	fputc('\'', sql->stream);
	for (const char *at = text->bytes; *at; at++) {
		if (*at == '\'')
			fputc('\'', sql->stream);
		fputc(*at, sql->stream);
	}
	fputc('\'', sql->stream);
}

static void put_two(const struct sql *sql, const struct desl_expr *expr, const char *between, bool is_swapped)
{
	const struct desl_expr *first = expr->operands, *second = first->next;

	fputc('(', sql->stream);
	put_expr(sql, is_swapped ? second : first);
	fputs(between, sql->stream);
	put_expr(sql, is_swapped ? first : second);
	fputc(')', sql->stream);
}

/* The parts of a source are put together: sums of sums and counts, least of least. */
static void put_aggregate(const struct sql *sql, const struct desl_expr *expr)
{
	static const char *const words[] = { [DESL_AVG] = "AVG", [DESL_SUM] = "SUM",   [DESL_MIN] = "MIN",
					     [DESL_MAX] = "MAX", [DESL_INC] = "COUNT", [DESL_NUM] = "COUNT" };
	bool is_part = sql->inner < 0 && is_single(sql->type, expr);
	unsigned source = is_part ? (unsigned)__builtin_ctz(desl_sources_of(sql->type, expr)) : 0;

	if (expr->op == DESL_INC)
		fprintf(sql->stream, "%.17g * ", expr->number);
	if (!is_part) {
		fprintf(sql->stream, "%s(", words[expr->op]);
		put_expr(sql, expr->operands);
		fputc(')', sql->stream);
		return;
	}
	if (expr->op == DESL_AVG)
		fprintf(sql->stream, "(SUM(\"%s\".\"sum %u\") / SUM(\"%s\".\"num %u\"))",
			sql->type->sources[source].name.text, expr->slot, sql->type->sources[source].name.text,
			expr->slot);
	else
		fprintf(sql->stream, "%s(\"%s\".\"%s %u\")",
			expr->op == DESL_MIN   ? "MIN"
			: expr->op == DESL_MAX ? "MAX"
					       : "SUM",
			sql->type->sources[source].name.text,
			expr->op == DESL_MIN   ? "min"
			: expr->op == DESL_MAX ? "max"
			: expr->op == DESL_SUM ? "sum"
					       : "num",
			expr->slot);
}

static void put_column(const struct sql *sql, const struct desl_expr *expr)
{
	const struct desl_source *source = &sql->type->sources[expr->source];
	bool has_default = source->has_default[expr->column];

	fprintf(sql->stream, "%s\"%s\".\"%s\"", has_default ? "COALESCE(" : "", source->name.text,
		source->type->fields[expr->column].name.text);
	if (has_default)
		fprintf(sql->stream, ", %.17g)", source->defaults[expr->column]);
}

static void put_chain(const struct sql *sql, const struct desl_expr *expr)
{
	fputs(expr->op == DESL_NOT ? "(NOT COALESCE(" : "(", sql->stream);
	for (const struct desl_expr *operand = expr->operands; operand; operand = operand->next) {
		put_expr(sql, operand);
		if (operand->next)
			fputs(expr->op == DESL_AND ? " AND " : " OR ", sql->stream);
	}
	fputs(expr->op == DESL_NOT ? ", 0))" : ")", sql->stream);
}

static void put_expr(const struct sql *sql, const struct desl_expr *expr)
{
	static const char *const between[] = {
		[DESL_ADD] = " + ",       [DESL_SUB] = " - ",         [DESL_MUL] = " * ",
		[DESL_DIV] = " * 1.0 / ", [DESL_LESS] = " < ",        [DESL_GREATER] = " > ",
		[DESL_LESS_EQ] = " <= ",  [DESL_GREATER_EQ] = " >= ", [DESL_EQ] = " = ",
	};

	if (expr->op == DESL_CONST)
		fprintf(sql->stream, "%.17g", expr->number);
	else if (expr->op == DESL_TEXT_CONST)
		put_sql_text(sql, &sql->program->texts.texts[expr->text]);
	else if (expr->op == DESL_COLUMN)
		put_column(sql, expr);
	else if (expr->op == DESL_OWN)
		put_expr(sql, sql->type->fields[expr->column].filter);
	else if (desl_is_aggregate(expr->op))
		put_aggregate(sql, expr);
	else if (expr->op >= DESL_NOT)
		put_chain(sql, expr);
	else
		put_two(sql, expr, between[expr->op], desl_is_relation(expr->op));
}

static bool is_aggregated(const struct desl_type *type, unsigned source)
{
	for (unsigned i = 0; i < type->aggregate_count; i++) {
		if (desl_sources_of(type, type->aggregates[i]) == UINT32_C(1) << source)
			return true;
	}
	return false;
}

/* A source whose records are aggregated by what else is needed of them. */
static void put_source(const struct sql *sql, unsigned number)
{
	const struct desl_source *source = &sql->type->sources[number];
	struct sql inner = { sql->program, sql->type, sql->stream, (int)number };
	const char *comma = "";

	if (!is_aggregated(sql->type, number)) {
		fprintf(sql->stream, "\"%s\" AS \"%s\"", source->type->name.text, source->name.text);
		return;
	}
	fputs("(SELECT ", sql->stream);
	for (unsigned i = 0; i < source->type->field_count; i++) {
		if (!source->used[i])
			continue;
		fprintf(sql->stream, "%s\"%s\"", comma, source->type->fields[i].name.text);
		comma = ", ";
	}
	for (unsigned i = 0; i < sql->type->aggregate_count; i++) {
		static const char *const parts[][2] = {
			{ "SUM", "sum" }, { "COUNT", "num" }, { "MIN", "min" }, { "MAX", "max" }
		};

		if (desl_sources_of(sql->type, sql->type->aggregates[i]) != UINT32_C(1) << number)
			continue;
		for (size_t j = 0; j < sizeof parts / sizeof *parts; j++) {
			fprintf(sql->stream, "%s%s(", comma, parts[j][0]);
			put_expr(&inner, sql->type->aggregates[i]->operands);
			fprintf(sql->stream, ") AS \"%s %u\"", parts[j][1], i);
			comma = ", ";
		}
	}
	fprintf(sql->stream, " FROM \"%s\" AS \"%s\"", source->type->name.text, source->name.text);
	comma = " GROUP BY ";
	for (unsigned i = 0; i < source->type->field_count; i++) {
		if (!source->used[i])
			continue;
		fprintf(sql->stream, "%s\"%s\"", comma, source->type->fields[i].name.text);
		comma = ", ";
	}
	fprintf(sql->stream, ") AS \"%s\"", source->name.text);
}

static void put_from(const struct sql *sql)
{
	const struct desl_type *type = sql->type;
	const char *word = "\n  FROM ";

	for (unsigned i = 0; i < type->source_count; i++) {
		if (type->sources[i].optional)
			continue;
		fputs(word, sql->stream);
		put_source(sql, i);
		word = "\n  CROSS JOIN ";
	}
	for (unsigned i = 0; i < type->source_count; i++) {
		if (!type->sources[i].optional)
			continue;
		fputs("\n  LEFT JOIN ", sql->stream);
		put_source(sql, i);
		fputs(" ON ", sql->stream);
		put_expr(sql, type->sources[i].optional);
	}
}

static void put_view(const struct sql *sql)
{
	const struct desl_type *type = sql->type;

	fprintf(sql->stream, "CREATE VIEW \"%s\" AS SELECT ", type->name.text);
	for (unsigned i = 0; i < type->field_count; i++) {
		fputs(i ? ", " : "", sql->stream);
		put_expr(sql, type->fields[i].filter);
		fprintf(sql->stream, " AS \"%s\"", type->fields[i].name.text);
	}
	put_from(sql);
	for (unsigned i = 0; i < type->conjunct_count; i++) {
		fputs(i ? " AND " : "\n  WHERE ", sql->stream);
		put_expr(sql, type->conjuncts[i]);
	}
	for (const struct desl_expr *group = type->groups; group; group = group->next) {
		fputs(group == type->groups ? "\n  GROUP BY " : ", ", sql->stream);
		put_expr(sql, group);
	}
	fputs(";\n", sql->stream);
}

static void put_sql_table(const struct sql *sql)
{
	fprintf(sql->stream, "CREATE TABLE \"%s\" (", sql->type->name.text);
	for (unsigned i = 0; i < sql->type->field_count; i++)
		fprintf(sql->stream, "%s\"%s\"%s", i ? ", " : "", sql->type->fields[i].name.text,
			sql->type->fields[i].kind == DESL_NUMBER   ? " REAL"
			: sql->type->fields[i].kind == DESL_STRING ? " TEXT"
								   : "");
	fputs(");\n", sql->stream);
}

/* Whether the constraint makes the field equal to something. */
static bool is_column_bound(const struct desl_type *type, unsigned source, unsigned column)
{
	for (unsigned i = 0; i < type->conjunct_count; i++) {
		const struct desl_expr *eq = type->conjuncts[i];

		for (const struct desl_expr *x = eq->operands; x && eq->op == DESL_EQ; x = x->next) {
			if (x->op == DESL_COLUMN && x->source == source && x->column == column)
				return true;
		}
	}
	return false;
}

/* Whether each record of an aggregated source meets one record of the others in a group. */
static bool is_met_once(const struct desl_type *type, unsigned source)
{
	const struct desl_source *of = &type->sources[source];

	if (of->optional || !is_aggregated(type, source))
		return false;
	for (unsigned i = 0; i < of->type->field_count; i++) {
		if (of->used[i] && !is_column_bound(type, source, i))
			return false;
	}
	return true;
}

/* Why a type has no SQL, or NULL. */
static const char *obstacle_of(const struct desl_type *type)
{
	if (type->self_field >= 0)
		return "selfreference has no SQL: its recursion is over aggregates";
	for (unsigned i = 0; i < type->source_count; i++) {
		if (type->sources[i].is_listed)
			return "a List has no SQL";
		if (type->source_count > 1 && type->aggregate_count && !is_met_once(type, i))
			return "SQL would count records once for each that they are combined with";
	}
	return NULL;
}

int desl_write_sql(const struct desl_program *program, FILE *stream, struct asterism_diag *diag)
{
	for (const struct desl_type *type = program->types; type; type = type->next) {
		const char *obstacle = type->is_input ? NULL : obstacle_of(type);

		if (!obstacle)
			continue;
		diag_add(diag, ASTERISM_ERROR, &type->name.location, "use -f json or csv", "%s", obstacle);
		return -EINVAL;
	}
	for (const struct desl_type *type = program->types; type; type = type->next) {
		if (type->advices && type->is_wanted)
			diag_add(diag, ASTERISM_WARNING, &type->name.location, "use -f json or csv for it",
				 "the advice of '%s' is left out: there is no SQL for it", type->name.text);
	}
	fputs("-- Addresses go in as whole numbers, other Lines as texts.\n", stream);
	for (const struct desl_type *type = program->types; type; type = type->next) {
		const struct sql sql = { program, type, stream, -1 };

		if (type->is_input)
			put_sql_table(&sql);
		else
			put_view(&sql);
	}
	for (const struct desl_type *type = program->types; type; type = type->next) {
		if (type->is_wanted)
			fprintf(stream, "SELECT * FROM \"%s\";\n", type->name.text);
	}
	return ferror(stream) ? -EIO : 0;
}
