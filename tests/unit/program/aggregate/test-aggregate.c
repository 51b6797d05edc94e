// SPDX-License-Identifier: BSD-2-Clause
/* Buckets hold what they say, without a gap, and quantiles are theirs. */

#include "program/aggregate/aggregate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static int32_t bucket_of(int64_t number)
{
	return aggregate_bucket(&(struct program_value){ .kind = PROGRAM_I64, .i64 = number });
}

static int32_t bucket_of_large(uint64_t number)
{
	return aggregate_bucket(&(struct program_value){ .kind = PROGRAM_U64, .u64 = number });
}

static int32_t bucket_of_real(double number)
{
	return aggregate_bucket(&(struct program_value){ .kind = PROGRAM_F64, .f64 = number });
}

static void assert_range(int32_t bucket, int64_t low, int64_t high)
{
	struct aggregate_range range = aggregate_range(bucket);

	assert_int_equal(range.low.i64, low);
	assert_int_equal(range.high.i64, high);
}

static void small_values_are_exact(void **context)
{
	(void)context;
	for (int64_t i = -15; i < 16; i++)
		assert_range(bucket_of(i), i, i);
	assert_range(bucket_of(16), 16, 17);
	assert_range(bucket_of(17), 16, 17);
	assert_range(bucket_of(31), 30, 31);
	assert_range(bucket_of(32), 32, 35);
	assert_range(bucket_of(-17), -17, -16);
	assert_range(bucket_of(1000), 960, 1023);
}

static void buckets_leave_no_gap(void **context)
{
	uint64_t next = 0;

	(void)context;
	for (int32_t bucket = 0; bucket < AGGREGATE_BUCKETS; bucket++) {
		struct aggregate_range range = aggregate_range(bucket);

		assert_int_equal(range.low.u64, next);
		assert_int_equal(bucket_of_large(range.low.u64), bucket);
		assert_int_equal(bucket_of_large(range.high.u64), bucket);
		next = range.high.u64 + 1;
	}
	assert_int_equal(next, 0); /* the last one ends with the largest number */
}

static void extremes_have_buckets(void **context)
{
	(void)context;
	assert_range(bucket_of(INT64_MIN), INT64_MIN, INT64_MIN);
	assert_range(bucket_of(INT64_MAX), INT64_MAX - (INT64_MAX >> 4), INT64_MAX);
	assert_int_equal(bucket_of_large(UINT64_MAX), AGGREGATE_BUCKETS - 1);
	assert_int_equal(bucket_of_real(1e300), bucket_of(INT64_MAX));
	assert_int_equal(bucket_of_real(-1e300), bucket_of(INT64_MIN));
	assert_int_equal(bucket_of_real(-0.9), 0);
	assert_int_equal(bucket_of_real(__builtin_nan("")), 0);
}

static void assert_quantile(const struct aggregate_cell *cell, int quantile, int64_t wanted)
{
	struct program_value value;

	assert_true(aggregate_quantile(cell, quantile, &value));
	assert_int_equal(value.i64, wanted);
}

static void quantiles_are_upper_bounds(void **context)
{
	uint64_t counts[] = { 500, 0, 400, 90, 9, 1 }, one[] = { 1 };
	struct aggregate_cell cell = { .count = 1000, .buckets = { 14, 6, counts } };
	struct aggregate_cell single = { .count = 1, .buckets = { -16, 1, one } }, none = { 0 };
	struct program_value value;

	(void)context;
	assert_quantile(&cell, 0, 14);
	assert_quantile(&cell, 1, 17);
	assert_quantile(&cell, 2, 19);
	assert_quantile(&cell, 3, 21);
	assert_quantile(&cell, 4, 23);
	for (int i = 0; i < AGGREGATE_QUANTILES; i++)
		assert_quantile(&single, i, -16);
	assert_false(aggregate_quantile(&none, 0, &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(buckets_leave_no_gap),
		cmocka_unit_test(extremes_have_buckets),
		cmocka_unit_test(quantiles_are_upper_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
