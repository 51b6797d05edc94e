// SPDX-License-Identifier: BSD-2-Clause
/* Writes measures as a table with a row for each key, and below it the histograms. */

#include "session/measure/report.h"

#include "base/alloc.h"
#include "base/log-linear.h"
#include "session/measure/show-priv.h"
#include "session/output/grid.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A row in work: one key of a measure. */
struct line {
	const struct measures_item *item;
	struct measure_sum sum;
	const void *key;
};

static void show_count(struct text_buffer *text, const struct line *line)
{
	text_printf(text, "%" PRIu64, line->sum.count);
}

static void show_rate(struct text_buffer *text, const struct line *line)
{
	text_printf(text, "%.4g/s", measure_rate(&line->sum));
}

static void show_least(struct text_buffer *text, const struct line *line)
{
	measure_show(text, line->item->value, measure_word(line->item), line->sum.least);
}

static void show_mean(struct text_buffer *text, const struct line *line)
{
	measure_show_real(text, line->item->value, measure_mean(line->item->measure, &line->sum));
}

static void show_most(struct text_buffer *text, const struct line *line)
{
	measure_show(text, line->item->value, measure_word(line->item), line->sum.most);
}

static void show_jitter(struct text_buffer *text, const struct line *line)
{
	measure_show(text, NULL, MONITOR_UNSIGNED, (union monitor_value){ .u64 = line->sum.jitter16_ns >> 4 });
}

static void show_worst_jitter(struct text_buffer *text, const struct line *line)
{
	measure_show(text, NULL, MONITOR_UNSIGNED, (union monitor_value){ .u64 = line->sum.jitter_most_ns });
}

static const struct column {
	const char *name, *name_of_times; /* where the values are intervals */
	void (*show)(struct text_buffer *text, const struct line *line);
	uint64_t values; /* how many there must be, for it to say something */
} columns[] = {
	{ "count", "count", show_count, 0 },
	{ "rate", "rate", show_rate, 1 },
	{ "min", "interval min", show_least, 1 },
	{ "mean", "mean", show_mean, 1 },
	{ "max", "max", show_most, 1 },
	{ "jitter", "jitter", show_jitter, 2 },
	{ "jitter max", "jitter max", show_worst_jitter, 2 },
};

enum { COLUMNS = sizeof columns / sizeof *columns };

/* What show has written, as grid_set takes it. */
static char *taken(const char *text)
{
	return strdup(text);
}

static void fill_line(struct grid *grid, size_t row, const struct line *line)
{
	char memory[1024];
	struct text_buffer text;
	size_t column = 0;

	if (line->item->key) {
		text_init_fixed(&text, memory, sizeof memory);
		measure_show_key(&text, line->item->key, line->key);
		grid_set(grid, row, column++, taken(memory));
	}
	for (size_t i = 0; i < COLUMNS; i++) {
		text_init_fixed(&text, memory, sizeof memory);
		if (line->sum.values >= columns[i].values)
			columns[i].show(&text, line);
		else
			text_append(&text, "-");
		grid_set(grid, row, column++, taken(memory));
	}
}

static void put_measure_table(FILE *stream, const struct measures_item *item, uint32_t rows)
{
	bool has_key = item->key;
	struct grid grid;

	if (!grid_init(&grid, rows + (size_t)1, COLUMNS + (size_t)has_key)) {
		fputs("  (out of memory)\n", stream);
		grid_fini(&grid);
		return;
	}
	grid.is_left[0] = has_key && item->key->value == EVENT_STRING;
	if (has_key)
		grid_set(&grid, 0, 0, taken(item->by));
	for (size_t i = 0; i < COLUMNS; i++)
		grid_set(&grid, 0, i + has_key, taken(item->value ? columns[i].name : columns[i].name_of_times));
	for (uint32_t i = 0; i < rows; i++) {
		struct line line = { .item = item, .key = monitor_keys_get(measure_keys(item->measure), i) };

		measure_read(item->measure, i, &line.sum, NULL);
		fill_line(&grid, i + (size_t)1, &line);
	}
	grid_put(stream, &grid);
	grid_fini(&grid);
}

/* "low .. high", or the one value that a bucket holds; in front of a linear bucket's end, which is not in it, a "<". */
static char *bucket_label(const void *context, uint32_t bucket)
{
	const struct measures_item *item = context;
	const struct measure_shape *shape = &item->shape.measure;
	char memory[256];
	struct text_buffer text;

	text_init_fixed(&text, memory, sizeof memory);
	if (shape->buckets == MEASURE_LINEAR) {
		measure_show_real(&text, item->value, measure_linear_low(shape, bucket));
		text_append(&text, " .. <");
		measure_show_real(&text, item->value, measure_linear_low(shape, bucket + 1));
		return taken(memory);
	}
	struct log_linear_range range = log_linear_range(bucket);

	measure_show(&text, item->value, MONITOR_UNSIGNED, (union monitor_value){ .u64 = range.low });
	if (range.low != range.high) {
		text_append(&text, " .. ");
		measure_show(&text, item->value, MONITOR_UNSIGNED, (union monitor_value){ .u64 = range.high });
	}
	return taken(memory);
}

static void put_measure_histogram(FILE *stream, const struct measures_item *item, uint32_t row, uint64_t *counts)
{
	const struct grid_bars bars = { counts, measure_bucket_count(item->measure), bucket_label, item };
	struct measure_sum sum;

	measure_read(item->measure, row, &sum, counts);
	if (item->key) {
		char memory[1024];
		struct text_buffer text;

		text_init_fixed(&text, memory, sizeof memory);
		measure_show_key(&text, item->key, monitor_keys_get(measure_keys(item->measure), row));
		fprintf(stream, "  %s %s\n", item->by, memory);
	}
	grid_put_bars(stream, &bars);
	if (sum.below)
		fprintf(stream, "    below these: %" PRIu64 "\n", sum.below);
	if (sum.above)
		fprintf(stream, "    above these: %" PRIu64 "\n", sum.above);
}

static void put_histograms_text(FILE *stream, const struct measures_item *item, uint32_t rows)
{
	uint64_t *counts = alloc_zero(measure_bucket_count(item->measure), sizeof *counts);

	if (!counts)
		fputs("  (out of memory)\n", stream);
	for (uint32_t i = 0; counts && i < rows; i++)
		put_measure_histogram(stream, item, i, counts);
	alloc_free(counts);
}

/* What is not in the table. */
static void put_table_rest(FILE *stream, uint64_t other, uint64_t lost)
{
	if (other)
		fprintf(stream, "  other: %" PRIu64 " event%s of further keys, or without one (keys=N makes room)\n",
			other, other == 1 ? "" : "s");
	if (lost)
		fprintf(stream, "  lost: %" PRIu64 " event%s of any type\n", lost, lost == 1 ? "" : "s");
}

static void put_measure_text(FILE *stream, const struct measures_item *item)
{
	uint32_t rows = item->measure ? monitor_keys_count(measure_keys(item->measure)) : 0;
	struct measure_sum first = { 0 };

	measure_write_name(stream, item);
	if (rows)
		measure_read(item->measure, 0, &first, NULL);
	if (!first.count) {
		fputs(": no event\n", stream);
		return;
	}
	if (item->by)
		fprintf(stream, " by %s: %" PRIu32 " key%s", item->by, rows, rows == 1 ? "" : "s");
	putc('\n', stream);
	put_measure_table(stream, item, rows);
	if (measure_bucket_count(item->measure))
		put_histograms_text(stream, item, rows);
	put_table_rest(stream, measure_other(item->measure), measure_lost(item->measure));
}

static void put_heartbeat_text(FILE *stream, const struct measures_item *item)
{
	struct heartbeat_counts counts = { 0 };
	struct text_buffer text;
	char limit[64];

	if (item->heartbeat)
		heartbeat_count(item->heartbeat, &counts);
	text_init_fixed(&text, limit, sizeof limit);
	measure_show(&text, NULL, MONITOR_UNSIGNED, (union monitor_value){ .u64 = item->shape.heartbeat.limit_ns });
	measure_write_name(stream, item);
	fprintf(stream,
		", heartbeat within %s: %" PRIu64 " event%s, missed %" PRIu64 " time%s, missing now: %" PRIu64 "\n",
		limit, counts.elements, counts.elements == 1 ? "" : "s", counts.missed, counts.missed == 1 ? "" : "s",
		counts.missing);
	if (counts.untold)
		fprintf(stream,
			"  unreported: %" PRIu64
			" times the event went missing or came back, too fast for a line each\n",
			counts.untold);
	put_table_rest(stream, counts.other, counts.lost);
}

void measure_put_text(FILE *stream, const struct measures *measures)
{
	for (size_t i = 0; i < measures_count(measures); i++) {
		const struct measures_item *item = measures_get(measures, i);

		if (item->kind == &heartbeat_kind)
			put_heartbeat_text(stream, item);
		else
			put_measure_text(stream, item);
	}
}
