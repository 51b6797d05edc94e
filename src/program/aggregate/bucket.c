// SPDX-License-Identifier: BSD-2-Clause
/*
 * Computes the buckets of values: those of base/log-linear.h for magnitudes, and the same with the sign turned for
 * negative values. Bucket b is the number of the value's magnitude, negative where the value is.
 */

#include "program/aggregate/aggregate.h"

#include "base/log-linear.h"

_Static_assert((int)LOG_LINEAR_BUCKETS == (int)AGGREGATE_BUCKETS, "every magnitude has one");

/* As a conversion to an integer in a rule: the fraction goes, what is too large is the largest. */
static int64_t whole(double real)
{
	if (real != real)
		return 0;
	if (real >= 0x1p63)
		return INT64_MAX;
	return real < -0x1p63 ? INT64_MIN : (int64_t)real;
}

int32_t aggregate_bucket(const struct program_value *value)
{
	int64_t number = value->kind == PROGRAM_F64 ? whole(value->f64) : value->i64;

	if (value->kind == PROGRAM_U64 || number >= 0)
		return (int32_t)log_linear_bucket((uint64_t)number);
	return -(int32_t)log_linear_bucket(-(uint64_t)number);
}

static struct program_value negative(uint64_t magnitude)
{
	uint64_t least = UINT64_C(1) << 63;

	return (struct program_value){ .kind = PROGRAM_I64, .u64 = -(magnitude < least ? magnitude : least) };
}

struct aggregate_range aggregate_range(int32_t bucket)
{
	struct log_linear_range range = log_linear_range((uint32_t)(bucket < 0 ? -bucket : bucket));

	if (bucket < 0)
		return (struct aggregate_range){ negative(range.high), negative(range.low) };
	return (struct aggregate_range){ { .kind = PROGRAM_U64, .u64 = range.low },
					 { .kind = PROGRAM_U64, .u64 = range.high } };
}

const char *const aggregate_quantile_names[AGGREGATE_QUANTILES] = { "0.5", "0.9", "0.99", "0.999", "max" };

/* How many of count values are at most the quantile, at least one: the share of them, rounded up. */
static uint64_t quantile_rank(uint64_t count, int quantile)
{
	static const uint64_t thousandths[AGGREGATE_QUANTILES] = { 500, 900, 990, 999, 1000 };
	uint64_t missing = 1000 - thousandths[quantile];

	return count - (count / 1000 * missing + count % 1000 * missing / 1000);
}

bool aggregate_quantile(const struct aggregate_cell *cell, int quantile, struct program_value *value)
{
	uint64_t wanted = quantile_rank(cell->count, quantile), seen = 0;

	for (uint32_t i = 0; i < cell->buckets.count; i++) {
		seen += cell->buckets.counts[i];
		if (seen && seen >= wanted) {
			*value = aggregate_range(cell->buckets.first + (int32_t)i).high;
			return true;
		}
	}
	return false;
}
