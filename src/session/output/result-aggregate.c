// SPDX-License-Identifier: BSD-2-Clause
/* Writes aggregates as JSON: a line for each key, and one for the matches whose key found no place. */

#include "session/output/result-aggregate.h"

#include "program/query.h"
#include "session/output/result-priv.h"

#include <inttypes.h>

static void put_aggregate_name(FILE *stream, const struct aggregate_report *report, const char *separator,
			       uint32_t name)
{
	fputs(separator, stream);
	result_put_string(stream, program_text(aggregate_table_program(report->table), name));
	putc(':', stream);
}

static void put_there(FILE *stream, bool is_there, const struct program_value *value)
{
	if (is_there)
		result_put_value(stream, value);
	else
		fputs("null", stream);
}

static void put_buckets(FILE *stream, const struct aggregate_buckets *buckets)
{
	const char *separator = "";

	fputs("{\"buckets\":[", stream);
	for (uint32_t i = 0; i < buckets->count; i++) {
		struct aggregate_range range = aggregate_range(buckets->first + (int32_t)i);

		if (!buckets->counts[i])
			continue;
		fprintf(stream, "%s[", separator);
		result_put_value(stream, &range.low);
		putc(',', stream);
		result_put_value(stream, &range.high);
		fprintf(stream, ",%" PRIu64 "]", buckets->counts[i]);
		separator = ",";
	}
	fputs("]}", stream);
}

static void put_quantiles(FILE *stream, const struct aggregate_cell *cell)
{
	for (int i = 0; i < AGGREGATE_QUANTILES; i++) {
		struct program_value value;
		bool is_there = aggregate_quantile(cell, i, &value);

		fprintf(stream, "%s\"%s\":", i ? "," : "{", aggregate_quantile_names[i]);
		put_there(stream, is_there, &value);
	}
	putc('}', stream);
}

/* The names of those values of the key that have some. */
static void put_names(FILE *stream, const struct aggregate_report *report, const struct aggregate_row *row)
{
	const struct program *program = aggregate_table_program(report->table);
	const struct program_aggregation *image = aggregate_table_row(report->table);
	const char *before = ",\"names\":{";

	for (uint32_t i = 0; i < image->by_count; i++) {
		const struct program_aggregate *by = &program_by(program, image)[i];
		struct program_value value;
		const struct result_named named = { before, program_text(program, by->name), by->meaning, &value,
						    NULL };

		if (aggregate_key(report->table, row, i, &value) && result_put_name(stream, program, &named))
			before = ",";
	}
	if (!before[1])
		putc('}', stream);
}

static void put_aggregate_row(FILE *stream, const struct aggregate_report *report, const struct aggregate_row *row)
{
	const struct aggregate_table *table = report->table;
	const struct program *program = aggregate_table_program(table);
	const struct program_aggregation *image = aggregate_table_row(table);

	fputs("\"by\":{", stream);
	for (uint32_t i = 0; i < image->by_count; i++) {
		struct program_value value;
		bool is_there = aggregate_key(table, row, i, &value);

		put_aggregate_name(stream, report, i ? "," : "", program_by(program, image)[i].name);
		put_there(stream, is_there, &value);
	}
	putc('}', stream);
	put_names(stream, report, row);
	for (uint32_t i = 0; i < image->aggregate_count; i++) {
		const struct program_aggregate *aggregate = &program_aggregates(program, image)[i];
		struct program_value value;

		put_aggregate_name(stream, report, ",", aggregate->name);
		if (aggregate->op == PROGRAM_HISTOGRAM_OF)
			put_buckets(stream, &row->cells[i].buckets);
		else if (aggregate->op == PROGRAM_QUANTILES_OF)
			put_quantiles(stream, &row->cells[i]);
		else
			put_there(stream, aggregate_value(table, row, i, &value), &value);
	}
}

void result_write_aggregate_json(FILE *stream, const struct aggregate_report *report)
{
	const struct program *program = aggregate_table_program(report->table);
	const char *name = program_text(program, program->rules[report->rule].name);

	for (size_t i = 0; i < report->row_count; i++) {
		fputs("{\"aggregate\":", stream);
		result_put_string(stream, name);
		putc(',', stream);
		put_aggregate_row(stream, report, &report->rows[i]);
		fputs("}\n", stream);
	}
	if (!report->other)
		return;
	fputs("{\"aggregate\":", stream);
	result_put_string(stream, name);
	fprintf(stream, ",\"other\":%" PRIu64 "}\n", report->other);
}
