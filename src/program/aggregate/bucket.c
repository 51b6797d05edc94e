// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides the buckets of histograms. Each value from 0 to 15 has its own, every power of two from there on eight of
 * equal width, so none is wider than an eighth of its values; negative values have the same ones with the sign turned.
 * Bucket b is the number of the value's magnitude, negative where the value is.
 */

#include "program/aggregate/aggregate.h"

enum { EXACT = 16, EXACT_BITS = 4, PER_POWER = 8, PER_POWER_BITS = 3 };

_Static_assert(EXACT + (64 - EXACT_BITS) * PER_POWER == AGGREGATE_BUCKETS, "every magnitude has one");

static int32_t of_magnitude(uint64_t magnitude)
{
	if (magnitude < EXACT)
		return (int32_t)magnitude;
	int power = 63 - __builtin_clzll(magnitude);
	int part = (int)(magnitude >> (power - PER_POWER_BITS)) & (PER_POWER - 1);

	return EXACT + (power - EXACT_BITS) * PER_POWER + part;
}

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
		return of_magnitude((uint64_t)number);
	return -of_magnitude(-(uint64_t)number);
}

static void magnitudes(uint32_t bucket, uint64_t *low, uint64_t *high)
{
	if (bucket < EXACT) {
		*low = *high = bucket;
		return;
	}
	uint32_t power = (bucket - EXACT) / PER_POWER + EXACT_BITS, part = (bucket - EXACT) % PER_POWER;
	uint64_t width = UINT64_C(1) << (power - PER_POWER_BITS);

	*low = (UINT64_C(1) << power) + part * width;
	*high = *low + (width - 1);
}

static struct program_value negative(uint64_t magnitude)
{
	uint64_t least = UINT64_C(1) << 63;

	return (struct program_value){ .kind = PROGRAM_I64, .u64 = -(magnitude < least ? magnitude : least) };
}

struct aggregate_range aggregate_range(int32_t bucket)
{
	uint64_t low, high;

	magnitudes((uint32_t)(bucket < 0 ? -bucket : bucket), &low, &high);
	if (bucket < 0)
		return (struct aggregate_range){ negative(high), negative(low) };
	return (struct aggregate_range){ { .kind = PROGRAM_U64, .u64 = low }, { .kind = PROGRAM_U64, .u64 = high } };
}

const char *const aggregate_quantile_names[AGGREGATE_QUANTILES] = { "0.5", "0.9", "0.99", "0.999", "max" };

/* How many of count values are at most the quantile, at least one: the share of them, rounded up. */
static uint64_t rank(uint64_t count, int quantile)
{
	static const uint64_t thousandths[AGGREGATE_QUANTILES] = { 500, 900, 990, 999, 1000 };
	uint64_t missing = 1000 - thousandths[quantile];

	return count - (count / 1000 * missing + count % 1000 * missing / 1000);
}

bool aggregate_quantile(const struct aggregate_cell *cell, int quantile, struct program_value *value)
{
	uint64_t wanted = rank(cell->count, quantile), seen = 0;

	for (uint32_t i = 0; i < cell->buckets.count; i++) {
		seen += cell->buckets.counts[i];
		if (seen && seen >= wanted) {
			*value = aggregate_range(cell->buckets.first + (int32_t)i).high;
			return true;
		}
	}
	return false;
}
