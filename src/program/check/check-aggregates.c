// SPDX-License-Identifier: BSD-2-Clause
/* Checks that what a rule adds up are numbers of its slots, and that its keys are bounded. */

#include "program/check/check-priv.h"
#include "program/query.h"

static int check_value(struct check *check, struct check_item item, uint32_t rule)
{
	const struct program_aggregate *row = &check->program->aggregates[item.index];
	int result = 0;

	if (row->name == PROGRAM_NONE)
		return check_fail(check, item, "it has no name");
	result = check_label(check, item, row->name);
	if (!result && row->op == PROGRAM_COUNT_OF)
		return row->node == PROGRAM_NONE && !row->there && !row->meaning
			       ? 0
			       : check_fail(check, item, "COUNT has no value");
	if (!result)
		result = check_expression(check, item, rule, row->node, READS_NOTHING);
	if (!result)
		result = check_meaning(check, item, row->meaning,
				       (enum program_kind)check->program->nodes[row->node].kind);
	if (!result && row->there)
		result = check_there(check, item, rule, row->there - 1);
	return result;
}

static int check_by(struct check *check, const struct program_aggregation *aggregation, uint32_t rule)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < aggregation->by_count; i++) {
		struct check_item item = { PROGRAM_AGGREGATES, aggregation->first_by + i };
		const struct program_aggregate *row = &check->program->aggregates[item.index];
		int result = row->op == PROGRAM_BY ? check_value(check, item, rule)
						   : check_fail(check, item, "it is not a value of a key");

		if (result)
			return result;
		bytes += program_value_bytes(check->program, rule, row->node);
		if (bytes > PROGRAM_BY_BYTES_MAX)
			return check_fail(check, item, "the key takes more than %d bytes", PROGRAM_BY_BYTES_MAX);
	}
	return 0;
}

static int check_sums(struct check *check, const struct program_aggregation *aggregation, uint32_t rule)
{
	for (uint32_t i = 0; i < aggregation->aggregate_count; i++) {
		struct check_item item = { PROGRAM_AGGREGATES, aggregation->first_aggregate + i };
		const struct program_aggregate *row = &check->program->aggregates[item.index];
		int result;

		if (row->op <= PROGRAM_BY || row->op > PROGRAM_QUANTILES_OF)
			return check_fail(check, item, "unknown aggregate %u", row->op);
		result = check_value(check, item, rule);
		if (result)
			return result;
		if (row->op != PROGRAM_COUNT_OF && check->program->nodes[row->node].kind > PROGRAM_F64)
			return check_fail(check, item, "its value is not a number");
	}
	return 0;
}

static int check_row(struct check *check, struct check_item item)
{
	const struct program_aggregation *row = &check->program->aggregations[item.index];

	if (row->by_count > PROGRAM_BY_MAX)
		return check_fail(check, item, "its key has more than %d values", PROGRAM_BY_MAX);
	if (row->aggregate_count < 1 || row->aggregate_count > PROGRAM_AGGREGATES_MAX)
		return check_fail(check, item, "it has %u aggregates, not between 1 and %d", row->aggregate_count,
				  PROGRAM_AGGREGATES_MAX);
	if (row->flags & ~(uint32_t)PROGRAM_AGGREGATION_DELTA)
		return check_fail(check, item, "unknown flags %#x", row->flags);
	if (row->flags && !row->every_ns)
		return check_fail(check, item, "it has DELTA, but no EVERY");
	if (row->every_ns > INT64_MAX)
		return check_fail(check, item, "its EVERY is longer than any time");
	return 0;
}

int check_aggregation(struct check *check, uint32_t rule)
{
	const struct program_rule *row = &check->program->rules[rule];
	struct check_item owner = { PROGRAM_RULES, rule }, item = { PROGRAM_AGGREGATIONS, row->aggregation - 1 };
	const struct program_aggregation *aggregation;
	int result;

	if (!row->aggregation)
		return 0;
	if (check_is_machine(check, rule))
		return check_fail(check, owner, "a machine cannot aggregate");
	result = check_claim(check, owner, (struct check_range){ PROGRAM_AGGREGATIONS, item.index, 1 });
	if (!result)
		result = check_row(check, item);
	if (result)
		return result;
	aggregation = &check->program->aggregations[item.index];
	result = check_claim(check, item,
			     (struct check_range){ PROGRAM_AGGREGATES, aggregation->first_by, aggregation->by_count });
	if (!result)
		result = check_claim(check, item,
				     (struct check_range){ PROGRAM_AGGREGATES, aggregation->first_aggregate,
							   aggregation->aggregate_count });
	if (!result)
		result = check_by(check, aggregation, rule);
	return result ? result : check_sums(check, aggregation, rule);
}
