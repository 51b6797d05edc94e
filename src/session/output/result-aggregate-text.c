// SPDX-License-Identifier: BSD-2-Clause
/* Decides how aggregates look to people: a table, a row for each key, and below it the histograms. */

#include "session/output/result-aggregate.h"

#include "base/alloc.h"
#include "base/text.h"
#include "program/query.h"
#include "session/output/result-priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BAR_WIDTH = 40 };

/* A table of texts; row 0 holds the names of the columns. */
struct grid {
	char **texts;
	int *widths;
	bool *is_left; /* per column */
	size_t columns, rows;
};

/* What a value is printed by: a key, an aggregate, the bound of a bucket. */
struct shown {
	const struct program *program;
	uint32_t meaning; /* as the image has it */
};

static char *text_of(const struct shown *shown, bool is_there, const struct program_value *value)
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

static char *name_of(const struct program *program, uint32_t name, const char *part)
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

/* Characters that are seen: bytes but those within a character. */
static int width_of(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void set(struct grid *grid, size_t row, size_t column, char *text)
{
	int width = text ? width_of(text) : 0;

	grid->texts[row * grid->columns + column] = text;
	if (width > grid->widths[column])
		grid->widths[column] = width;
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
		set(grid, 0, column++, name_of(program, by->name, ""));
	}
	for (uint32_t i = 0; i < image->aggregate_count; i++) {
		const struct program_aggregate *aggregate = &program_aggregates(program, image)[i];

		for (size_t j = 0; j < columns_of(aggregate); j++)
			set(grid, 0, column++,
			    name_of(program, aggregate->name, aggregate->op == PROGRAM_QUANTILES_OF ? parts[j] : ""));
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
		set(grid, number, column++, text_of(&shown, is_there, &value));
	}
	for (uint32_t i = 0; i < image->aggregate_count; i++) {
		const struct program_aggregate *aggregate = &program_aggregates(program, image)[i];
		const struct shown shown = { program, aggregate->meaning };
		bool is_split = aggregate->op == PROGRAM_QUANTILES_OF;

		for (size_t j = 0; j < columns_of(aggregate); j++) {
			is_there = is_split ? aggregate_quantile(&row->cells[i], (int)j, &value)
					    : aggregate_value(table, row, i, &value);
			set(grid, number, column++, text_of(&shown, is_there, &value));
		}
	}
}

static void put_grid(FILE *stream, const struct grid *grid)
{
	for (size_t row = 0; row < grid->rows; row++) {
		for (size_t column = 0; column < grid->columns; column++) {
			const char *text = grid->texts[row * grid->columns + column];
			bool is_last = column + 1 == grid->columns;
			int gap = grid->widths[column] - (text ? width_of(text) : 0);

			fprintf(stream, "  %*s%s%*s", grid->is_left[column] ? 0 : gap, "", text ? text : "",
				grid->is_left[column] && !is_last ? gap : 0, "");
		}
		putc('\n', stream);
	}
}

static void put_table(FILE *stream, const struct aggregate_report *report)
{
	const struct program *program = aggregate_table_program(report->table);
	const struct program_aggregation *image = aggregate_table_row(report->table);
	struct grid grid = { .columns = image->by_count, .rows = report->row_count + 1 };

	for (uint32_t i = 0; i < image->aggregate_count; i++)
		grid.columns += columns_of(&program_aggregates(program, image)[i]);
	if (!grid.columns)
		return;
	grid.texts = alloc_zero(grid.rows * grid.columns, sizeof *grid.texts);
	grid.widths = alloc_zero(grid.columns, sizeof *grid.widths);
	grid.is_left = alloc_zero(grid.columns, sizeof *grid.is_left);
	if (grid.texts && grid.widths && grid.is_left) {
		name_columns(&grid, report->table);
		for (size_t i = 0; i < report->row_count; i++)
			fill_row(&grid, i + 1, report->table, &report->rows[i]);
		put_grid(stream, &grid);
	} else {
		fputs("  (memory is short)\n", stream);
	}
	for (size_t i = 0; grid.texts && i < grid.rows * grid.columns; i++)
		free(grid.texts[i]);
	alloc_free(grid.texts);
	alloc_free(grid.widths);
	alloc_free(grid.is_left);
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

static void put_bars(FILE *stream, const struct shown *shown, const struct aggregate_buckets *buckets)
{
	uint64_t most = 1;
	int width = 0;

	for (uint32_t i = 0; i < buckets->count; i++) {
		char *label = buckets->counts[i] ? label_of(shown, buckets->first + (int32_t)i) : NULL;

		width = label && (int)strlen(label) > width ? (int)strlen(label) : width;
		most = buckets->counts[i] > most ? buckets->counts[i] : most;
		free(label);
	}
	for (uint32_t i = 0; i < buckets->count; i++) {
		int bar = (int)((double)buckets->counts[i] / (double)most * BAR_WIDTH + 0.5);
		char *label = buckets->counts[i] ? label_of(shown, buckets->first + (int32_t)i) : NULL;

		if (buckets->counts[i])
			fprintf(stream, "    %*s  %10" PRIu64 "  %.*s\n", width, label ? label : "", buckets->counts[i],
				bar, "########################################");
		free(label);
	}
}

/* "histogram of took, comm=cp a.id=0" and its bars. */
static void put_histogram(FILE *stream, const struct aggregate_report *report, const struct aggregate_row *row,
			  uint32_t index)
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

static void put_head(FILE *stream, const struct aggregate_report *report)
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

	put_head(stream, report);
	if (report->row_count)
		put_table(stream, report);
	for (size_t i = 0; i < report->row_count; i++)
		for (uint32_t j = 0; j < image->aggregate_count; j++)
			if (program_aggregates(program, image)[j].op == PROGRAM_HISTOGRAM_OF)
				put_histogram(stream, report, &report->rows[i], j);
	if (report->other)
		fprintf(stream, "  other: %" PRIu64 " match%s of further keys\n", report->other,
			report->other == 1 ? "" : "es");
}
