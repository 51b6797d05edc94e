// SPDX-License-Identifier: BSD-2-Clause
/* Writes aggregates as a table: a row for each key, and below it the histograms. */

#include "session/output/result-aggregate.h"

#include "base/text.h"
#include "program/query.h"
#include "session/output/grid.h"
#include "session/output/result-priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What a value is printed by: a key, an aggregate, the bound of a bucket. */
struct shown {
	const struct program *program;
	uint32_t meaning; /* as the image has it */
};

static char *shown_value_text(const struct shown *shown, bool is_there, const struct program_value *value)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	if (!stream)
		return NULL;
	if (is_there)
		result_show_value(stream, shown->program, shown->meaning, value, NULL);
	else
		putc('-', stream);
	return fclose(stream) ? NULL : text;
}

static char *aggregate_part_name(const struct program *program, uint32_t name, const char *part)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	if (!stream)
		return NULL;
	text_write(stream, program_text(program, name), TEXT_WORDS);
	fputs(part, stream);
	return fclose(stream) ? NULL : text;
}

static size_t columns_of(const struct program_aggregate *aggregate)
{
	return aggregate->op == PROGRAM_QUANTILES_OF   ? AGGREGATE_QUANTILES
	       : aggregate->op == PROGRAM_HISTOGRAM_OF ? 0
						       : 1;
}

static void name_columns(struct grid *grid, const struct aggregate_table *table)
{
	static const char *const parts[AGGREGATE_QUANTILES] = { " p50", " p90", " p99", " p99.9", " max" };
	const struct program *program = aggregate_table_program(table);
	const struct program_aggregation *image = aggregate_table_row(table);
	size_t column = 0;

	for (uint32_t i = 0; i < image->by_count; i++) {
		const struct program_aggregate *by = &program_by(program, image)[i];

		grid->is_left[column] = program->nodes[by->node].kind == PROGRAM_STRING;
		grid_set(grid, 0, column++, aggregate_part_name(program, by->name, ""));
	}
	for (uint32_t i = 0; i < image->aggregate_count; i++) {
		const struct program_aggregate *aggregate = &program_aggregates(program, image)[i];

		for (size_t j = 0; j < columns_of(aggregate); j++)
			grid_set(grid, 0, column++,
				 aggregate_part_name(program, aggregate->name,
						     aggregate->op == PROGRAM_QUANTILES_OF ? parts[j] : ""));
	}
}

static void fill_row(struct grid *grid, size_t number, const struct aggregate_table *table,
		     const struct aggregate_row *row)
{
	const struct program *program = aggregate_table_program(table);
	const struct program_aggregation *image = aggregate_table_row(table);
	struct program_value value;
	size_t column = 0;
	bool is_there;

	for (uint32_t i = 0; i < image->by_count; i++) {
		const struct shown shown = { program, program_by(program, image)[i].meaning };

		is_there = aggregate_key(table, row, i, &value);
		grid_set(grid, number, column++, shown_value_text(&shown, is_there, &value));
	}
	for (uint32_t i = 0; i < image->aggregate_count; i++) {
		const struct program_aggregate *aggregate = &program_aggregates(program, image)[i];
		const struct shown shown = { program, aggregate->meaning };
		bool is_split = aggregate->op == PROGRAM_QUANTILES_OF;

		for (size_t j = 0; j < columns_of(aggregate); j++) {
			is_there = is_split ? aggregate_quantile(&row->cells[i], (int)j, &value)
					    : aggregate_value(table, row, i, &value);
			grid_set(grid, number, column++, shown_value_text(&shown, is_there, &value));
		}
	}
}

static void put_aggregate_table(FILE *stream, const struct aggregate_report *report)
{
	const struct program *program = aggregate_table_program(report->table);
	const struct program_aggregation *image = aggregate_table_row(report->table);
	size_t columns = image->by_count;
	struct grid grid;

	for (uint32_t i = 0; i < image->aggregate_count; i++)
		columns += columns_of(&program_aggregates(program, image)[i]);
	if (!columns)
		return;
	if (grid_init(&grid, report->row_count + 1, columns)) {
		name_columns(&grid, report->table);
		for (size_t i = 0; i < report->row_count; i++)
			fill_row(&grid, i + 1, report->table, &report->rows[i]);
		grid_put(stream, &grid);
	} else {
		fputs("  (out of memory)\n", stream);
	}
	grid_fini(&grid);
}

/* "  low .. high", or the one value that a bucket holds. */
static char *label_of(const struct shown *shown, int32_t bucket)
{
	struct aggregate_range range = aggregate_range(bucket);
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	if (!stream)
		return NULL;
	result_show_value(stream, shown->program, shown->meaning, &range.low, NULL);
	if (range.low.u64 != range.high.u64) {
		fputs(" .. ", stream);
		result_show_value(stream, shown->program, shown->meaning, &range.high, NULL);
	}
	return fclose(stream) ? NULL : text;
}

/* The buckets of a histogram, for grid_put_bars. */
struct labelled {
	struct shown shown;
	int32_t first;
};

static char *label_bar(const void *context, uint32_t index)
{
	const struct labelled *labelled = context;

	return label_of(&labelled->shown, labelled->first + (int32_t)index);
}

static void put_bars(FILE *stream, const struct shown *shown, const struct aggregate_buckets *buckets)
{
	const struct labelled labelled = { *shown, buckets->first };

	grid_put_bars(stream, &(struct grid_bars){ buckets->counts, buckets->count, label_bar, &labelled });
}

/* "histogram of took, comm=cp a.id=0" and its bars. */
static void put_aggregate_histogram(FILE *stream, const struct aggregate_report *report,
				    const struct aggregate_row *row, uint32_t index)
{
	const struct program *program = aggregate_table_program(report->table);
	const struct program_aggregation *image = aggregate_table_row(report->table);
	const struct shown shown = { program, program_aggregates(program, image)[index].meaning };
	const char *separator = ":";

	fputs("  ", stream);
	text_write(stream, program_text(program, program_aggregates(program, image)[index].name), TEXT_WORDS);
	for (uint32_t i = 0; i < image->by_count; i++) {
		struct program_value value;
		bool is_there = aggregate_key(report->table, row, i, &value);

		fprintf(stream, "%s ", separator);
		separator = ",";
		text_write(stream, program_text(program, program_by(program, image)[i].name), TEXT_WORDS);
		putc(' ', stream);
		if (is_there)
			result_show_value(stream, program, program_by(program, image)[i].meaning, &value, NULL);
		else
			putc('-', stream);
	}
	putc('\n', stream);
	put_bars(stream, &shown, &row->cells[index].buckets);
}

static void put_aggregate_head(FILE *stream, const struct aggregate_report *report)
{
	const struct program *program = aggregate_table_program(report->table);
	const struct program_aggregation *image = aggregate_table_row(report->table);
	size_t keys = report->row_count + report->left_out;

	fputs(program_text(program, program->rules[report->rule].name), stream);
	if (!report->is_last)
		fprintf(stream, " up to %" PRIu64 ".%09" PRIu64, report->ts / 1000000000, report->ts % 1000000000);
	if (aggregate_table_is_empty(report->table))
		fputs(image->flags & PROGRAM_AGGREGATION_DELTA ? ": no match in this interval" : ": no match", stream);
	else if (image->by_count)
		fprintf(stream, ": %zu key%s", keys, keys == 1 ? "" : "s");
	if (report->left_out)
		fprintf(stream, ", the first %zu", report->row_count);
	putc('\n', stream);
}

void result_write_aggregate_text(FILE *stream, const struct aggregate_report *report)
{
	const struct program *program = aggregate_table_program(report->table);
	const struct program_aggregation *image = aggregate_table_row(report->table);

	put_aggregate_head(stream, report);
	if (report->row_count)
		put_aggregate_table(stream, report);
	for (size_t i = 0; i < report->row_count; i++)
		for (uint32_t j = 0; j < image->aggregate_count; j++)
			if (program_aggregates(program, image)[j].op == PROGRAM_HISTOGRAM_OF)
				put_aggregate_histogram(stream, report, &report->rows[i], j);
	if (report->other)
		fprintf(stream, "  other: %" PRIu64 " match%s of further keys\n", report->other,
			report->other == 1 ? "" : "es");
}
