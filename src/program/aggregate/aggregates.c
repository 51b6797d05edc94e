// SPDX-License-Identifier: BSD-2-Clause
/* Reports tables when they are due. */

#include "program/aggregate/aggregate.h"

#include "base/alloc.h"
#include "program/query.h"

#include <errno.h>

/* Where time goes on by more than so many intervals at once, what would be the same table as often is reported once. */
enum { REPORTS_AT_ONCE_MAX = 1000 };

struct aggregates {
	const struct program *program;
	aggregate_report_fn *report;
	void *context;
	struct aggregate_table **tables; /* per rule; NULL: it does not aggregate */
	uint64_t *due;                   /* per rule: the end of its interval; UINT64_MAX: there is none */
	bool has_begun;
	struct aggregate_source source; /* without functions: there is none */
};

static int make_tables(struct aggregates *aggregates)
{
	const struct program *program = aggregates->program;
	int result = 0;

	for (uint32_t i = 0; i < program->rule_count && !result; i++)
		if (program_aggregation(program, &program->rules[i]))
			result = aggregate_table_new(program, i, &aggregates->tables[i]);
	return result;
}

int aggregates_new(const struct program *program, aggregate_report_fn *report, void *context, struct aggregates **made)
{
	struct aggregates *aggregates;
	int result = -ENOMEM;

	*made = NULL;
	if (!program->header->sections[PROGRAM_AGGREGATIONS].count)
		return 0;
	aggregates = alloc_zero(1, sizeof *aggregates);
	if (!aggregates)
		return -ENOMEM;
	*aggregates = (struct aggregates){ .program = program, .report = report, .context = context };
	aggregates->tables = alloc_zero(program->rule_count, sizeof *aggregates->tables);
	aggregates->due = alloc_zero(program->rule_count, sizeof *aggregates->due);
	if (aggregates->tables && aggregates->due)
		result = make_tables(aggregates);
	if (result)
		aggregates_free(aggregates);
	else
		*made = aggregates;
	return result;
}

void aggregates_free(struct aggregates *aggregates)
{
	if (!aggregates)
		return;
	for (uint32_t i = 0; aggregates->tables && i < aggregates->program->rule_count; i++)
		aggregate_table_free(aggregates->tables[i]);
	alloc_free(aggregates->tables);
	alloc_free(aggregates->due);
	alloc_free(aggregates);
}

static uint64_t later_end(uint64_t ts, uint64_t by)
{
	return ts > UINT64_MAX - by ? UINT64_MAX : ts + by;
}

static void expect_due(const struct aggregates *aggregates, uint32_t rule)
{
	if (aggregates->source.expect)
		aggregates->source.expect(aggregates->source.context, rule, aggregates->due[rule]);
}

/* What the source has of matches up to `until` is the table's. As its take. */
static int take_source_matches(struct aggregates *aggregates, uint32_t rule, uint64_t until)
{
	const struct aggregate_source *source = &aggregates->source;

	return source->take ? source->take(source->context, rule, until, aggregates->tables[rule]) : 0;
}

void aggregates_begin(struct aggregates *aggregates, uint64_t ts)
{
	if (!aggregates || aggregates->has_begun)
		return;
	aggregates->has_begun = true;
	for (uint32_t i = 0; i < aggregates->program->rule_count; i++) {
		const struct aggregate_table *table = aggregates->tables[i];
		uint64_t every_ns = table ? aggregate_table_row(table)->every_ns : 0;

		aggregates->due[i] = every_ns ? later_end(ts, every_ns) : UINT64_MAX;
		if (table)
			expect_due(aggregates, i);
	}
}

void aggregates_attach(struct aggregates *aggregates, const struct aggregate_source *source)
{
	if (!aggregates)
		return;
	aggregates->source = *source;
	for (uint32_t i = 0; aggregates->has_begun && i < aggregates->program->rule_count; i++)
		if (aggregates->tables[i])
			expect_due(aggregates, i);
}

static int report_aggregate(struct aggregates *aggregates, uint32_t rule, bool is_last)
{
	struct aggregate_table *table = aggregates->tables[rule];
	struct aggregate_report report = {
		.table = table, .rule = rule, .is_last = is_last, .ts = aggregates->due[rule]
	};
	int result = aggregate_table_sort(table, &report);

	if (!result && aggregates->report)
		result = aggregates->report(aggregates->context, &report);
	if (aggregate_table_row(table)->flags & PROGRAM_AGGREGATION_DELTA)
		aggregate_table_clear(table);
	return result;
}

/* Reports the interval that ends at due, unless nothing came, and begins the next. */
static int end_interval(struct aggregates *aggregates, uint32_t rule)
{
	uint64_t *due = &aggregates->due[rule];
	int result = 0;

	if (!aggregate_table_is_empty(aggregates->tables[rule]))
		result = report_aggregate(aggregates, rule, false);
	*due = later_end(*due, aggregate_table_row(aggregates->tables[rule])->every_ns);
	return result;
}

/* Reports what was due before ts. */
static int advance_aggregate(struct aggregates *aggregates, uint32_t rule, uint64_t ts)
{
	uint64_t *due = &aggregates->due[rule], every_ns;
	int result = 0;

	if (*due >= ts)
		return 0;
	every_ns = aggregate_table_row(aggregates->tables[rule])->every_ns;
	while (*due < ts && result >= 0) {
		result = take_source_matches(aggregates, rule, *due);
		if (!result && (ts - *due) / every_ns > REPORTS_AT_ONCE_MAX)
			*due += (ts - 1 - *due) / every_ns * every_ns;
		if (result >= 0)
			result = end_interval(aggregates, rule);
	}
	expect_due(aggregates, rule);
	return result;
}

/* Where there are matches after due, time has passed beyond it. */
static int take_all(struct aggregates *aggregates, uint32_t rule)
{
	int result;

	while ((result = take_source_matches(aggregates, rule, aggregates->due[rule])) > 0) {
		result = end_interval(aggregates, rule);
		if (result)
			return result;
	}
	return result ? result : take_source_matches(aggregates, rule, UINT64_MAX);
}

int aggregates_detach(struct aggregates *aggregates)
{
	int result = 0;

	if (!aggregates || !aggregates->source.take)
		return 0;
	for (uint32_t i = 0; i < aggregates->program->rule_count && !result; i++)
		if (aggregates->tables[i])
			result = take_all(aggregates, i);
	aggregates->source = (struct aggregate_source){ 0 };
	return result;
}

int aggregates_add(struct aggregates *aggregates, const struct program_match *match)
{
	if (!aggregates || !aggregates->tables[match->rule])
		return 0;
	aggregates_begin(aggregates, match->ts);
	int result = advance_aggregate(aggregates, match->rule, match->ts);

	if (!result && aggregates->source.share)
		result = aggregates->source.share(aggregates->source.context, match->rule, aggregates->due[match->rule],
						  aggregates->tables[match->rule]);
	return result ? result : aggregate_table_add(aggregates->tables[match->rule], match);
}

int aggregates_advance(struct aggregates *aggregates, uint64_t ts)
{
	int result = 0;

	if (!aggregates || !aggregates->has_begun)
		return 0;
	for (uint32_t i = 0; i < aggregates->program->rule_count && !result; i++)
		result = advance_aggregate(aggregates, i, ts);
	return result;
}

uint64_t aggregates_due(const struct aggregates *aggregates)
{
	uint64_t due = UINT64_MAX;

	for (uint32_t i = 0; aggregates && aggregates->has_begun && i < aggregates->program->rule_count; i++)
		due = aggregates->due[i] < due ? aggregates->due[i] : due;
	return due;
}

int aggregates_finish(struct aggregates *aggregates)
{
	int result = aggregates_detach(aggregates);

	for (uint32_t i = 0; aggregates && i < aggregates->program->rule_count && !result; i++)
		if (aggregates->tables[i])
			result = report_aggregate(aggregates, i, true);
	return result;
}
