// SPDX-License-Identifier: BSD-2-Clause
/* Explains AGGREGATE. */

#include "program/explain/explain-priv.h"
#include "program/query.h"

#include <inttypes.h>

static const char *const words[] = {
	[PROGRAM_BY] = "BY",
	[PROGRAM_COUNT_OF] = "COUNT",
	[PROGRAM_SUM_OF] = "SUM",
	[PROGRAM_MIN_OF] = "MIN",
	[PROGRAM_MAX_OF] = "MAX",
	[PROGRAM_AVG_OF] = "AVG",
	[PROGRAM_HISTOGRAM_OF] = "HISTOGRAM",
	[PROGRAM_QUANTILES_OF] = "QUANTILES",
};

/* `took = HISTOGRAM(b.ts - a.ts)`, `a.id` */
static void print_row(const struct explain *explain, const struct program_aggregate *row)
{
	struct text_buffer *out = explain->out;

	text_printf(out, "      %s = ", program_text(explain->program, row->name));
	if (row->op != PROGRAM_BY)
		text_printf(out, "%s%s", words[row->op], row->node == PROGRAM_NONE ? "" : "(");
	if (row->node != PROGRAM_NONE)
		program_print(out, explain->program, explain->rule, row->node);
	text_append(out, row->op != PROGRAM_BY && row->node != PROGRAM_NONE ? ")\n" : "\n");
}

void explain_aggregation_text(const struct explain *explain)
{
	const struct program *program = explain->program;
	const struct program_aggregation *row = program_aggregation(program, explain->rule);
	struct text_buffer *out = explain->out;

	if (!row)
		return;
	text_append(out, "\n  matches are added up");
	if (explain->facts->who_adds)
		text_printf(out, " by %s", explain->facts->who_adds);
	if (explain->facts->why_added)
		text_printf(out, ": the kernel sends each of them to user space, because %s",
			    explain->facts->why_added);
	text_append(out, "\n");
	for (uint32_t i = 0; i < row->aggregate_count; i++)
		print_row(explain, &program_aggregates(program, row)[i]);
	if (row->by_count)
		text_printf(out, "    for each of at most %" PRIu64 " keys\n", explain->rule->pool);
	for (uint32_t i = 0; i < row->by_count; i++)
		print_row(explain, &program_by(program, row)[i]);
	text_append(out, "    reported at the end");
	if (row->every_ns) {
		text_append(out, " and every ");
		text_time(out, row->every_ns);
	}
	if (row->flags & PROGRAM_AGGREGATION_DELTA)
		text_append(out, ", each time the changes since the last report");
	if (row->top)
		text_printf(out, ", the first %" PRIu32 " keys", row->top);
	text_append(out, "\n");
}

static void put_aggregate_rows(const struct explain *explain, const struct program_aggregate *rows, uint32_t count)
{
	struct text_buffer *out = explain->out;

	for (uint32_t i = 0; i < count; i++) {
		text_append(out, i ? ",{\"name\":" : "{\"name\":");
		text_json(out, program_text(explain->program, rows[i].name));
		if (rows[i].op != PROGRAM_BY)
			text_printf(out, ",\"op\":\"%s\"", words[rows[i].op]);
		text_append(out, ",\"value\":");
		explain_put_node(explain, rows[i].node);
		text_append(out, "}");
	}
}

void explain_aggregation_json(const struct explain *explain)
{
	const struct program *program = explain->program;
	const struct program_aggregation *row = program_aggregation(program, explain->rule);
	struct text_buffer *out = explain->out;

	if (!row)
		return;
	text_append(out, ",\"aggregate\":{\"values\":[");
	put_aggregate_rows(explain, program_aggregates(program, row), row->aggregate_count);
	text_append(out, "],\"by\":[");
	put_aggregate_rows(explain, program_by(program, row), row->by_count);
	text_append(out, "]");
	if (explain->facts->who_adds) {
		text_append(out, ",\"added_by\":");
		text_json(out, explain->facts->who_adds);
	}
	if (explain->facts->why_added) {
		text_append(out, ",\"delivered_because\":");
		text_json(out, explain->facts->why_added);
	}
	if (row->top)
		text_printf(out, ",\"top\":%" PRIu32, row->top);
	if (row->every_ns)
		text_printf(out, ",\"every_ns\":%" PRIu64 ",\"delta\":%s", row->every_ns,
			    row->flags & PROGRAM_AGGREGATION_DELTA ? "true" : "false");
	text_append(out, "}");
}
